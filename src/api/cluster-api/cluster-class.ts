import { z } from "zod";
import { object, raw } from "../schema/fields.ts";
import { defineResource } from "../schema/resource.ts";
import { templateReference } from "./references.ts";

const patchSelector = object({
  apiVersion: z.string().describe("APIVersion is the API group and version of the template that is patched."),
  kind: z.string().describe("Kind of the template that is patched."),
  matchResources: object({
    infrastructureCluster: z
      .boolean()
      .optional()
      .describe("InfrastructureCluster selects the template of the infrastructure."),
  }).describe("MatchResources says for what the template stands in the class."),
});

const patch = object({
  name: z.string().describe("Name of the patch."),
  definitions: z
    .array(object({ selector: patchSelector.describe("Selector chooses templates.") }))
    .optional()
    .describe("Definitions are what is patched, and how."),
});

const clusterClassSpec = object({
  infrastructure: object({
    templateRef: templateReference.optional().describe("TemplateRef names the template."),
    naming: raw().optional().describe("Naming says how what is made of the template is named."),
  })
    .optional()
    .describe("Infrastructure is the template of the Clusters' infrastructure; core's schema requires it."),
  controlPlane: object({ templateRef: templateReference.describe("TemplateRef names the template.") })
    .optional()
    .describe("ControlPlane is the template of the Clusters' control planes."),
  patches: z.array(patch).optional().describe("Patches change templates for each Cluster."),
});

/** What Clusters with a topology are made of, as far as we read and write it. Its CustomResourceDefinition is Cluster API's own. */
export const ClusterClass = defineResource({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "ClusterClass",
  plural: "clusterclasses",
  scope: "Namespaced",
  description: "What Clusters with a topology are made of.",
  content: { spec: clusterClassSpec },
});

/** What Clusters with a topology are made of, as far as we read and write it. Its CustomResourceDefinition is Cluster API's own. */
export type ClusterClass = z.infer<typeof ClusterClass.schema>;
