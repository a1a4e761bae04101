import type { KubeObject } from "../../api/index.ts";
import { clusterRole, clusterRoleBinding, roleWithBinding, type PolicyRule, type Subject } from "../rbac.ts";
import { CLUSTER_AUTOSCALER } from "./cluster-autoscaler.ts";
import { MACHINE_CONTROLLER_MANAGER } from "./machine-controller-manager.ts";

/** What machine-controller-manager and cluster-autoscaler may do in the Shoot: upstream's roles, for users by certificate. */
export function machineAccess(): KubeObject[] {
  return [
    ...access(MACHINE_CONTROLLER_MANAGER, manager, [
      { apiGroups: [""], resources: ["secrets"], verbs: ["create", "delete", "get", "list"] }, // bootstrap tokens
    ]),
    ...access(CLUSTER_AUTOSCALER, autoscaler, [
      { apiGroups: [""], resources: ["configmaps"], verbs: ["watch", "list", "get", "create"] },
      {
        apiGroups: [""],
        resources: ["configmaps"],
        resourceNames: ["cluster-autoscaler-status"],
        verbs: ["delete", "update"],
      },
    ]),
  ];
}

function access(program: string, everywhere: readonly PolicyRule[], inKubeSystem: readonly PolicyRule[]): KubeObject[] {
  const name = `gardener.cloud:target:${program}`;
  const users: readonly Subject[] = [{ kind: "User", name: program }];
  return [
    clusterRole(name, everywhere),
    clusterRoleBinding(name, name, users),
    ...roleWithBinding({ name, namespace: "kube-system" }, inKubeSystem, users),
  ];
}

const all = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const reading = ["get", "list", "watch"];

const manager: readonly PolicyRule[] = [
  {
    apiGroups: [""],
    resources: [
      ...["nodes", "nodes/status", "endpoints", "replicationcontrollers"],
      ...["pods", "persistentvolumes", "persistentvolumeclaims"],
    ],
    verbs: all,
  },
  { apiGroups: [""], resources: ["pods/eviction"], verbs: ["create"] },
  { apiGroups: ["apps"], resources: ["replicasets", "statefulsets", "daemonsets", "deployments"], verbs: all },
  { apiGroups: ["batch"], resources: ["jobs", "cronjobs"], verbs: all },
  { apiGroups: ["policy"], resources: ["poddisruptionbudgets"], verbs: ["list", "watch"] },
  { apiGroups: ["storage.k8s.io"], resources: ["volumeattachments"], verbs: ["delete", ...reading] },
];

const autoscaler: readonly PolicyRule[] = [
  { apiGroups: [""], resources: ["events", "endpoints"], verbs: ["create", "patch"] },
  { apiGroups: [""], resources: ["pods/eviction"], verbs: ["create"] },
  { apiGroups: [""], resources: ["pods/status"], verbs: ["update"] },
  { apiGroups: [""], resources: ["endpoints"], resourceNames: ["cluster-autoscaler"], verbs: ["get", "update"] },
  { apiGroups: [""], resources: ["nodes"], verbs: ["update", ...reading] },
  {
    apiGroups: [""],
    resources: [
      ...["namespaces", "pods", "services", "replicationcontrollers"],
      ...["persistentvolumeclaims", "persistentvolumes"],
    ],
    verbs: reading,
  },
  { apiGroups: ["apps"], resources: ["daemonsets", "replicasets", "statefulsets"], verbs: reading },
  { apiGroups: ["policy"], resources: ["poddisruptionbudgets"], verbs: ["list", "watch"] },
  {
    apiGroups: ["storage.k8s.io"],
    resources: ["storageclasses", "csinodes", "csidrivers", "csistoragecapacities", "volumeattachments"],
    verbs: reading,
  },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
  {
    apiGroups: ["coordination.k8s.io"],
    resources: ["leases"],
    resourceNames: ["cluster-autoscaler"],
    verbs: ["get", "update"],
  },
  { apiGroups: ["batch"], resources: ["jobs", "cronjobs"], verbs: ["patch", ...reading] },
  { apiGroups: ["resource.k8s.io"], resources: ["resourceslices", "resourceclaims", "deviceclasses"], verbs: reading },
];
