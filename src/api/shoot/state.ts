import { z } from "zod";
import { namedResourceReference, resourceData } from "../schema/references.ts";
import { defineResource } from "../schema/resource.ts";
import { object, raw } from "../schema/fields.ts";

const gardenerResourceData = object({
  name: z.string().describe("Name of the object required to generate resources"),
  type: z.string().describe("Type of the object"),
  data: raw().describe("Data contains the payload required to generate resources"),
  labels: z.record(z.string(), z.string()).optional().describe("Labels are labels of the object"),
});

const extensionResourceState = object({
  kind: z.string().describe("Kind (type) of the extension custom resource"),
  name: z.string().optional().describe("Name of the extension custom resource"),
  purpose: z.string().optional().describe("Purpose of the extension custom resource"),
  state: raw().optional().describe("State of the extension resource"),
  resources: z
    .array(namedResourceReference)
    .optional()
    .describe(
      "Resources holds a list of named resource references that can be referred to in the state by their names.",
    ),
});

const shootStateSpec = object({
  gardener: z
    .array(gardenerResourceData)
    .optional()
    .describe("Gardener holds the data required to generate resources deployed by the gardenlet"),
  extensions: z
    .array(extensionResourceState)
    .optional()
    .describe("Extensions holds the state of custom resources reconciled by extension controllers in the seed"),
  resources: z
    .array(resourceData)
    .optional()
    .describe("Resources holds the data of resources referred to by extension controller states"),
});

/** What is needed to bring a Shoot's control plane back on another Seed. */
export const ShootState = defineResource({
  group: "core.gardener.cloud",
  version: "v1beta1",
  kind: "ShootState",
  plural: "shootstates",
  categories: ["all"],
  scope: "Namespaced",
  description: "What is needed to bring a Shoot's control plane back on another Seed.",
  content: { spec: shootStateSpec.optional() },
});

/** What is needed to bring a Shoot's control plane back on another Seed. */
export type ShootState = z.infer<typeof ShootState.schema>;
