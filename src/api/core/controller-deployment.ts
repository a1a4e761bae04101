import { z } from "zod";
import { defineResource } from "../schema/resource.ts";
import { object, raw } from "../schema/fields.ts";

const controllerDeployment = object({
  type: z.string().optional().describe("Type is the deployment type."),
  providerConfig: raw().optional().describe("ProviderConfig contains type-specific configuration."),
  injectGardenKubeconfig: z
    .boolean()
    .optional()
    .describe(
      "InjectGardenKubeconfig controls whether a kubeconfig to the garden cluster should be injected into workload resources.",
    ),
});

/** How an extension controller is deployed. */
export const ControllerDeployment = defineResource({
  group: "core.gardener.cloud",
  version: "v1beta1",
  alsoServed: ["v1"],
  kind: "ControllerDeployment",
  plural: "controllerdeployments",
  shortNames: ["ctrldeploy"],
  categories: ["all"],
  scope: "Cluster",
  description: "How an extension controller is deployed.",
  content: { ...controllerDeployment.shape },
});

/** How an extension controller is deployed. */
export type ControllerDeployment = z.infer<typeof ControllerDeployment.schema>;
