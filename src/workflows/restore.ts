import { defineFlow } from "../flow/flow.ts";
import {
  awake,
  hasBackup,
  hasCredentials,
  hasExternalDomain,
  hasInternalDomain,
  hasLeadership,
  hasWorkers,
  moved,
  sourceAnswers,
} from "./conditions.ts";
import {
  act,
  call,
  deploy,
  inGarden,
  leasesOver,
  nodesReady,
  onSource,
  restoreAll,
  snapshot,
  stop,
  thenCall,
} from "./steps.ts";

/**
 * Brings a Shoot back in the seed that leads now: from the state that its controllers left and its etcd's last snapshot.
 * The old seed's API server serves until everything is ready for the new one. The rows are those of reconcile, with
 * `restore` where objects have a past; after a cancelled migration the seed is the old one and nothing is moved.
 */
// prettier-ignore
export const restore = defineFlow("Restore Shoot", {
  // All servers name the leader; then, until every look at the old record has run out, nobody acts. What still writes in
  // the old seed under the old epoch is refused
  leadership:            { run: inGarden("ensureLeadership"),        when: [hasLeadership] },
  leases:                { run: leasesOver,                          after: ["leadership"], when: [moved] },
  fence:                 { run: onSource(call("raiseFence")),        when: [moved, sourceAnswers] },

  // A place for the control plane, and the keys that it always had
  namespace:             { run: deploy("namespace"),                 after: ["leadership"] },
  leader:                { run: call("markNamespace"),               after: ["namespace"] },
  cluster:               { run: call("syncCluster"),                 after: ["namespace"] },
  keptSecrets:           { run: call("restoreSecrets"),              after: ["namespace"], when: [moved] },
  cloudProviderSecret:   { run: call("deployCloudProviderSecret"),   after: ["namespace"], when: [hasCredentials] },
  secrets:               { run: call("deploySecrets"),               after: ["keptSecrets"] },
  apiServerService:      { run: thenCall(deploy("kube-apiserver-service"), "publishAddress"), after: ["namespace"] },
  accessSecrets:         { run: call("deploySecrets"),               after: ["secrets", "apiServerService"] },

  // What the provider has built, and the place of the backups
  infrastructure:        { run: thenCall(restoreAll("Infrastructure"), "publishInfrastructure"), after: ["leases", "leader", "cluster", "secrets", "cloudProviderSecret"], when: [hasWorkers] },
  backupEntry:           { run: restoreAll("BackupEntry"),           after: ["leases", "leader", "cluster"], when: [hasBackup] },

  // The old API server stops, then etcd, which has no other client, gives its last snapshot
  oldApiServer:          { run: onSource(stop("kube-apiserver")),    after: ["leases", "fence", "accessSecrets", "infrastructure", "backupEntry"], when: [moved, sourceAnswers] },
  finalSnapshot:         { run: onSource(snapshot),                  after: ["oldApiServer"], when: [moved, sourceAnswers] },
  oldEtcd:               { run: onSource(stop("etcd")),              after: ["finalSnapshot"], when: [moved, sourceAnswers] },
  copiedBackups:         { run: restoreAll("BackupEntry"),           after: ["finalSnapshot", "backupEntry"], when: [moved, hasBackup] },

  // The control plane, from it
  etcdVolume:            { run: thenCall(act("restoreVolume"), "finishVolume"), after: ["copiedBackups", "secrets", "leases", "leader"], when: [moved] },
  etcd:                  { run: deploy("etcd"),                      after: ["etcdVolume", "oldEtcd", "secrets"] },
  kubeApiServer:         { run: deploy("kube-apiserver"),            after: ["etcd", "accessSecrets", "infrastructure"] },
  internalDns:           { run: restoreAll("DNSRecord", "internal"), after: ["kubeApiServer", "cluster"], when: [hasInternalDomain, awake] },
  externalDns:           { run: restoreAll("DNSRecord", "external"), after: ["kubeApiServer", "cluster"], when: [hasExternalDomain, awake] },
  kubeControllerManager: { run: deploy("kube-controller-manager"),   after: ["kubeApiServer"] },
  kubeScheduler:         { run: deploy("kube-scheduler"),            after: ["kubeApiServer"], when: [hasWorkers] },
  controlPlane:          { run: restoreAll("ControlPlane"),          after: ["kubeApiServer", "infrastructure"], when: [hasWorkers] },
  etcdBackup:            { run: deploy("etcd-backup"),               after: ["etcd", "backupEntry"], when: [hasBackup] },

  // Our way in, and the users'
  shootClients:          { run: call("initializeShootClients"),      after: ["kubeApiServer", "internalDns"], when: [awake] },
  gardenerAccess:        { run: deploy("gardener-access"),           after: ["shootClients"], when: [awake] },
  kubeconfig:            { run: call("publishKubeconfig"),           after: ["accessSecrets", "gardenerAccess", "externalDns"] },

  // The machines that were there
  nodeBootstrap:         { run: deploy("node-bootstrap"),            after: ["shootClients"], when: [hasWorkers, awake] },
  operatingSystemConfig: { run: restoreAll("OperatingSystemConfig"), after: ["infrastructure", "controlPlane", "accessSecrets"], when: [hasWorkers] },
  nodeAgent:             { run: call("deployNodeAgentSecrets"),      after: ["operatingSystemConfig", "nodeBootstrap"], when: [hasWorkers, awake] },
  network:               { run: restoreAll("Network"),               after: ["controlPlane", "shootClients"], when: [hasWorkers] },
  kubeProxy:             { run: deploy("kube-proxy"),                after: ["network"], when: [hasWorkers, awake] },
  coreDns:               { run: deploy("coredns"),                   after: ["network"], when: [hasWorkers, awake] },
  worker:                { run: restoreAll("Worker"),                after: ["kubeControllerManager", "nodeAgent", "network"], when: [hasWorkers] },
  nodesReady:            { run: nodesReady,                          after: ["worker", "kubeProxy"], when: [hasWorkers, awake] },
  staleConfigs:          { run: call("removeStaleConfigs"),          after: ["worker", "nodesReady"], when: [hasWorkers] },
});
