import { fileURLToPath } from "node:url";

/** We run as TypeScript from the source tree, and as JavaScript once published. */
const extension = import.meta.url.endsWith(".ts") ? ".ts" : ".js";

/** The file of our workflows, which the SDK bundles. */
export const workflowsPath = fileURLToPath(new URL(`../workflows/index${extension}`, import.meta.url));

/** The program that bundles them. */
export const bundlerPath = fileURLToPath(new URL(`./bundler${extension}`, import.meta.url));
