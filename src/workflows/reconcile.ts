import { defineFlow } from "../flow/flow.ts";
import {
  awake,
  hasBackup,
  hasCredentials,
  hasExternalDomain,
  hasInternalDomain,
  hasLeadership,
  hasWorkers,
} from "./conditions.ts";
import { apply, call, deploy, inGarden, nodesReady, thenCall } from "./steps.ts";

/** Brings a Shoot to the state its spec asks for. Every step is safe to repeat. */
// prettier-ignore
export const reconcile = defineFlow("Reconcile Shoot", {
  // Who may act
  leadership:            { run: inGarden("ensureLeadership"),        when: [hasLeadership] },

  // A place for the control plane, and the keys to it
  namespace:             { run: deploy("namespace"),                 after: ["leadership"] },
  leader:                { run: call("markNamespace"),               after: ["namespace"] },
  cluster:               { run: call("syncCluster"),                 after: ["namespace"] },
  cloudProviderSecret:   { run: call("deployCloudProviderSecret"),   after: ["namespace"], when: [hasCredentials] },
  secrets:               { run: call("deploySecrets"),               after: ["namespace"] },

  // How the world reaches it
  apiServerService:      { run: thenCall(deploy("kube-apiserver-service"), "publishAddress"), after: ["namespace"] },
  accessSecrets:         { run: call("deploySecrets"),               after: ["secrets", "apiServerService"] },
  internalDns:           { run: apply("DNSRecord", "internal"),      after: ["cluster", "apiServerService"], when: [hasInternalDomain, awake] },
  externalDns:           { run: apply("DNSRecord", "external"),      after: ["cluster", "apiServerService"], when: [hasExternalDomain, awake] },

  // What the provider has to build first, and the place of the backups
  infrastructure:        { run: thenCall(apply("Infrastructure"), "publishInfrastructure"), after: ["leader", "cluster", "secrets", "cloudProviderSecret"], when: [hasWorkers] },
  backupEntry:           { run: apply("BackupEntry"),                after: ["leader", "cluster"], when: [hasBackup] },

  // The control plane itself
  etcd:                  { run: deploy("etcd"),                      after: ["secrets"] },
  etcdBackup:            { run: deploy("etcd-backup"),               after: ["etcd", "backupEntry"], when: [hasBackup] },
  kubeApiServer:         { run: deploy("kube-apiserver"),            after: ["etcd", "accessSecrets", "infrastructure"] },
  kubeControllerManager: { run: deploy("kube-controller-manager"),   after: ["kubeApiServer"] },
  kubeScheduler:         { run: deploy("kube-scheduler"),            after: ["kubeApiServer"], when: [hasWorkers] },
  controlPlane:          { run: apply("ControlPlane"),               after: ["kubeApiServer", "infrastructure"], when: [hasWorkers] },

  // Our way in, and the users'
  shootClients:          { run: call("initializeShootClients"),      after: ["kubeApiServer", "internalDns"], when: [awake] },
  gardenerAccess:        { run: deploy("gardener-access"),           after: ["shootClients"], when: [awake] },
  kubeconfig:            { run: call("publishKubeconfig"),           after: ["accessSecrets", "gardenerAccess", "externalDns"] },

  // Machines that join it
  nodeBootstrap:         { run: deploy("node-bootstrap"),            after: ["shootClients"], when: [hasWorkers, awake] },
  operatingSystemConfig: { run: apply("OperatingSystemConfig"),      after: ["infrastructure", "controlPlane", "accessSecrets"], when: [hasWorkers] },
  nodeAgent:             { run: call("deployNodeAgentSecrets"),      after: ["operatingSystemConfig", "nodeBootstrap"], when: [hasWorkers, awake] },
  network:               { run: apply("Network"),                    after: ["controlPlane", "shootClients"], when: [hasWorkers] },
  kubeProxy:             { run: deploy("kube-proxy"),                after: ["network"], when: [hasWorkers, awake] },
  coreDns:               { run: deploy("coredns"),                   after: ["network"], when: [hasWorkers, awake] },
  worker:                { run: apply("Worker"),                     after: ["kubeControllerManager", "nodeAgent", "network"], when: [hasWorkers] },
  nodesReady:            { run: nodesReady,                          after: ["worker", "kubeProxy"], when: [hasWorkers, awake] },
  staleConfigs:          { run: call("removeStaleConfigs"),          after: ["worker", "nodesReady"], when: [hasWorkers] },
});
