import { ignoredFields } from "./shoot/ignored.ts";

/**
 * Fields that Gardener has and that nothing acts on here, by kind, and what is so instead. What is below such a field is ignored with it.
 * Admission warns of them, and docs/api.md marks them.
 */
export const ignoredByKind: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Shoot: ignoredFields,
  Seed: {
    "spec.extensions": "extensions of Seeds themselves are not made",
    "spec.ingress.controller":
      "no ingress controller is deployed; the domain is kept from Shoots, and told to extensions",
    "spec.resources": "extensions of Seeds themselves are not made",
    "spec.settings.dependencyWatchdog": "it is not deployed into Seeds",
    "spec.settings.excessCapacityReservation": "no capacity is kept free",
    "spec.settings.loadBalancerServices": "load balancers are as their provider makes them",
    "spec.settings.persistentVolumeClaimAutoscaler": "it is not deployed into Seeds",
    "spec.settings.topologyAwareRouting": "requests are routed as Kubernetes does",
    "spec.settings.verticalPodAutoscaler": "it is not deployed into Seeds",
    "spec.volume.minimumSize": "volumes have the size that their component asks for",
  },
  Project: {
    "spec.members": "members get no rights by it: bind roles to them in the project's namespace",
    "spec.owner": "the owner gets no rights by it: bind roles to them in the project's namespace",
  },
};
