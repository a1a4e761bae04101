import { ignoredFields } from "./shoot/ignored.ts";

/**
 * Fields that Gardener has and that nothing acts on here, by kind, and what is so instead. What is below such a field is ignored with it.
 * Admission warns of them, and docs/api.md marks them.
 */
export const ignoredByKind: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Shoot: ignoredFields,
  Seed: {
    "spec.extensions": "no Extension objects are created for Seeds",
    "spec.ingress.controller":
      "no ingress controller is deployed; only the domain is reserved and passed to extensions",
    "spec.resources": "no Extension objects are created for Seeds",
    "spec.settings.dependencyWatchdog": "it is not deployed into Seeds",
    "spec.settings.excessCapacityReservation": "no capacity is reserved",
    "spec.settings.loadBalancerServices": "load balancers have their provider's defaults",
    "spec.settings.persistentVolumeClaimAutoscaler": "it is not deployed into Seeds",
    "spec.settings.topologyAwareRouting": "Kubernetes' default routing is used",
    "spec.settings.verticalPodAutoscaler": "it is not deployed into Seeds",
    "spec.volume.minimumSize": "each component requests its own volume size",
  },
  Project: {
    "spec.members": "members get no permissions: create RoleBindings in the project's namespace",
    "spec.owner": "the owner gets no permissions: create a RoleBinding in the project's namespace",
  },
};
