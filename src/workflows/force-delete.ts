import { call, defineShootFlow, destroy, inGarden, remove } from "./actions.ts";
import { hasLeadership, managesMachines, managesResources, namespaceUsable } from "./conditions.ts";

/**
 * Takes a Shoot away whose deletion cannot come to its end, because its owner accepts that infrastructure is left behind.
 * It needs neither the Shoot's API server nor what users made in it, and deploys nothing. Extensions read in the Cluster
 * that they are to give up what they cannot remove; each still has to let go of its objects.
 */
// prettier-ignore
export const forceDelete = defineShootFlow("Delete Shoot by force", {
  // Which seed may act: force does not mean that another seed's control plane is taken away
  leadership:                  { do: inGarden("confirmLeadership"),   when: [hasLeadership] },
  cluster:                     { do: call("syncCluster"),             after: ["leadership"], when: [namespaceUsable] },

  // What would make machines, before their objects are taken from it
  destroyClusterAutoscaler:    { do: destroy("cluster-autoscaler"),   after: ["cluster"], when: [managesMachines], since: "2026-11-26" },
  destroyMachineControllerManager: { do: destroy("machine-controller-manager"), after: ["cluster"], when: [managesMachines], since: "2026-11-26" },

  // Whatever extensions hold, at once: no kind can count on another any more
  removeWorker:                { do: remove("Worker"),                after: ["cluster"] },
  removeOperatingSystemConfig: { do: remove("OperatingSystemConfig"), after: ["cluster"] },
  removeNetwork:               { do: remove("Network"),               after: ["cluster"] },
  removeContainerRuntime:      { do: remove("ContainerRuntime"),      after: ["cluster"], since: "2026-11-26" },
  removeExtensionsBeforeApiServer: { do: remove("Extension", "BeforeKubeAPIServer"), after: ["cluster"], since: "2026-11-26" },
  removeExtensionsAfterApiServer: { do: remove("Extension", "AfterKubeAPIServer"), after: ["cluster"], since: "2026-11-26" },
  removeBastions:              { do: call("removeBastions"),          after: ["cluster"], since: "2026-11-28" },
  removeControlPlane:          { do: remove("ControlPlane"),          after: ["cluster"] },
  removeInfrastructure:        { do: remove("Infrastructure"),        after: ["cluster"] },
  removeExternalDns:           { do: remove("DNSRecord", "external"), after: ["cluster"] },
  removeInternalDns:           { do: remove("DNSRecord", "internal"), after: ["cluster"] },
  removeManagedResources:      { do: call("removeManagedResources"),   after: ["removeWorker", "removeNetwork", "removeControlPlane", "destroyMachineControllerManager", "destroyClusterAutoscaler", "removeContainerRuntime", "removeExtensionsBeforeApiServer", "removeExtensionsAfterApiServer"], was: { until: "2026-11-26", after: ["removeWorker", "removeNetwork", "removeControlPlane"] }, when: [managesResources], since: "2026-11-25" },

  // The control plane goes with its namespace
  removeNamespace:             { do: call("removeNamespace"),         after: ["removeWorker", "removeOperatingSystemConfig", "removeNetwork", "removeControlPlane", "removeInfrastructure", "removeExternalDns", "removeInternalDns", "removeManagedResources", "removeContainerRuntime", "removeExtensionsBeforeApiServer", "removeExtensionsAfterApiServer", "removeBastions"], was: [{ until: "2026-11-28", after: ["removeWorker", "removeOperatingSystemConfig", "removeNetwork", "removeControlPlane", "removeInfrastructure", "removeExternalDns", "removeInternalDns", "removeManagedResources", "removeContainerRuntime", "removeExtensionsBeforeApiServer", "removeExtensionsAfterApiServer"] }, { until: "2026-11-26", after: ["removeWorker", "removeOperatingSystemConfig", "removeNetwork", "removeControlPlane", "removeInfrastructure", "removeExternalDns", "removeInternalDns", "removeManagedResources"] }, { until: "2026-11-25", after: ["removeWorker", "removeOperatingSystemConfig", "removeNetwork", "removeControlPlane", "removeInfrastructure", "removeExternalDns", "removeInternalDns"] }] },
  removeCluster:               { do: call("removeCluster"),           after: ["removeNamespace"] },
  removeState:                 { do: call("removeState"),             after: ["removeCluster"] },
});
