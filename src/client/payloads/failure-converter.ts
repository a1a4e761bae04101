import { DefaultFailureConverter } from "@temporalio/common/lib/converter/failure-converter.js";

/** Puts messages and stacks of failures into a payload, so that they are encrypted too. The SDK loads this file by its path. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
