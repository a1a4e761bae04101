import { z } from "zod";
import { immutable, object, rules } from "../schema/fields.ts";
import { defineResource } from "../schema/resource.ts";
import { dnsSubdomain } from "../schema/syntax.ts";
import { conditions } from "./condition.ts";
import { controlPlaneEndpoint, defineTemplate, providerKind } from "./provider-kind.ts";
import { shootTemplate } from "./shoot-template.ts";

const shootReference = object({
  name: dnsSubdomain().describe("Name of the Shoot, in the project that the namespace may use."),
});

const version = z
  .string()
  .meta({
    maxLength: 63,
    ...rules({
      rule: "self.matches('^v(0|[1-9][0-9]*)[.](0|[1-9][0-9]*)[.](0|[1-9][0-9]*)$')",
      messageExpression: "'write a full version with a leading v, such as v1.34.4, instead of ' + self",
    }),
  })
  .describe("Version of Kubernetes, with a leading v, such as v1.34.4.");

/** What of a control plane a template says, too. */
const lasting = {
  workerless: z
    .boolean()
    .meta({ default: false, ...immutable() })
    .optional()
    .describe("Workerless says that the Shoot has no machines. Otherwise it is made with its first MachinePool."),
  endpointFrom: z
    .enum(["ControlPlane", "Infrastructure"])
    .optional()
    .describe(
      "EndpointFrom says what brings the endpoint. ControlPlane: the Shoot's own, as soon as it has one. Infrastructure: the Shoot is made once the Cluster has an endpoint, with the domain of its ShootCluster.",
    ),
  deletionPolicy: z
    .enum(["Delete", "Orphan"])
    .optional()
    .describe(
      "DeletionPolicy says what becomes of the Shoot when the Cluster is deleted: Delete, or Orphan. Without it, an adopted Shoot stays, and one that was made goes.",
    ),
};

const controlPlaneSpec = object({
  shootTemplate: shootTemplate.optional().describe("ShootTemplate is what the Shoot is made from."),
  shootRef: shootReference
    .optional()
    .describe("ShootRef names a Shoot that exists, to be adopted. What no object of Cluster API names stays as it is."),
  version: version.optional(),
  ...lasting,
  controlPlaneEndpoint: controlPlaneEndpoint
    .optional()
    .describe("ControlPlaneEndpoint is where the Shoot's API server answers. The controller writes it."),
}).meta(
  rules(
    {
      rule: "has(self.shootTemplate) != has(self.shootRef)",
      message: "say either shootTemplate, to make a Shoot, or shootRef, to adopt one",
    },
    {
      rule: "has(oldSelf.shootRef) ? has(self.shootRef) && self.shootRef.name == oldSelf.shootRef.name : !has(self.shootRef)",
      message: "cannot be changed: create another Cluster for another Shoot",
      fieldPath: ".shootRef",
    },
    {
      rule: "!has(self.shootRef) || !has(self.endpointFrom) || self.endpointFrom != 'Infrastructure'",
      message: "cannot be Infrastructure: a Shoot that is adopted has a domain of its own",
      fieldPath: ".endpointFrom",
    },
    {
      rule: "has(self.endpointFrom) == has(oldSelf.endpointFrom) && (!has(self.endpointFrom) || self.endpointFrom == oldSelf.endpointFrom)",
      message: "cannot be changed: a Shoot keeps its domain",
      fieldPath: ".endpointFrom",
    },
    {
      rule: "has(self.workerless) == has(oldSelf.workerless)",
      message: "cannot be changed: a Shoot with machines is another one than a Shoot without",
      fieldPath: ".workerless",
    },
  ),
);

const shootStatus = object({
  namespace: z.string().describe("Namespace of the Shoot in the garden."),
  name: z.string().describe("Name of the Shoot."),
  uid: z.string().optional().describe("UID of the Shoot."),
});

const controlPlaneStatus = object({
  initialization: object({
    controlPlaneInitialized: z
      .boolean()
      .optional()
      .describe("ControlPlaneInitialized says that the API server has answered, once."),
  })
    .optional()
    .describe("Initialization is what has been reached once, and stays."),
  versions: z
    .array(object({ version: z.string().describe("Version with a leading v.") }))
    .meta({ maxItems: 10 })
    .optional()
    .describe("Versions that API servers run, the oldest first."),
  externalManagedControlPlane: z
    .boolean()
    .optional()
    .describe("ExternalManagedControlPlane says that no Node runs the control plane."),
  shoot: shootStatus.optional().describe("Shoot is the one that stands for the control plane."),
  conditions: conditions
    .optional()
    .describe(
      "Conditions: Available, ShootSynced, EndpointPublished, KubeconfigPublished, RollingOut, Deleting and Paused.",
    ),
  observedGeneration: z
    .int()
    .optional()
    .describe("ObservedGeneration is the generation that the controller has acted on last."),
});

/** A Cluster's control plane that is a Shoot's: made from a template, or adopted. */
export const ShootControlPlane = defineResource({
  ...providerKind("controlplane"),
  kind: "ShootControlPlane",
  plural: "shootcontrolplanes",
  shortNames: ["scp"],
  description: "A Cluster's control plane that is a Shoot's: made from a template, or adopted.",
  content: { spec: controlPlaneSpec, status: controlPlaneStatus.optional() },
  columns: [
    { name: "Cluster", path: ".metadata.labels.cluster\\.x-k8s\\.io/cluster-name" },
    { name: "Shoot", path: ".status.shoot.name" },
    { name: "Initialized", path: ".status.initialization.controlPlaneInitialized", type: "boolean" },
    { name: "Available", path: '.status.conditions[?(@.type=="Available")].status' },
    { name: "Version", path: ".spec.version" },
    { name: "Host", path: ".spec.controlPlaneEndpoint.host", priority: 1 },
  ],
});

/** A Cluster's control plane that is a Shoot's: made from a template, or adopted. */
export type ShootControlPlane = z.infer<typeof ShootControlPlane.schema>;

/** What the control planes of a ClusterClass are made from; the topology says the version. */
export const ShootControlPlaneTemplate = defineTemplate({
  provider: "controlplane",
  kind: "ShootControlPlaneTemplate",
  plural: "shootcontrolplanetemplates",
  spec: object({
    shootTemplate: shootTemplate.describe("ShootTemplate is what the Shoot is made from."),
    ...lasting,
  }),
});

/** What the control planes of a ClusterClass are made from. */
export type ShootControlPlaneTemplate = z.infer<typeof ShootControlPlaneTemplate.schema>;
