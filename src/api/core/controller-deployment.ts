import { z } from "zod";
import { defineResource } from "../schema/resource.ts";
import { bytes, object, raw, rules } from "../schema/fields.ts";

const secretName = object({ name: z.string().min(1).describe("Name is the name of a Secret in namespace 'garden'.") });

/** Where a chart is in a registry. */
export const ociRepository = object({
  ref: z.string().optional().describe("Ref is the full reference of the artifact, with a tag or a digest."),
  repository: z.string().optional().describe("Repository is where the artifact is, without tag and digest."),
  tag: z.string().optional().describe("Tag is the artifact's tag."),
  digest: z.string().optional().describe("Digest is the artifact's digest; it has to be what is delivered."),
  pullSecretRef: secretName
    .optional()
    .describe("PullSecretRef names a Secret of type 'kubernetes.io/dockerconfigjson' with the registry's credentials."),
  caBundleSecretRef: secretName
    .optional()
    .describe(
      "CABundleSecretRef names a Secret whose field 'bundle.crt' holds the authorities that sign the registry's certificate.",
    ),
});

const helm = object({
  rawChart: bytes().max(1_500_000).optional().describe("RawChart is a packaged Helm chart (tar, gzip)."),
  values: raw().optional().describe("Values are the chart's values."),
  ociRepository: ociRepository.optional().describe("OCIRepository says where the chart is kept as an OCI artifact."),
}).meta(
  rules({
    rule: "!(has(self.rawChart) && has(self.ociRepository))",
    message: "say either rawChart or ociRepository, not both",
  }),
);

const controllerDeployment = object({
  helm: helm.optional().describe("Helm says how the controller is deployed by a Helm chart."),
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
