import { z } from "zod";
import { conditions, lastError, lastOperation } from "../schema/meta.ts";
import { object, onceSet, raw, timestamp } from "../schema/fields.ts";
import { gardener } from "./availability.ts";
import { shootCredentials } from "./credentials.ts";

const shootAdvertisedAddress = object({
  name: z.string().describe("Name of the advertised address. e.g. external"),
  url: z.string().describe("The URL of the API Server. e.g. https://api.foo.bar or https://1.2.3.4"),
  application: z.string().optional().describe("Application is the name of the application this address belongs to."),
});

const lastMaintenance = object({
  description: z
    .string()
    .describe("A human-readable message containing details about the operations performed in the last maintenance."),
  triggeredTime: timestamp().describe("TriggeredTime is the time when maintenance was triggered."),
  state: z.string().describe("Status of the last maintenance operation, one of Processing, Succeeded, Error."),
  failureReason: z
    .string()
    .optional()
    .describe("FailureReason holds the information about the last maintenance operation failure reason."),
});

const networkingStatus = object({
  pods: z.array(z.string()).optional().describe("Pods are the CIDRs of the pod network."),
  nodes: z.array(z.string()).optional().describe("Nodes are the CIDRs of the node network."),
  services: z.array(z.string()).optional().describe("Services are the CIDRs of the service network."),
  egressCIDRs: z
    .array(z.string())
    .optional()
    .describe(
      "EgressCIDRs is a list of CIDRs used by the shoot as the source IP for egress traffic as reported by the used Infrastructure extension controller.",
    ),
});

const leadership = object({
  record: z.string().describe("Name of the TXT record that says which Seed leads."),
  seed: z.string().describe("The Seed that leads."),
  epoch: z.int().min(1).describe("Number of the leader in the Shoot's history: it grows with each change."),
  leaseSeconds: z.int().min(1).describe("How long, in seconds, an observation of the record holds."),
  previousSeed: z.string().optional().describe("The Seed that led before."),
  since: timestamp()
    .optional()
    .describe("When all of the zone's servers named this leader: the previous one's leases end two leases later."),
  leaving: z
    .int()
    .optional()
    .describe(
      "The epoch that a migration has begun to end: while it is the epoch still, the migration can be given up.",
    ),
  takeover: z.boolean().optional().describe("The previous leader was not asked: it did not answer."),
});

const takeover = object({
  by: z.string().describe("Who approved the takeover."),
  reason: z.string().describe("Why, in the words of who approved it."),
  at: timestamp().describe("When it was approved."),
  sourceIsOff: z.boolean().optional().describe("Who approved it says that the previous Seed is switched off."),
});

/** ShootStatus holds the most recently observed status of the Shoot cluster. */
export const shootStatus = object({
  conditions: conditions
    .optional()
    .describe("Conditions represents the latest available observations of a Shoots's current state."),
  constraints: conditions
    .optional()
    .describe("Constraints represents conditions of a Shoot's current state that constraint some operations on it."),
  gardener: gardener
    .optional()
    .describe("Gardener holds information about the Gardener which last acted on the Shoot."),
  hibernated: z.boolean().optional().describe("IsHibernated indicates whether the Shoot is currently hibernated."),
  lastOperation: lastOperation
    .optional()
    .describe("LastOperation holds information about the last operation on the Shoot."),
  lastErrors: z
    .array(lastError)
    .optional()
    .describe("LastErrors holds information about the last occurred error(s) during an operation."),
  observedGeneration: z
    .int()
    .optional()
    .describe("ObservedGeneration is the most recent generation observed for this Shoot."),
  retryCycleStartTime: timestamp()
    .optional()
    .describe(
      "RetryCycleStartTime is the start time of the last retry cycle (used to determine how often an operation must be retried until we give up).",
    ),
  seedName: z
    .string()
    .optional()
    .describe("SeedName is the name of the seed cluster that runs the control plane of the Shoot."),
  seeds: z
    .array(z.string())
    .optional()
    .describe(
      "Seeds that may hold parts of the control plane and must be cleaned up before they are forgotten (GEP-1).",
    ),
  leadership: leadership
    .optional()
    .describe("Which Seed may act for the Shoot, as its leadership record says (GEP-1, with an epoch)."),
  managesResources: z
    .boolean()
    .optional()
    .describe(
      "Whether there is a resource manager beside the control plane: one that nothing asks for any more stays until nothing is left that it manages.",
    ),
  addressTTLSeconds: z
    .int()
    .optional()
    .describe(
      "How long, in seconds, resolvers may remember the API server's address: a migration waits as long after it has shortened that.",
    ),
  takeover: takeover.optional().describe("The latest approval to move the Shoot without its previous Seed."),
  technicalID: z.string().optional().describe("TechnicalID is a unique technical ID for this Shoot."),
  uid: z
    .string()
    .optional()
    .describe("UID is a unique identifier for the Shoot cluster to avoid portability between Kubernetes clusters."),
  clusterIdentity: z.string().optional().describe("ClusterIdentity is the identity of the Shoot cluster."),
  advertisedAddresses: z
    .array(shootAdvertisedAddress)
    .optional()
    .describe("List of addresses that are relevant to the shoot."),
  migrationStartTime: timestamp()
    .optional()
    .describe("MigrationStartTime is the time when a migration to a different seed was initiated."),
  credentials: shootCredentials.optional().describe("Credentials contains information about the shoot credentials."),
  lastHibernationTriggerTime: timestamp()
    .optional()
    .describe(
      "LastHibernationTriggerTime indicates the last time when the hibernation controller managed to change the hibernation settings of the cluster",
    ),
  lastMaintenance: lastMaintenance
    .optional()
    .describe("LastMaintenance holds information about the last maintenance operations on the Shoot."),
  networking: networkingStatus
    .optional()
    .describe("Networking contains information about cluster networking such as CIDRs."),
  inPlaceUpdates: raw()
    .optional()
    .describe("InPlaceUpdates contains information about in-place updates for the Shoot workers."),
  manualWorkerPoolRollout: raw()
    .optional()
    .describe("ManualWorkerPoolRollout contains information about the worker pool rollout progress."),
  liveMigration: raw()
    .optional()
    .describe("LiveMigration contains information about an ongoing live control plane migration of the Shoot."),
}).meta(onceSet("uid", "technicalID", "clusterIdentity"));
