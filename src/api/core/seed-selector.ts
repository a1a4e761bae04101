import { z } from "zod";
import { labelSelector } from "../schema/references.ts";
import { object } from "../schema/fields.ts";

/** SeedSelector contains constraints for selecting seed to be usable for shoots using a profile */
export const seedSelector = object({
  ...labelSelector.shape,
  providerTypes: z
    .array(z.string().meta({ maxLength: 63, pattern: "^(?:[*]|[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)$" }))
    .meta({ maxItems: 50 })
    .optional()
    .describe(
      "Providers is optional and can be used by restricting seeds by their provider type. '*' can be used to enable seeds regardless of their provider type.",
    ),
});
