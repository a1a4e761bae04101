import { z } from "zod";
import { accessRestriction } from "./access-restriction.ts";
import { backup } from "./backup.ts";
import { extensionReference } from "./extension-reference.ts";
import { conditions, lastOperation } from "../schema/meta.ts";
import { namedResourceReference } from "../schema/references.ts";
import { object, onceSet, raw, rules, timestamp } from "../schema/fields.ts";
import { domain, quantity } from "../schema/syntax.ts";
import { seedDNS, seedNetworks } from "../placement/networks.ts";
import { gardener } from "../shoot/availability.ts";
import { stateKey } from "./state-key.ts";

const seedProvider = object({
  type: z.string().describe("Type is the name of the provider."),
  providerConfig: raw().optional().describe("ProviderConfig is the configuration passed to Seed resource."),
  region: z.string().describe("Region is a name of a region."),
  zones: z
    .array(z.string())
    .optional()
    .describe("Zones is the list of availability zones the seed cluster is deployed to."),
});

const seedTaint = object({
  key: z.string().describe("Key is the taint key to be applied to a seed."),
  value: z.string().optional().describe("Value is the taint value corresponding to the taint key."),
});

const seedVolumeProvider = object({
  purpose: z.string().describe("Purpose is the purpose of this provider."),
  name: z.string().describe("Name is the name of the storage class provisioner type."),
});

const seedVolume = object({
  minimumSize: quantity()
    .optional()
    .describe("MinimumSize defines the minimum size that should be used for PVCs in the seed."),
  providers: z
    .array(seedVolumeProvider)
    .optional()
    .describe("Providers is a list of storage class provisioner types for the seed."),
});

const seedSettingScheduling = object({
  visible: z
    .boolean()
    .describe("Visible controls whether the gardener-scheduler shall consider this seed when scheduling shoots."),
});

const seedSettingZoneSelection = object({
  mode: z
    .string()
    .describe(
      "Mode controls the zone selection behavior. 'Prefer' tries to match worker pool zones to seed zones, falling back to random selection on mismatch. 'Enforce' requires worker pool zones to be present in the seed's zone list; scheduling fails otherwise.",
    ),
});

const seedSettings = object({
  excessCapacityReservation: raw()
    .optional()
    .describe(
      "ExcessCapacityReservation controls the excess capacity reservation for shoot control planes in the seed.",
    ),
  scheduling: seedSettingScheduling
    .meta({ default: { visible: true } })
    .optional()
    .describe("Scheduling controls settings for scheduling decisions for the seed."),
  loadBalancerServices: raw()
    .optional()
    .describe(
      "LoadBalancerServices controls certain settings for services of type load balancer that are created in the seed.",
    ),
  verticalPodAutoscaler: raw()
    .optional()
    .describe(
      "VerticalPodAutoscaler controls certain settings for the vertical pod autoscaler components deployed in the seed.",
    ),
  dependencyWatchdog: raw()
    .optional()
    .describe(
      "DependencyWatchdog controls certain settings for the dependency-watchdog components deployed in the seed.",
    ),
  topologyAwareRouting: raw()
    .optional()
    .describe("TopologyAwareRouting controls certain settings for topology-aware traffic routing in the seed."),
  zoneSelection: seedSettingZoneSelection
    .optional()
    .describe(
      "ZoneSelection controls whether shoot control plane zone placement is derived from the shoot's worker pool zones rather than randomly selected from seed zones.",
    ),
  persistentVolumeClaimAutoscaler: raw()
    .optional()
    .describe(
      "PersistentVolumeClaimAutoscaler controls certain settings for the persistent volume claim autoscaler components deployed in the seed.",
    ),
});

const ingressController = object({
  kind: z.string().describe("Kind defines which kind of IngressController to use."),
  providerConfig: raw()
    .optional()
    .describe("ProviderConfig specifies infrastructure specific configuration for the ingressController"),
});

const ingress = object({
  domain: domain().describe(
    "Domain specifies the IngressDomain of the cluster pointing to the ingress controller endpoint.",
  ),
  controller: ingressController.describe(
    "Controller configures a Gardener managed Ingress Controller listening on the ingressDomain",
  ),
}).meta(onceSet("domain"));

/** SeedSpec is the specification of a Seed. */
export const seedSpec = object({
  backup: backup
    .optional()
    .describe("Backup holds the object store configuration for the backups of shoot (currently only etcd)."),
  dns: seedDNS.describe("DNS contains DNS-relevant information about this seed cluster."),
  networks: seedNetworks.describe("Networks defines the pod, service and worker network of the Seed cluster."),
  provider: seedProvider.describe("Provider defines the provider type and region for this Seed cluster."),
  taints: z.array(seedTaint).optional().describe("Taints describes taints on the seed."),
  volume: seedVolume.optional().describe("Volume contains settings for persistentvolumes created in the seed cluster."),
  settings: seedSettings
    .meta({ default: {} })
    .optional()
    .describe("Settings contains certain settings for this seed cluster."),
  ingress: ingress.optional().describe("Ingress configures Ingress specific settings of the Seed cluster."),
  accessRestrictions: z
    .array(accessRestriction)
    .optional()
    .describe("AccessRestrictions describe a list of access restrictions for this seed cluster."),
  extensions: z
    .array(extensionReference)
    .optional()
    .describe("Extensions contain type and provider information for Seed extensions."),
  resources: z
    .array(namedResourceReference)
    .optional()
    .describe(
      "Resources holds a list of named resource references that can be referred to in extension configs by their names.",
    ),
}).meta(
  rules({
    rule: "!has(oldSelf.backup) || has(self.backup)",
    message: "backup cannot be removed",
    fieldPath: ".backup",
  }),
);

/** SeedStatus is the status of a Seed. */
export const seedStatus = object({
  gardener: gardener
    .optional()
    .describe("Gardener holds information about the Gardener which last acted on the Shoot."),
  kubernetesVersion: z.string().optional().describe("KubernetesVersion is the Kubernetes version of the seed cluster."),
  conditions: conditions
    .optional()
    .describe("Conditions represents the latest available observations of a Seed's current state."),
  observedGeneration: z
    .int()
    .optional()
    .describe("ObservedGeneration is the most recent generation observed for this Seed."),
  clusterIdentity: z.string().optional().describe("ClusterIdentity is the identity of the Seed cluster."),
  capacity: z.record(z.string(), quantity()).optional().describe("Capacity represents the total resources of a seed."),
  allocatable: z
    .record(z.string(), quantity())
    .optional()
    .describe("Allocatable represents the resources of a seed that are available for scheduling."),
  clientCertificateExpirationTimestamp: timestamp()
    .optional()
    .describe("ClientCertificateExpirationTimestamp is the timestamp at which gardenlet's client certificate expires."),
  lastOperation: lastOperation
    .optional()
    .describe("LastOperation holds information about the last operation on the Seed."),
  stateKey: stateKey
    .optional()
    .describe("StateKey is the public key for which the data keys of Shoots that go to this Seed are wrapped."),
}).meta(onceSet("clusterIdentity"));
