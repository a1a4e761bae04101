import { z } from "zod";
import { object, raw } from "../schema/fields.ts";
import { dnsLabel } from "../schema/syntax.ts";

/** Extension contains type and provider information for extensions. */
export const extensionReference = object({
  type: dnsLabel().describe("Type is the type of the extension resource."),
  providerConfig: raw().optional().describe("ProviderConfig is the configuration passed to extension resource."),
  disabled: z
    .boolean()
    .optional()
    .describe(
      "Disabled allows to disable extensions that were marked as 'automatically enabled' by Gardener administrators.",
    ),
});
