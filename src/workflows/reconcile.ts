import {
  apply,
  awaitNodes,
  call,
  defineShootFlow,
  deploy,
  destroy,
  inGarden,
  stop,
  survey,
  thenCall,
} from "./actions.ts";
import {
  asleep,
  awake,
  etcdDamaged,
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
  isPeriodic,
  managesMachines,
  managesNoResources,
  managesResources,
  reachesNodes,
  unasked,
} from "./conditions.ts";

/** Brings a Shoot to the state its spec asks for. Every step is safe to repeat. */
// prettier-ignore
export const reconcile = defineShootFlow("Reconcile Shoot", {
  // Which seed may act
  leadership:            { do: inGarden("ensureLeadership"),                 when: [hasLeadership] },

  // Who builds what differs between providers
  requiredExtensions:    { do: inGarden("awaitRequiredExtensions"),          after: ["leadership"], since: "2026-11-25" },

  // A place for the control plane, and the keys to it
  shareState:            { do: inGarden("shareState"),                       after: ["leadership"] },
  survey:                { do: survey,                                       after: ["shareState", "requiredExtensions"], was: { until: "2026-11-25", after: ["shareState"] }, when: [isPeriodic], since: "2026-11-23" },
  namespace:             { do: deploy("namespace"),                          after: ["survey"] },
  leader:                { do: call("announceLeader"),                       after: ["namespace"] },
  cluster:               { do: call("syncCluster"),                          after: ["namespace"] },
  cloudProviderSecret:   { do: call("deployCloudProviderSecret"),            after: ["namespace"], when: [hasCredentials] },
  referencedResources:   { do: call("deployReferencedResources"),            after: ["namespace"], when: [hasReferences], since: "2026-11-26" },
  secrets:               { do: call("deploySecrets"),                        after: ["namespace"] },

  // How the world reaches it
  apiServerService:      { do: thenCall(deploy("kube-apiserver-service"), "publishAddress"),after: ["namespace"] },
  accessSecrets:         { do: call("deploySecrets"),                        after: ["secrets", "apiServerService"] },
  internalDns:           { do: apply("DNSRecord", "internal"),               after: ["cluster", "apiServerService"], when: [hasInternalDomain, awake] },
  externalDns:           { do: apply("DNSRecord", "external"),               after: ["cluster", "apiServerService"], when: [hasExternalDomain, awake] },

  // What extensions wait for of resource managers; the fence had these stop
  releaseManagedResources: { do: call("releaseManagedResources"),              after: ["leader"], since: "2026-11-27" },

  // What the provider has to build first, and the place of the backups
  infrastructure:        { do: thenCall(apply("Infrastructure"), "publishInfrastructure"),after: ["leader", "cluster", "cloudProviderSecret", "secrets", "referencedResources", "releaseManagedResources"], was: [{ until: "2026-11-27", after: ["leader", "cluster", "cloudProviderSecret", "secrets", "referencedResources"] }, { until: "2026-11-26", after: ["leader", "cluster", "cloudProviderSecret"] }, { until: "2026-11-23", after: ["leader", "cluster", "secrets", "cloudProviderSecret"] }], when: [hasWorkers] },
  networkPolicies:       { do: deploy("network-policies"),                   after: ["infrastructure"], when: [hasWorkers] },
  backupEntry:           { do: apply("BackupEntry"),                         after: ["leader", "cluster"], when: [hasBackup] },

  // What some extensions add before there is an API server; of a Shoot that sleeps, once that has stopped
  extensionsBeforeApiServer: { do: apply("Extension", "BeforeKubeAPIServer"), after: ["infrastructure", "secrets", "referencedResources", "releaseManagedResources"], was: { until: "2026-11-27", after: ["infrastructure", "secrets", "referencedResources"] }, when: [hasExtensionsBeforeApiServer, awake], since: "2026-11-26" },

  // Data of an etcd that are damaged or gone: those of etcd-main come back from the newest good snapshot, events begin anew. The
  // old ones stay on the volume
  etcdDamage:            { do: call("confirmEtcdDamage"),                    after: ["leader", "secrets"], when: [etcdDamaged, awake], since: "2026-11-29" },
  listSnapshots:         { do: call("listSnapshots"),                        after: ["etcdDamage", "backupEntry", "shareState"], when: [etcdDamaged, awake, hasBackup], since: "2026-11-29" },
  newestSnapshot:        { do: thenCall(call("checkNewestSnapshot"), "keepNewestSnapshot"), after: ["listSnapshots"], when: [etcdDamaged, awake, hasBackup], since: "2026-11-29" },
  damagedApiServer:      { do: call("stopDamagedApiServer"),               after: ["newestSnapshot"], when: [etcdDamaged, awake, hasBackup], since: "2026-11-29" },
  damagedEtcd:           { do: call("stopDamagedEtcd"),                      after: ["damagedApiServer"], when: [etcdDamaged, awake, hasBackup], since: "2026-11-29" },
  etcdData:              { do: thenCall(call("restoreEtcdData"), "switchEtcdData"), after: ["etcdDamage", "damagedEtcd"], when: [etcdDamaged, awake], since: "2026-11-29" },

  // The control plane itself
  etcd:                  { do: deploy("etcd"),                               after: ["secrets", "etcdData"], was: { until: "2026-11-29", after: ["secrets"] } },
  etcdBackup:            { do: deploy("etcd-backup"),                        after: ["etcd", "backupEntry"], when: [hasBackup] },
  kubeApiServer:         { do: deploy("kube-apiserver"),                     after: ["etcd", "accessSecrets", "infrastructure", "extensionsBeforeApiServer"], was: { until: "2026-11-26", after: ["etcd", "accessSecrets", "infrastructure"] } },
  kubeControllerManager: { do: deploy("kube-controller-manager"),            after: ["kubeApiServer"] },
  kubeScheduler:         { do: deploy("kube-scheduler"),                     after: ["kubeApiServer"], when: [hasWorkers] },
  controlPlane:          { do: apply("ControlPlane"),                        after: ["kubeApiServer", "infrastructure"], when: [hasWorkers] },

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
  extensionsAfterApiServer: { do: apply("Extension", "AfterKubeAPIServer"),  after: ["resourceManager", "infrastructure", "referencedResources"], when: [hasExtensionsAfterApiServer], since: "2026-11-26" },

  // Machines that join it
  nodeBootstrap:         { do: deploy("node-bootstrap"),                     after: ["shootClients"], when: [hasWorkers, awake] },
  operatingSystemConfig: { do: apply("OperatingSystemConfig"),               after: ["infrastructure", "controlPlane", "accessSecrets", "extensionsAfterApiServer"], was: { until: "2026-11-26", after: ["infrastructure", "controlPlane", "accessSecrets"] }, when: [hasWorkers] },
  nodeAgent:             { do: call("deployNodeAgentSecrets"),               after: ["operatingSystemConfig", "nodeBootstrap"], when: [hasWorkers, awake] },
  network:               { do: apply("Network"),                             after: ["controlPlane", "shootClients", "extensionsAfterApiServer"], was: { until: "2026-11-26", after: ["controlPlane", "shootClients"] }, when: [hasWorkers] },
  containerRuntime:      { do: apply("ContainerRuntime"),                    after: ["network", "resourceManager", "referencedResources"], when: [hasWorkers, hasContainerRuntimes], since: "2026-11-26" },
  tunnelAgent:           { do: deploy("tunnel-agent"),                       after: ["shootClients"], when: [hasTunnel, awake], since: "2026-11-27" },
  staleTunnelAgent:      { do: destroy("tunnel-agent"),                      after: ["shootClients"], when: [reachesNodes, awake], since: "2026-11-27" },
  kubeProxy:             { do: deploy("kube-proxy"),                         after: ["network"], when: [hasWorkers, awake] },
  coreDns:               { do: deploy("coredns"),                            after: ["network"], when: [hasWorkers, awake] },
  machineAccess:         { do: deploy("machine-access"),                     after: ["shootClients"], when: [managesMachines, awake], since: "2026-11-26" },
  machineControllerManager: { do: deploy("machine-controller-manager"),      after: ["machineAccess", "accessSecrets", "infrastructure"], when: [managesMachines], since: "2026-11-26" },
  // It would ask for machines while they go
  stopClusterAutoscaler: { do: stop("cluster-autoscaler"),                   after: ["machineControllerManager"], when: [fallsAsleep, managesMachines], since: "2026-11-26" },
  worker:                { do: apply("Worker"),                              after: ["kubeControllerManager", "nodeAgent", "network", "machineControllerManager", "stopClusterAutoscaler"], was: { until: "2026-11-26", after: ["kubeControllerManager", "nodeAgent", "network"] }, when: [hasWorkers] },
  clusterAutoscaler:     { do: deploy("cluster-autoscaler"),                 after: ["worker"], when: [managesMachines, awake], since: "2026-11-26" },
  nodesReady:            { do: awaitNodes,                                   after: ["worker", "kubeProxy", "tunnelAgent"], was: { until: "2026-11-27", after: ["worker", "kubeProxy"] }, when: [hasWorkers, awake] },
  tunnel:                { do: call("checkTunnel"),                          after: ["nodesReady", "tunnelAgent"], when: [hasTunnel, awake], since: "2026-11-27" },
  routes:                { do: call("checkRoutes"),                          after: ["nodesReady"], when: [reachesNodes, awake], since: "2026-11-29" },
  staleConfigs:          { do: call("removeStaleConfigs"),                   after: ["worker", "nodesReady"], when: [hasWorkers] },
  extensionsAfterWorker: { do: apply("Extension", "AfterWorker"),            after: ["worker", "extensionsAfterApiServer", "referencedResources"], when: [hasExtensionsAfterWorker], since: "2026-11-26" },
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
  extensionsAsleep:      { do: apply("Extension", "BeforeKubeAPIServer"),    after: ["stopEtcd", "infrastructure", "referencedResources"], when: [hasExtensionsBeforeApiServer, asleep], since: "2026-11-26" },
});
