import { z } from "zod";
import { conditions, lastError, lastOperation } from "../schema/meta.ts";
import { namedResourceReference } from "../schema/references.ts";
import { immutable, openEnum, object, raw } from "../schema/fields.ts";
import { leadership } from "./leadership.ts";

/** DefaultSpec contains common status fields for every extension resource. */
export const defaultSpec = object({
  type: z.string().meta(immutable()).describe("Type contains the instance of the resource's kind."),
  class: openEnum("garden", "seed", "shoot")
    .meta(immutable())
    .optional()
    .describe("Class holds the extension class used to control the responsibility for multiple provider extensions."),
  leadership: leadership
    .optional()
    .describe("The seed that may act on this object (GEP-1); without it, every controller of its type may."),
  providerConfig: raw().optional().describe("ProviderConfig is the provider specific configuration."),
});

/** DefaultStatus contains common status fields for every extension resource. */
export const defaultStatus = object({
  providerStatus: raw().optional().describe("ProviderStatus contains provider-specific status."),
  conditions: conditions
    .optional()
    .describe("Conditions represents the latest available observations of a Seed's current state."),
  lastError: lastError
    .optional()
    .describe("LastError holds information about the last occurred error during an operation."),
  lastOperation: lastOperation
    .optional()
    .describe("LastOperation holds information about the last operation on the resource."),
  observedGeneration: z
    .int()
    .optional()
    .describe("ObservedGeneration is the most recent generation observed for this resource."),
  state: raw().optional().describe("State can be filled by the operating controller with what ever data it needs."),
  resources: z
    .array(namedResourceReference)
    .optional()
    .describe(
      "Resources holds a list of named resource references that can be referred to in the state by their names.",
    ),
});
