import * as z from "zod";
import { declare } from "./variable.ts";

/** A JSON object of JSON objects of texts. */
const handlers = z
  .string()
  .default("{}")
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({ code: "custom", message: "has to be JSON" });
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), z.record(z.string(), z.string())));

/** What a seed's worker is told of ExposureClasses. */
export const exposureVariables = declare({
  PERENNIAL_EXPOSURE_HANDLERS: {
    setting: "exposureHandlers",
    meaning:
      "What ExposureClasses mean in the seed: a JSON object with, for each handler, the annotations of the Services of API servers. A Shoot whose class has another handler is not reconciled.",
    schema: handlers,
    readBy: ["seed worker"],
    passedOn: true,
  },
});
