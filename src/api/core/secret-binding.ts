import { z } from "zod";
import { objectReference, secretReference } from "../schema/references.ts";
import { quotasStay } from "./quotas-stay.ts";
import { defineResource } from "../schema/resource.ts";
import { immutable, object, onceSet } from "../schema/fields.ts";

const secretBindingProvider = object({
  type: z.string().describe("Type is the type of the provider."),
}).meta(onceSet("type"));

const secretBinding = object({
  secretRef: secretReference
    .meta(immutable())
    .describe("SecretRef is a reference to a secret object in the same or another namespace."),
  quotas: z
    .array(objectReference)
    .meta({ maxItems: 20 })
    .optional()
    .describe("Quotas is a list of references to Quota objects in the same or another namespace."),
  provider: secretBindingProvider.optional().describe("Provider defines the provider type of the SecretBinding."),
});

/** Lets the Shoots of a namespace use the provider credentials in a Secret. */
export const SecretBinding = defineResource({
  group: "core.gardener.cloud",
  version: "v1beta1",
  kind: "SecretBinding",
  plural: "secretbindings",
  shortNames: ["sb"],
  scope: "Namespaced",
  description: "Lets the Shoots of a namespace use the provider credentials in a Secret.",
  content: { ...secretBinding.shape },
  rules: [
    quotasStay,
    { rule: "!has(oldSelf.provider) || has(self.provider)", message: "provider cannot be changed once it is set" },
  ],
  columns: [
    { name: "Provider", path: ".provider.type" },
    { name: "Secret", path: ".secretRef.name" },
  ],
});

/** Lets the Shoots of a namespace use the provider credentials in a Secret. */
export type SecretBinding = z.infer<typeof SecretBinding.schema>;
