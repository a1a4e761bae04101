import { z } from "zod";
import { object, onceSet, raw } from "../schema/fields.ts";
import { objectReference } from "../schema/references.ts";

/** Where backups are kept: of a Seed, or of a self-hosted Shoot. */
export const backup = object({
  provider: z.string().describe("Provider is a provider name. This field is immutable."),
  providerConfig: raw().optional().describe("ProviderConfig is the configuration passed to BackupBucket resource."),
  region: z.string().optional().describe("Region is a region name. This field is immutable."),
  credentialsRef: objectReference
    .optional()
    .describe(
      "CredentialsRef is reference to a resource holding the credentials used for authentication with the object store service where the backups are stored.",
    ),
}).meta(onceSet("provider", "region"));
