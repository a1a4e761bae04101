import { z } from "zod";
import { conditions } from "../schema/meta.ts";
import { ipBlock, loadBalancerIngress } from "../schema/references.ts";
import { defineResource } from "../schema/resource.ts";
import { immutable, object, onceSet, timestamp } from "../schema/fields.ts";
import { dnsSubdomain, line } from "../schema/syntax.ts";

const ingressPolicy = object({
  ipBlock: ipBlock.describe("IPBlock defines an IP block that is allowed to access the bastion."),
});

const shootReference = object({
  name: dnsSubdomain().meta(immutable()).describe("Name of the Shoot, in the same namespace."),
});

const bastionSpec = object({
  shootRef: shootReference.describe("ShootRef defines the target shoot for a Bastion."),
  seedName: z
    .string()
    .optional()
    .describe("SeedName is the name of the seed to which this Bastion is currently scheduled; admission fills it in."),
  providerType: z
    .string()
    .optional()
    .describe("ProviderType is cloud provider used by the referenced Shoot; admission fills it in."),
  sshPublicKey: line(16_384).meta(immutable()).describe("SSHPublicKey is the user's public key."),
  ingress: z
    .array(ingressPolicy)
    .meta({ minItems: 1, maxItems: 100 })
    .describe("Ingress controls from where the created bastion host should be reachable."),
}).meta(onceSet("seedName", "providerType"));

const bastionStatus = object({
  ingress: loadBalancerIngress
    .optional()
    .describe("Ingress holds the public IP and/or hostname of the bastion instance."),
  conditions: conditions
    .optional()
    .describe("Conditions represents the latest available observations of a Bastion's current state."),
  lastHeartbeatTimestamp: timestamp()
    .optional()
    .describe("LastHeartbeatTimestamp is the time when the bastion was last marked as not to be deleted."),
  expirationTimestamp: timestamp()
    .optional()
    .describe("ExpirationTimestamp is the time after which a Bastion is supposed to be garbage collected."),
  observedGeneration: z
    .int()
    .optional()
    .describe("ObservedGeneration is the most recent generation observed for this Bastion."),
});

/** Asks for a machine in front of a Shoot's machines, for people who need a shell on them. */
export const ShootBastion = defineResource({
  group: "operations.gardener.cloud",
  version: "v1alpha1",
  kind: "Bastion",
  plural: "bastions",
  scope: "Namespaced",
  description: "Asks for a machine in front of a Shoot's machines, for people who need a shell on them.",
  content: { spec: bastionSpec, status: bastionStatus.optional() },
  columns: [
    { name: "Shoot", path: ".spec.shootRef.name" },
    { name: "Seed", path: ".spec.seedName" },
    { name: "Ready", path: '.status.conditions[?(@.type=="BastionReady")].status' },
    { name: "IP", path: ".status.ingress.ip" },
    { name: "Expiration", path: ".status.expirationTimestamp" }, // kubectl shows dates as ages
  ],
});

/** Asks for a machine in front of a Shoot's machines, for people who need a shell on them. */
export type ShootBastion = z.infer<typeof ShootBastion.schema>;
