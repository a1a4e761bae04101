import {
  awaitNodes,
  call,
  defineShootFlow,
  deploy,
  destroy,
  inGarden,
  leasesOver,
  onSource,
  restoreObjects,
  snapshot,
  stop,
  thenCall,
} from "./actions.ts";
import {
  asleep,
  awake,
  fallsAsleep,
  hasBackup,
  hasContainerRuntimes,
  hasCredentials,
  hasExtensionsAfterApiServer,
  hasExtensionsAfterWorker,
  hasExtensionsBeforeApiServer,
  hasExternalDomain,
  hasInternalDomain,
  hasLeadership,
  hasReferences,
  hasTunnel,
  hasWorkers,
  managesMachines,
  managesNoResources,
  managesResources,
  moved,
  reachesNodes,
  sourceAnswers,
  takenOver,
  unasked,
} from "./conditions.ts";

/**
 * Brings a Shoot back in the seed that leads now: from the state that its controllers left and its etcd's last snapshot.
 * The old seed's API server serves until everything is ready for the new one. The rows are those of reconcile, with
 * `restore` where objects have a past; after a cancelled migration the seed is the old one and nothing is moved.
 */
// prettier-ignore
export const restore = defineShootFlow("Restore Shoot", {
  // All servers name the leader; then, until every look at the old record has run out, no controller acts. What still
  // writes in the old seed under the old epoch is refused
  leadership:            { do: inGarden("ensureLeadership"),                 when: [hasLeadership] },
  leases:                { do: leasesOver,                                   after: ["leadership"], when: [moved] },
  fence:                 { do: onSource(call("raiseFence")),                 when: [moved, sourceAnswers] },

  // Who takes over what the provider has built
  requiredExtensions:    { do: inGarden("awaitRequiredExtensions"),          after: ["leadership"], since: "2026-11-25" },

  // A place for the control plane, and the keys that it always had
  // What the old seed's controllers make until their leases are over is still kept; then the state is this seed's alone
  shareState:            { do: inGarden("shareState"),                       after: ["leadership", "leases"] },
  namespace:             { do: deploy("namespace"),                          after: ["leadership", "requiredExtensions"], was: { until: "2026-11-25", after: ["leadership"] } },
  leader:                { do: call("announceLeader"),                       after: ["namespace"] },
  cluster:               { do: call("syncCluster"),                          after: ["namespace"] },
  keptSecrets:           { do: call("restoreKeptSecrets"),                   after: ["namespace", "shareState"], when: [moved] },
  cloudProviderSecret:   { do: call("deployCloudProviderSecret"),            after: ["namespace"], when: [hasCredentials] },
  referencedResources:   { do: call("deployReferencedResources"),            after: ["namespace"], when: [hasReferences], since: "2026-11-26" },
  secrets:               { do: call("deploySecrets"),                        after: ["keptSecrets"] },
  apiServerService:      { do: thenCall(deploy("kube-apiserver-service"), "publishAddress"),after: ["namespace"] },
  accessSecrets:         { do: call("deploySecrets"),                        after: ["secrets", "apiServerService"] },

  // What extensions wait for of resource managers, if this seed had to stop them when the Shoot left it
  releaseManagedResources: { do: call("releaseManagedResources"),              after: ["leases", "leader"], since: "2026-11-27" },

  // What the provider has built, and the place of the backups
  infrastructure:        { do: thenCall(restoreObjects("Infrastructure"), "publishInfrastructure"),after: ["leases", "leader", "cluster", "secrets", "cloudProviderSecret", "referencedResources", "releaseManagedResources"], was: [{ until: "2026-11-27", after: ["leases", "leader", "cluster", "secrets", "cloudProviderSecret", "referencedResources"] }, { until: "2026-11-26", after: ["leases", "leader", "cluster", "secrets", "cloudProviderSecret"] }], when: [hasWorkers] },
  networkPolicies:       { do: deploy("network-policies"),                   after: ["infrastructure"], when: [hasWorkers] },
  backupEntry:           { do: restoreObjects("BackupEntry"),                after: ["leases", "leader", "cluster"], when: [hasBackup] },

  // What some extensions add before there is an API server; of a Shoot that sleeps, once that has stopped
  extensionsBeforeApiServer: { do: restoreObjects("Extension", "BeforeKubeAPIServer"), after: ["infrastructure", "secrets", "referencedResources", "releaseManagedResources"], was: { until: "2026-11-27", after: ["infrastructure", "secrets", "referencedResources"] }, when: [hasExtensionsBeforeApiServer, awake], since: "2026-11-26" },

  // A seed that was down or cut off may have left snapshots that nothing has recorded
  listSnapshots:         { do: call("listSnapshots"),                        after: ["backupEntry", "shareState"], when: [moved, takenOver, hasBackup], since: "2026-11-24" },
  newestSnapshot:        { do: thenCall(call("checkNewestSnapshot"), "keepNewestSnapshot"),after: ["listSnapshots"], when: [moved, takenOver, hasBackup], since: "2026-11-24" },

  // Volumes take their time
  prepareEtcd:           { do: call("prepareEtcd"),                          after: ["secrets", "leader"], when: [moved], since: "2026-11-23" },

  // The old API server stops, then etcd, which has no other client, gives its last snapshot
  oldApiServer:          { do: onSource(stop("kube-apiserver")),             after: ["leases", "fence", "accessSecrets", "infrastructure", "backupEntry", "prepareEtcd", "extensionsBeforeApiServer"], was: { until: "2026-11-26", after: ["leases", "fence", "accessSecrets", "infrastructure", "backupEntry", "prepareEtcd"] }, when: [moved, sourceAnswers] },
  finalSnapshot:         { do: onSource(snapshot),                           after: ["oldApiServer"], when: [moved, sourceAnswers] },
  // The source seals what it writes now with a data key that this seed does not have yet
  finalShareState:       { do: inGarden("shareState"),                       after: ["finalSnapshot", "shareState"], when: [moved, sourceAnswers] },
  oldEtcd:               { do: onSource(stop("etcd")),                       after: ["finalSnapshot"], when: [moved, sourceAnswers] },
  copiedBackups:         { do: restoreObjects("BackupEntry"),                after: ["finalSnapshot", "finalShareState", "backupEntry", "newestSnapshot"], was: { until: "2026-11-24", after: ["finalSnapshot", "finalShareState", "backupEntry"] }, when: [moved, hasBackup] },

  // The control plane, from it
  etcdVolume:            { do: thenCall(call("restoreEtcdVolume"), "finishEtcdVolume"),after: ["copiedBackups", "finalShareState", "secrets", "leases", "leader"], when: [moved] },
  etcd:                  { do: deploy("etcd"),                               after: ["etcdVolume", "oldEtcd", "secrets"] },
  kubeApiServer:         { do: deploy("kube-apiserver"),                     after: ["etcd", "accessSecrets", "infrastructure", "extensionsBeforeApiServer"], was: { until: "2026-11-26", after: ["etcd", "accessSecrets", "infrastructure"] } },
  // Its names lead here from when the old API server has stopped: caches forget the old address while neither answers. A
  // Shoot that sleeps keeps its names, too: no other seed has them any more
  internalDns:           { do: restoreObjects("DNSRecord", "internal"),      after: ["oldApiServer", "cluster", "apiServerService"], was: { until: "2026-11-23", after: ["kubeApiServer", "cluster"] }, when: [hasInternalDomain] },
  externalDns:           { do: restoreObjects("DNSRecord", "external"),      after: ["oldApiServer", "cluster", "apiServerService"], was: { until: "2026-11-23", after: ["kubeApiServer", "cluster"] }, when: [hasExternalDomain] },
  kubeControllerManager: { do: deploy("kube-controller-manager"),            after: ["kubeApiServer"] },
  kubeScheduler:         { do: deploy("kube-scheduler"),                     after: ["kubeApiServer"], when: [hasWorkers] },
  controlPlane:          { do: restoreObjects("ControlPlane"),               after: ["kubeApiServer", "infrastructure"], when: [hasWorkers] },
  etcdBackup:            { do: deploy("etcd-backup"),                        after: ["etcd", "backupEntry"], when: [hasBackup] },

  // Our way in, and the users'
  shootClients:          { do: call("initializeShootClients"),               after: ["kubeApiServer", "internalDns"], when: [awake] },
  encryptResources:      { do: call("encryptResources"),                     after: ["shootClients"], when: [awake] },
  gardenerAccess:        { do: deploy("gardener-access"),                    after: ["shootClients"], when: [awake] },
  clusterIdentity:       { do: deploy("cluster-identity"),                   after: ["gardenerAccess"], when: [awake], since: "2026-11-26" },
  kubeconfig:            { do: call("publishKubeconfig"),                    after: ["accessSecrets", "gardenerAccess", "externalDns"] },
  // Before the resource manager itself: no pod that it applies escapes them. Nor do they outlive one that nothing asks for any more
  resourceManagerWebhooks: { do: deploy("resource-manager-webhooks"),        after: ["gardenerAccess"], when: [managesResources, hasWorkers, awake], since: "2026-11-27" },
  staleResourceManagerWebhooks: { do: call("removeStaleResourceManagerWebhooks"), after: ["gardenerAccess"], when: [managesNoResources, hasWorkers, awake], since: "2026-11-27" },
  resourceManager:       { do: deploy("resource-manager"),                   after: ["gardenerAccess", "resourceManagerWebhooks"], was: { until: "2026-11-27", after: ["gardenerAccess"] }, when: [managesResources, awake], since: "2026-11-25" },
  extensionsAfterApiServer: { do: restoreObjects("Extension", "AfterKubeAPIServer"), after: ["resourceManager", "infrastructure", "referencedResources"], when: [hasExtensionsAfterApiServer], since: "2026-11-26" },

  // The machines that were there
  nodeBootstrap:         { do: deploy("node-bootstrap"),                     after: ["shootClients"], when: [hasWorkers, awake] },
  operatingSystemConfig: { do: restoreObjects("OperatingSystemConfig"),      after: ["infrastructure", "controlPlane", "accessSecrets", "extensionsAfterApiServer"], was: { until: "2026-11-26", after: ["infrastructure", "controlPlane", "accessSecrets"] }, when: [hasWorkers] },
  nodeAgent:             { do: call("deployNodeAgentSecrets"),               after: ["operatingSystemConfig", "nodeBootstrap"], when: [hasWorkers, awake] },
  network:               { do: restoreObjects("Network"),                    after: ["controlPlane", "shootClients", "extensionsAfterApiServer"], was: { until: "2026-11-26", after: ["controlPlane", "shootClients"] }, when: [hasWorkers] },
  containerRuntime:      { do: restoreObjects("ContainerRuntime"),           after: ["network", "resourceManager", "referencedResources"], when: [hasWorkers, hasContainerRuntimes], since: "2026-11-26" },
  tunnelAgent:           { do: deploy("tunnel-agent"),                       after: ["shootClients"], when: [hasTunnel, awake], since: "2026-11-27" },
  staleTunnelAgent:      { do: destroy("tunnel-agent"),                      after: ["shootClients"], when: [reachesNodes, awake], since: "2026-11-27" },
  kubeProxy:             { do: deploy("kube-proxy"),                         after: ["network"], when: [hasWorkers, awake] },
  coreDns:               { do: deploy("coredns"),                            after: ["network"], when: [hasWorkers, awake] },
  // It is there without a pod: the Worker's controller starts it, when it has made its machines' objects anew
  machineAccess:         { do: deploy("machine-access"),                     after: ["shootClients"], when: [managesMachines, awake], since: "2026-11-26" },
  machineControllerManager: { do: deploy("machine-controller-manager"),      after: ["machineAccess", "accessSecrets", "infrastructure"], when: [managesMachines], since: "2026-11-26" },
  stopClusterAutoscaler: { do: stop("cluster-autoscaler"),                   after: ["machineControllerManager"], when: [fallsAsleep, managesMachines], since: "2026-11-26" },
  worker:                { do: restoreObjects("Worker"),                     after: ["kubeControllerManager", "nodeAgent", "network", "machineControllerManager", "stopClusterAutoscaler"], was: { until: "2026-11-26", after: ["kubeControllerManager", "nodeAgent", "network"] }, when: [hasWorkers] },
  forgetMachineState:    { do: call("forgetMachineState"),                   after: ["worker"], when: [managesMachines], since: "2026-11-26" },
  clusterAutoscaler:     { do: deploy("cluster-autoscaler"),                 after: ["worker"], when: [managesMachines, awake], since: "2026-11-26" },
  nodesReady:            { do: awaitNodes,                                   after: ["worker", "kubeProxy", "tunnelAgent"], was: { until: "2026-11-27", after: ["worker", "kubeProxy"] }, when: [hasWorkers, awake] },
  tunnel:                { do: call("checkTunnel"),                          after: ["nodesReady", "tunnelAgent"], when: [hasTunnel, awake], since: "2026-11-27" },
  routes:                { do: call("checkRoutes"),                          after: ["nodesReady"], when: [reachesNodes, awake], since: "2026-11-29" },
  staleConfigs:          { do: call("removeStaleConfigs"),                   after: ["worker", "nodesReady"], when: [hasWorkers] },
  extensionsAfterWorker: { do: restoreObjects("Extension", "AfterWorker"),   after: ["worker", "extensionsAfterApiServer", "referencedResources"], when: [hasExtensionsAfterWorker], since: "2026-11-26" },
  staleExtensions:       { do: thenCall(call("removeStaleExtensions"), "removeStaleResources"), after: ["worker", "resourceManager"], when: [awake], since: "2026-11-26" },
  managedResources:      { do: call("awaitManagedResources"),                after: ["resourceManager", "controlPlane", "network", "nodesReady", "extensionsAfterApiServer", "extensionsAfterWorker", "containerRuntime"], was: { until: "2026-11-26", after: ["resourceManager", "controlPlane", "network", "nodesReady"] }, when: [managesResources, awake], since: "2026-11-25" },
  // Last: while extensions that the Shoot has given up go, it takes away in the Shoot what they had put there
  unusedResourceManager: { do: call("removeUnusedResourceManager"),          after: ["managedResources", "staleExtensions", "staleConfigs"], when: [unasked, awake], since: "2026-11-28" },

  // A Shoot that falls asleep: its machines have gone by now, through the control plane that stops here
  stopMachineControllerManager: { do: stop("machine-controller-manager"),    after: ["staleConfigs"], when: [fallsAsleep, managesMachines], since: "2026-11-26" },
  stopControllerManager: { do: stop("kube-controller-manager"),              after: ["staleConfigs", "stopMachineControllerManager"], was: { until: "2026-11-26", after: ["staleConfigs"] }, when: [fallsAsleep], since: "2026-11-22" },
  stopScheduler:         { do: stop("kube-scheduler"),                       after: ["staleConfigs", "kubeScheduler"], when: [fallsAsleep], since: "2026-11-22" },
  stopResourceManager:   { do: stop("resource-manager"),                     after: ["staleConfigs", "extensionsAfterApiServer", "extensionsAfterWorker", "containerRuntime"], was: { until: "2026-11-26", after: ["staleConfigs"] }, when: [fallsAsleep, managesResources], since: "2026-11-25" },
  stopStaleResourceManager: { do: stop("resource-manager"),                  after: ["staleConfigs"], when: [fallsAsleep, managesNoResources], since: "2026-11-28" },
  stopApiServer:         { do: stop("kube-apiserver"),                       after: ["stopControllerManager", "stopScheduler", "stopResourceManager", "stopStaleResourceManager"], was: [{ until: "2026-11-28", after: ["stopControllerManager", "stopScheduler", "stopResourceManager"] }, { until: "2026-11-25", after: ["stopControllerManager", "stopScheduler"] }], when: [fallsAsleep], since: "2026-11-22" },
  stopEtcd:              { do: stop("etcd"),                                 after: ["stopApiServer"], when: [fallsAsleep], since: "2026-11-22" },
  extensionsAsleep:      { do: restoreObjects("Extension", "BeforeKubeAPIServer"), after: ["stopEtcd", "infrastructure", "referencedResources"], when: [hasExtensionsBeforeApiServer, asleep], since: "2026-11-26" },
});
