import { apply, call, defineShootFlow, deploy, destroy, inGarden, remove } from "./actions.ts";
import {
  controlPlaneNeeded,
  hasCredentials,
  hasLeadership,
  hasReferences,
  hasTunnel,
  hasWorkers,
  managesMachines,
  managesResources,
  namespaceUsable,
  canCleanResources,
} from "./conditions.ts";

/**
 * Takes a Shoot away. First it brings the control plane back to life, so that the user's own objects can be deleted
 * through it and take their load balancers and volumes with them; then it tears down in reverse. It never deploys
 * into a namespace that is being deleted. The record of who leads goes after it, with the Shoot: seeds that were left
 * may still hold something.
 */
// prettier-ignore
export const deleteShoot = defineShootFlow("Delete Shoot", {
  // Which seed may act: nothing is taken away on the word of the status alone
  leadership:                 { do: inGarden("confirmLeadership"),      when: [hasLeadership] },

  // A control plane to clean up through
  cluster:                    { do: call("syncCluster"),                after: ["leadership"], when: [namespaceUsable] },
  releaseManagedResources: { do: call("releaseManagedResources"),    after: ["cluster"], when: [namespaceUsable], since: "2026-11-27" },
  cloudProviderSecret:        { do: call("deployCloudProviderSecret"),  after: ["cluster"], when: [namespaceUsable, hasCredentials] },
  referencedResources:        { do: call("deployReferencedResources"),  after: ["cluster"], when: [namespaceUsable, hasReferences], since: "2026-11-26" },
  secrets:                    { do: call("deploySecrets"),              after: ["cluster"], when: [canCleanResources] },
  apiServerService:           { do: deploy("kube-apiserver-service"),   after: ["cluster"], when: [canCleanResources] },
  etcd:                       { do: deploy("etcd"),                     after: ["secrets"], when: [canCleanResources] },
  kubeApiServer:              { do: deploy("kube-apiserver"),           after: ["etcd", "apiServerService"], when: [canCleanResources] },
  controlPlane:               { do: apply("ControlPlane"),              after: ["kubeApiServer", "cloudProviderSecret"], when: [controlPlaneNeeded, canCleanResources] },
  kubeControllerManager:      { do: deploy("kube-controller-manager"),  after: ["kubeApiServer"], when: [canCleanResources] },
  shootClients:               { do: call("initializeShootClients"),     after: ["kubeApiServer"], when: [canCleanResources] },
  resourceManager:            { do: deploy("resource-manager"),         after: ["shootClients"], when: [managesResources, canCleanResources], since: "2026-11-25" },
  machineAccess:              { do: deploy("machine-access"),           after: ["shootClients"], when: [managesMachines, canCleanResources], since: "2026-11-26" },
  destroyClusterAutoscaler:   { do: destroy("cluster-autoscaler"),      after: ["cluster"], when: [managesMachines], since: "2026-11-26" },

  // Through which conversion webhooks of users answer
  tunnelAgent:                { do: deploy("tunnel-agent"),             after: ["shootClients"], when: [hasTunnel, canCleanResources], since: "2026-11-27" },

  // What users made, in the order that lets their controllers work
  cleanWebhooks:              { do: call("cleanWebhooks"),              after: ["shootClients"], when: [canCleanResources] },
  cleanExtendedApis:          { do: call("cleanExtendedApis"),          after: ["cleanWebhooks", "kubeControllerManager", "controlPlane", "tunnelAgent"], was: { until: "2026-11-27", after: ["cleanWebhooks", "kubeControllerManager", "controlPlane"] }, when: [canCleanResources] },
  cleanKubernetesResources:   { do: call("cleanKubernetesResources"),   after: ["cleanExtendedApis", "destroyClusterAutoscaler"], was: { until: "2026-11-26", after: ["cleanExtendedApis"] }, when: [canCleanResources] },

  // Machines and what they needed
  machineControllerManager:   { do: deploy("machine-controller-manager"), after: ["cleanKubernetesResources", "machineAccess"], when: [managesMachines, canCleanResources], since: "2026-11-26" },
  removeWorker:               { do: remove("Worker"),                   after: ["cleanKubernetesResources", "machineControllerManager"], was: { until: "2026-11-26", after: ["cleanKubernetesResources"] } },
  destroyMachineControllerManager: { do: destroy("machine-controller-manager"), after: ["removeWorker"], when: [managesMachines], since: "2026-11-26" },
  removeOperatingSystemConfig: { do: remove("OperatingSystemConfig"),    after: ["removeWorker"] },
  removeNetwork:              { do: remove("Network"),                  after: ["cleanKubernetesResources", "removeWorker"] },
  removeContainerRuntime:     { do: remove("ContainerRuntime"),         after: ["cleanKubernetesResources", "referencedResources"], since: "2026-11-26" },
  removeExtensionsBeforeApiServer: { do: remove("Extension", "BeforeKubeAPIServer"), after: ["cleanKubernetesResources", "removeOperatingSystemConfig", "referencedResources"], since: "2026-11-26" },
  removeControlPlane:         { do: remove("ControlPlane"),             after: ["removeOperatingSystemConfig", "removeNetwork", "removeContainerRuntime", "removeExtensionsBeforeApiServer"], was: { until: "2026-11-26", after: ["removeOperatingSystemConfig", "removeNetwork"] } },
  removeManagedResources:     { do: call("removeManagedResources"),     after: ["removeControlPlane", "resourceManager"], when: [managesResources, canCleanResources], since: "2026-11-25" },
  destroyResourceManager:     { do: destroy("resource-manager"),        after: ["removeManagedResources"], when: [managesResources], since: "2026-11-25" },

  // The control plane, then the ground it stood on
  destroyKubeScheduler:       { do: destroy("kube-scheduler"),          after: ["removeControlPlane"], when: [hasWorkers] },
  destroyKubeControllerManager: { do: destroy("kube-controller-manager"), after: ["removeControlPlane", "destroyMachineControllerManager"], was: { until: "2026-11-26", after: ["removeControlPlane"] } },
  destroyKubeApiServer:       { do: destroy("kube-apiserver"),          after: ["destroyKubeScheduler", "destroyKubeControllerManager", "destroyResourceManager"], was: { until: "2026-11-25", after: ["destroyKubeScheduler", "destroyKubeControllerManager"] } },
  removeExtensionsAfterApiServer: { do: remove("Extension", "AfterKubeAPIServer"), after: ["destroyKubeApiServer"], since: "2026-11-26" },
  removeBastions:             { do: call("removeBastions"),             after: ["cloudProviderSecret"], since: "2026-11-28" },
  removeInfrastructure:       { do: remove("Infrastructure"),           after: ["removeControlPlane", "removeBastions"], was: { until: "2026-11-28", after: ["removeControlPlane"] } },
  removeExternalDns:          { do: remove("DNSRecord", "external"),    after: ["destroyKubeApiServer"] },
  removeInternalDns:          { do: remove("DNSRecord", "internal"),    after: ["destroyKubeApiServer", "removeInfrastructure"] },
  destroyApiServerService:    { do: destroy("kube-apiserver-service"),  after: ["destroyKubeApiServer"] },
  destroyEtcd:                { do: destroy("etcd"),                    after: ["destroyKubeApiServer", "removeInfrastructure"] },
  removeNamespace:            { do: call("removeNamespace"),            after: ["removeExternalDns", "removeInternalDns", "destroyApiServerService", "destroyEtcd", "removeExtensionsAfterApiServer"], was: { until: "2026-11-26", after: ["removeExternalDns", "removeInternalDns", "destroyApiServerService", "destroyEtcd"] } },
  removeCluster:              { do: call("removeCluster"),              after: ["removeNamespace"] },
  removeState:                { do: call("removeState"),                after: ["removeCluster"] },
});
