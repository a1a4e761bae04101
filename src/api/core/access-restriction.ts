import { z } from "zod";
import { identifier } from "../schema/syntax.ts";
import { object } from "../schema/fields.ts";

/** AccessRestriction describes an access restriction for a Kubernetes cluster (e.g., EU access-only). */
export const accessRestriction = object({
  name: identifier().describe("Name is the name of the restriction."),
});

/** AccessRestrictionWithOptions describes an access restriction for a Kubernetes cluster (e.g., EU access-only) and allows to specify additional options. */
export const accessRestrictionWithOptions = object({
  ...accessRestriction.shape,
  options: z
    .record(z.string(), z.string())
    .optional()
    .describe("Options is a map of additional options for the access restriction."),
});
