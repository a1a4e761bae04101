import { z } from "zod";
import { objectReference } from "../schema/references.ts";
import { quotasStay } from "./quotas-stay.ts";
import { defineResource } from "../schema/resource.ts";
import { immutable, object, onceSet } from "../schema/fields.ts";

const credentialsBindingProvider = object({
  type: z.string().describe("Type is the type of the provider."),
}).meta(onceSet("type"));

const credentialsBinding = object({
  provider: credentialsBindingProvider.describe("Provider defines the provider type of the CredentialsBinding."),
  credentialsRef: objectReference
    .meta(immutable())
    .describe("CredentialsRef is a reference to a resource holding the credentials."),
  quotas: z
    .array(objectReference)
    .meta({ maxItems: 20 })
    .optional()
    .describe("Quotas is a list of references to Quota objects in the same or another namespace."),
});

/** Lets the Shoots of a namespace use provider credentials: a Secret or a WorkloadIdentity. */
export const CredentialsBinding = defineResource({
  group: "security.gardener.cloud",
  version: "v1alpha1",
  kind: "CredentialsBinding",
  plural: "credentialsbindings",
  shortNames: ["cb"],
  scope: "Namespaced",
  description: "Lets the Shoots of a namespace use provider credentials: a Secret or a WorkloadIdentity.",
  content: { ...credentialsBinding.shape },
  rules: [quotasStay],
  columns: [
    { name: "Provider", path: ".provider.type" },
    { name: "Credentials", path: ".credentialsRef.name" },
  ],
});

/** Lets the Shoots of a namespace use provider credentials: a Secret or a WorkloadIdentity. */
export type CredentialsBinding = z.infer<typeof CredentialsBinding.schema>;
