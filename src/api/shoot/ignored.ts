const kubelets = ["spec.kubernetes.kubelet", "spec.provider.workers[].kubernetes.kubelet"];

/**
 * Fields of a Shoot that Gardener has and that nothing acts on here, and what is so instead. What is below such a field is
 * ignored with it. Admission warns of them, and docs/api.md marks them; what promises security is refused instead.
 */
export const ignoredFields: Readonly<Record<string, string>> = {
  "spec.accessRestrictions[].options": "Seeds are chosen by the restriction's name",
  "spec.addons": "no addons are deployed",
  "spec.controlPlane": "control planes have one replica of each component",
  "spec.dns.providers[].domains": "the primary provider serves the Shoot's domain",
  "spec.dns.providers[].zones": "the provider's extension finds the zone",
  "spec.hibernation.schedules": "a Shoot sleeps while spec.hibernation.enabled is true",
  "spec.kubernetes.clusterAutoscaler": "nodes are not scaled by their load",
  "spec.kubernetes.etcd": "etcd has the same settings everywhere",
  "spec.kubernetes.kubeAPIServer.autoscaling": "kube-apiserver has one size",
  "spec.kubernetes.kubeAPIServer.logging": "kube-apiserver logs as it does by default",
  "spec.kubernetes.kubeAPIServer.watchCacheSizes": "Kubernetes chooses these sizes",
  "spec.kubernetes.kubeControllerManager.nodeCIDRMaskSizeIPv6": "Shoots have IPv4 alone",
  "spec.kubernetes.kubeControllerManager.podEvictionTimeout": "Kubernetes has no such setting any more",
  "spec.kubernetes.kubeScheduler.kubeMaxPDVols": "Kubernetes has no such setting any more",
  "spec.kubernetes.kubeScheduler.profile": "the scheduler has Kubernetes' own profile",
  "spec.kubernetes.verticalPodAutoscaler": "pods are not scaled by their use",
  "spec.maintenance.autoUpdate": "versions change when the Shoot says another",
  "spec.maintenance.confineSpecUpdateRollout": "changes are made at once",
  "spec.maintenance.timeWindow": "changes are made at once",
  "spec.monitoring": "control planes are not monitored",
  "spec.purpose": "control planes are alike for all purposes",
  "spec.systemComponents": "system components have the same settings everywhere",
  ...Object.fromEntries(
    kubelets.flatMap((kubelet) =>
      ["imageMinimumGCAge", "imageMaximumGCAge", "singleProcessOOMKill"].map((name) => [
        `${kubelet}.${name}`,
        "kubelets have their own default",
      ]),
    ),
  ),
};
