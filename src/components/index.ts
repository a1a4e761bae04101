import type { Component, ComponentName, RolloutRef } from "./component.ts";
import { coredns } from "./kubernetes/coredns.ts";
import { etcd, etcdEvents } from "./etcd/etcd.ts";
import { etcdBackup } from "./etcd/backup.ts";
import { clusterIdentity } from "./kubernetes/cluster-identity.ts";
import { gardenerAccess, userAccount } from "./kubernetes/gardener-access.ts";
import { kubeApiServer } from "./kubernetes/kube-apiserver.ts";
import { kubeApiServerService } from "./kubernetes/kube-apiserver-service.ts";
import { kubeControllerManager } from "./kubernetes/kube-controller-manager.ts";
import { kubeProxy } from "./kubernetes/kube-proxy.ts";
import { clusterAutoscaler, CLUSTER_AUTOSCALER } from "./machines/cluster-autoscaler.ts";
import { kubeScheduler } from "./kubernetes/kube-scheduler.ts";
import { machineAccess } from "./machines/access.ts";
import { machineControllerManager, MACHINE_CONTROLLER_MANAGER } from "./machines/machine-controller-manager.ts";
import { networkPolicies } from "./isolation/network-policies.ts";
import { namespace } from "./namespace.ts";
import { nodeBootstrap } from "./node/node-bootstrap.ts";
import { shootResourceManager } from "./resource-manager/shoot.ts";
import { shootWebhooks } from "./resource-manager/shoot-webhooks.ts";
import { tunnelAgent } from "./tunnel/agent.ts";

export { clusterObject } from "./cluster-object.ts";
export { withGardenerDefaults } from "./gardener-defaults.ts";
export { literal } from "./command-line.ts";
export { ETCDS, etcdHealthUrl, etcdPorts, nodeUrl } from "./etcd/addresses.ts";
export { nodeConfigurationName } from "./etcd/node-configuration.ts";
export type { Component, ComponentName, RolloutRef } from "./component.ts";
export {
  imagesFor,
  PAUSE_IMAGE,
  nodeObjectName,
  poolsOf,
  seedOf,
  type ControlPlaneContext,
  type ControlPlaneNode,
  type ImageVector,
  type ManagedMachines,
  type SeedContext,
  type WorkerPool,
} from "./context.ts";
export { DEFRAG_CONTAINER, defragmentation, statusContainer } from "./etcd/check.ts";
export { copyJob } from "./etcd/backup-copy.ts";
export { BACKUP_BUNDLE } from "./etcd/backup-bundle.ts";
export {
  backupSettings,
  BUNDLE_SUFFIX,
  FINAL_SNAPSHOT,
  KEPT_SNAPSHOTS,
  LIST_CONTAINER,
  storeOf,
} from "./etcd/backup-place.ts";
export { checkJob, listJob, type SearchedPlace } from "./etcd/backup-search.ts";
export {
  LOST_REVISIONS,
  mainVolumeClaim,
  repairJob,
  restoredDirectory,
  restoreJob,
  SCHEDULE,
  snapshotJob,
} from "./etcd/backup.ts";
export { etcdClaimName } from "./etcd/etcd.ts";
export { USUAL_ETCD_DIRECTORY } from "./etcd/settings.ts";
export { etcdEvents };
export type { EtcdRole } from "./etcd/addresses.ts";
export { BUCKET_KEY, filledEnvironment, storeSecretKeys } from "./etcd/rclone.ts";
export { RESTORE_CONTAINER, VERIFY_CONTAINER } from "./etcd/step.ts";
export { warmUpJob } from "./etcd/warm-up.ts";
export {
  backupEntryObject,
  containerRuntimeObjects,
  controlPlaneObject,
  dnsRecordObject,
  dnsSecretName,
  extensionObjects,
  infrastructureObject,
  networkObject,
  type DnsProvider,
} from "./extension-objects.ts";
export { sha256 as checksumOf } from "./files.ts";
export {
  ENCRYPTION_CONFIGURATION,
  ENCRYPTION_KEY_SECRET,
  parseEncryption,
  renderEncryption,
  wantedEncryption,
  type Encryption,
} from "./kubernetes/encryption-configuration.ts";
export { userAccount };
export { apiServerNames } from "./node/api-server-names.ts";
export { imageFile, secretFile, type File } from "./node/file.ts";
export { HOST_SETTINGS, KUBELET_NODE_ADDRESS } from "./node/kubelet.ts";
export { STATIC_POD_MANIFESTS } from "./node/kubelet-config.ts";
export { nodeAgentSecret, type SecretLookup } from "./node/node-agent-secret.ts";
export { operatingSystemConfigName, operatingSystemConfigs } from "./node/operating-system-config.ts";
export { NODE_INIT } from "./node/own-program.ts";
export { nodeAgentSecretName } from "./node/pool.ts";
export { CLUSTER_INFO_PATH, clusterInfo } from "./on-nodes/cluster-info.ts";
export { apiServerRecord, EXPOSED_ADMIN, exposureObject, exposureOf, isInDns } from "./on-nodes/exposure.ts";
export { inHostNetwork } from "./on-nodes/host-phase.ts";
export { HOST_PORTS } from "./on-nodes/host-ports.ts";
export type { PodPlace } from "./on-nodes/place.ts";
export { resourceManagerOnNodes } from "./on-nodes/resource-manager.ts";
export { RESOURCE_MANAGER, RESOURCE_MANAGER_SERVER } from "./resource-manager/configuration.ts";
export { SEED_NAMESPACE, seedResourceManager } from "./resource-manager/seed.ts";
export { SHOOT_WEBHOOKS } from "./resource-manager/shoot-webhooks.ts";
export { CLUSTER_AUTOSCALER, MACHINE_CONTROLLER_MANAGER };
export { TUNNEL_AGENT, TUNNEL_SERVER, TUNNEL_SERVER_USER } from "./tunnel/names.ts";
export { tokenMountWebhook } from "./resource-manager/token-mount-webhook.ts";
export { workerObject, type WorkerInputs } from "./node/worker.ts";
export {
  externalApiServerName,
  hostOf,
  internalApiServerName,
  nameOnMachines,
  networksOf,
  urlHost,
  type ShootNetworks,
} from "./networks.ts";

const workload =
  (kind: "Deployment" | "StatefulSet" | "DaemonSet") =>
  (name: string, namespace?: string): RolloutRef => ({
    apiVersion: "apps/v1",
    kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
  });
const deployment = workload("Deployment");
const statefulSet = workload("StatefulSet");
const daemonSet = workload("DaemonSet");

/** Every part of a control plane. */
// prettier-ignore
export const components: Readonly<Record<ComponentName, Component>> = {
  "namespace":               { target: "seed", objects: namespace, rollout: [] },
  "network-policies":        { target: "seed", objects: networkPolicies, rollout: [] },
  "kube-apiserver-service":  { target: "seed", objects: kubeApiServerService, rollout: [{ apiVersion: "v1", kind: "Service", name: "kube-apiserver" }] },
  "etcd":                    { target: "seed", objects: etcd, rollout: [statefulSet("etcd-main"), statefulSet("etcd-events")] },
  "etcd-backup":             { target: "seed", objects: etcdBackup, rollout: [] },
  "kube-apiserver":          { target: "seed", objects: kubeApiServer, rollout: [deployment("kube-apiserver")] },
  "kube-controller-manager": { target: "seed", objects: kubeControllerManager, rollout: [deployment("kube-controller-manager")] },
  "kube-scheduler":          { target: "seed", objects: kubeScheduler, rollout: [deployment("kube-scheduler")] },
  "gardener-access":         { target: "shoot", objects: gardenerAccess, rollout: [] },
  "cluster-identity":        { target: "shoot", objects: clusterIdentity, rollout: [] },
  "resource-manager":        { target: "seed", objects: shootResourceManager, rollout: [deployment("gardener-resource-manager")] },
  "resource-manager-webhooks": { target: "shoot", objects: shootWebhooks, rollout: [] },
  "machine-access":          { target: "shoot", objects: machineAccess, rollout: [] },
  "machine-controller-manager": { target: "seed", objects: machineControllerManager, rollout: [deployment(MACHINE_CONTROLLER_MANAGER)] },
  "cluster-autoscaler":      { target: "seed", objects: clusterAutoscaler, rollout: [deployment(CLUSTER_AUTOSCALER)] },
  "node-bootstrap":          { target: "shoot", objects: nodeBootstrap, rollout: [] },
  "tunnel-agent":            { target: "shoot", objects: tunnelAgent, rollout: [deployment("konnectivity-agent", "kube-system")] },
  "kube-proxy":              { target: "shoot", objects: kubeProxy, rollout: [daemonSet("kube-proxy", "kube-system")] },
  "coredns":                 { target: "shoot", objects: coredns, rollout: [deployment("coredns", "kube-system")] },
};
