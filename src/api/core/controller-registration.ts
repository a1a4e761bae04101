import { z } from "zod";
import { extensionPhases } from "../extensions/lifecycle.ts";
import { labelSelector } from "../schema/references.ts";
import { defineResource } from "../schema/resource.ts";
import { listMap, object, raw, rules } from "../schema/fields.ts";
import { duration } from "../schema/syntax.ts";

const controllerResourceLifecycle = object({
  reconcile: z.enum(extensionPhases).optional().describe("Reconcile defines the strategy during reconciliation."),
  delete: z
    .enum(["BeforeKubeAPIServer", "AfterKubeAPIServer"])
    .optional()
    .describe("Delete defines the strategy during deletion."),
  migrate: z
    .enum(["BeforeKubeAPIServer", "AfterKubeAPIServer"])
    .optional()
    .describe("Migrate defines the strategy during migration."),
});

const controllerResource = object({
  kind: z.string().describe("Kind is the resource kind, for example 'OperatingSystemConfig'."),
  type: z.string().describe("Type is the resource type, for example 'coreos' or 'ubuntu'."),
  reconcileTimeout: duration()
    .optional()
    .describe("ReconcileTimeout defines how long Gardener should wait for the resource reconciliation."),
  primary: z
    .boolean()
    .meta({ default: true })
    .optional()
    .describe(
      "Primary determines if the controller backed by this ControllerRegistration is responsible for the extension resource's lifecycle.",
    ),
  lifecycle: controllerResourceLifecycle
    .optional()
    .describe(
      "Lifecycle defines a strategy that determines when different operations on a ControllerResource should be performed.",
    ),
  workerlessSupported: z
    .boolean()
    .optional()
    .describe("WorkerlessSupported specifies whether this ControllerResource supports Workerless Shoot clusters."),
  autoEnable: z
    .array(z.enum(["shoot", "seed", "garden"]))
    .optional()
    .describe("AutoEnable determines if this resource is automatically enabled for shoot or seed clusters, or both."),
  globallyEnabled: z
    .boolean()
    .optional()
    .describe(
      "GloballyEnabled is the earlier word for 'autoEnable: [shoot]': the Extension is there for every Shoot that does not disable it.",
    ),
  clusterCompatibility: z
    .array(z.enum(["shoot", "seed", "garden"]))
    .optional()
    .describe("ClusterCompatibility defines the compatibility of this resource with different cluster types."),
  continuousEndpointUpdate: z
    .boolean()
    .optional()
    .describe(
      "ContinuousEndpointUpdate indicates whether the extension requires the SelfHostedShootExposure endpoints to be continuously updated with healthy/valid control plane endpoints.",
    ),
}).meta(
  rules(
    { rule: "self.primary == oldSelf.primary", message: "primary cannot be changed", fieldPath: ".primary" },
    {
      rule: "self.kind == 'Extension' || !has(self.lifecycle) && !has(self.reconcileTimeout) && !has(self.autoEnable) && !has(self.globallyEnabled)",
      message: "lifecycle, reconcileTimeout, autoEnable and globallyEnabled are for resources of kind Extension only",
    },
  ),
);

const deploymentRef = object({
  name: z.string().describe("Name is the name of the 'ControllerDeployment' that is being referred to."),
});

const controllerRegistrationDeployment = object({
  policy: z
    .enum(["OnDemand", "Always", "AlwaysExceptNoShoots"])
    .meta({ default: "OnDemand" })
    .optional()
    .describe("Policy controls how the controller is deployed."),
  seedSelector: labelSelector.optional().describe("SeedSelector contains an optional label selector for seeds."),
  deploymentRefs: z
    .array(deploymentRef)
    .max(1)
    .optional()
    .describe("DeploymentRefs holds references to 'ControllerDeployments'."),
  type: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Type says how the controller is deployed where there are no DeploymentRefs: 'helm' by Perennial, anything else by an operator that knows the type.",
    ),
  providerConfig: raw()
    .optional()
    .describe(
      "ProviderConfig contains type-specific configuration; for type 'helm' the fields 'chart' (a packaged chart in base64) and 'values'.",
    ),
}).meta(
  rules({
    rule: "!(has(self.type) && has(self.deploymentRefs) && size(self.deploymentRefs) > 0)",
    message: "say either type or deploymentRefs, not both",
    fieldPath: ".type",
  }),
);

const controllerRegistrationSpec = object({
  resources: z
    .array(controllerResource)
    .max(64)
    .meta(listMap("kind", "type"))
    .optional()
    .describe(
      "Resources is a list of combinations of kinds (DNSProvider, Infrastructure, Generic, ...) and their actual types (aws-route53, gcp, auditlog, ...).",
    ),
  deployment: controllerRegistrationDeployment
    .optional()
    .describe("Deployment contains information for how this controller is deployed."),
}).meta(
  rules({
    rule: "!has(self.deployment) || !has(self.deployment.seedSelector) || !has(self.resources) || !self.resources.exists(r, r.primary)",
    message:
      "seedSelector is forbidden when a resource is primary, because every Seed that needs it must get its controller",
    fieldPath: ".deployment.seedSelector",
  }),
);

/** An extension controller and the kinds and types of objects that it handles. */
export const ControllerRegistration = defineResource({
  group: "core.gardener.cloud",
  version: "v1beta1",
  kind: "ControllerRegistration",
  plural: "controllerregistrations",
  shortNames: ["ctrlreg"],
  categories: ["all"],
  scope: "Cluster",
  description: "An extension controller and the kinds and types of objects that it handles.",
  content: { spec: controllerRegistrationSpec },
});

/** An extension controller and the kinds and types of objects that it handles. */
export type ControllerRegistration = z.infer<typeof ControllerRegistration.schema>;
