import { defineFlow } from "../flow/flow.ts";
import {
  controlPlaneNeeded,
  hasCredentials,
  hasLeadership,
  hasWorkers,
  namespaceUsable,
  canCleanResources,
} from "./conditions.ts";
import { apply, call, deploy, destroy, inGarden, remove, removeNamespace } from "./steps.ts";

/**
 * Takes a Shoot away. First it brings the control plane back to life, so that the user's own objects can be deleted
 * through it and take their load balancers and volumes with them; then it tears down in reverse. It never deploys
 * into a namespace that is being deleted.
 */
// prettier-ignore
export const deleteShoot = defineFlow("Delete Shoot", {
  // A control plane to clean up through
  cluster:                    { run: call("syncCluster"),               when: [namespaceUsable] },
  cloudProviderSecret:        { run: call("deployCloudProviderSecret"), after: ["cluster"], when: [namespaceUsable, hasCredentials] },
  secrets:                    { run: call("deploySecrets"),             after: ["cluster"], when: [canCleanResources] },
  apiServerService:           { run: deploy("kube-apiserver-service"),  after: ["cluster"], when: [canCleanResources] },
  etcd:                       { run: deploy("etcd"),                    after: ["secrets"], when: [canCleanResources] },
  kubeApiServer:              { run: deploy("kube-apiserver"),          after: ["etcd", "apiServerService"], when: [canCleanResources] },
  controlPlane:               { run: apply("ControlPlane"),             after: ["kubeApiServer", "cloudProviderSecret"], when: [controlPlaneNeeded, canCleanResources] },
  kubeControllerManager:      { run: deploy("kube-controller-manager"), after: ["kubeApiServer"], when: [canCleanResources] },
  shootClients:               { run: call("initializeShootClients"),    after: ["kubeApiServer"], when: [canCleanResources] },

  // What users made, in the order that lets their controllers work
  cleanWebhooks:              { run: call("cleanWebhooks"),             after: ["shootClients"], when: [canCleanResources] },
  cleanExtendedApis:          { run: call("cleanExtendedApis"),         after: ["cleanWebhooks", "kubeControllerManager", "controlPlane"], when: [canCleanResources] },
  cleanKubernetesResources:   { run: call("cleanKubernetesResources"),  after: ["cleanExtendedApis"], when: [canCleanResources] },

  // Machines and what they needed
  removeWorker:               { run: remove("Worker"),                  after: ["cleanKubernetesResources"] },
  removeOperatingSystemConfig:{ run: remove("OperatingSystemConfig"),   after: ["removeWorker"] },
  removeNetwork:              { run: remove("Network"),                 after: ["cleanKubernetesResources", "removeWorker"] },
  removeControlPlane:         { run: remove("ControlPlane"),            after: ["removeOperatingSystemConfig", "removeNetwork"] },

  // The control plane, then the ground it stood on
  destroyKubeScheduler:       { run: destroy("kube-scheduler"),         after: ["removeControlPlane"], when: [hasWorkers] },
  destroyKubeControllerManager:{ run: destroy("kube-controller-manager"), after: ["removeControlPlane"] },
  destroyKubeApiServer:       { run: destroy("kube-apiserver"),         after: ["destroyKubeScheduler", "destroyKubeControllerManager"] },
  removeInfrastructure:       { run: remove("Infrastructure"),          after: ["removeControlPlane"] },
  removeExternalDns:          { run: remove("DNSRecord", "external"),   after: ["destroyKubeApiServer"] },
  removeInternalDns:          { run: remove("DNSRecord", "internal"),   after: ["destroyKubeApiServer", "removeInfrastructure"] },
  destroyApiServerService:    { run: destroy("kube-apiserver-service"), after: ["destroyKubeApiServer"] },
  destroyEtcd:                { run: destroy("etcd"),                   after: ["destroyKubeApiServer", "removeInfrastructure"] },
  removeNamespace:            { run: removeNamespace,                   after: ["removeExternalDns", "removeInternalDns", "destroyApiServerService", "destroyEtcd"] },
  removeCluster:              { run: call("removeCluster"),             after: ["removeNamespace"] },
  removeState:                { run: call("removeState"),               after: ["removeCluster"] },
  removeLeadership:           { run: inGarden("removeLeadership"),      after: ["removeCluster"], when: [hasLeadership] },
});
