import { NODE_MACHINE_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/index.ts";
import { NODE_AGENTS_GROUP } from "../../api/names.ts";
import { clusterRole, clusterRoleBinding, roleWithBinding, type Subject } from "../rbac.ts";
import { nodeAgentPolicy } from "./node-agent-policy.ts";

const agents: Subject = { kind: "Group", name: NODE_AGENTS_GROUP };
const name = "perennial:node-agent";

/**
 * What upstream's node agents may do in the Shoot, who come with certificates of the group and a user for each machine: read
 * the configurations of pools and what runs, say how their Node is, hold their leases. A role cannot tell one machine's Node from
 * another's; the policy can.
 */
export function nodeAgentRights(secrets: readonly string[]): KubeObject[] {
  const rules = [
    { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch", "patch", "update"] },
    { apiGroups: [""], resources: ["nodes/status"], verbs: ["patch", "update"] },
    // It watches those of its Node, and does not begin before it has: a role cannot tell them from others.
    { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
    { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
    { apiGroups: ["certificates.k8s.io"], resources: ["certificatesigningrequests"], verbs: ["create", "get"] },
  ];
  const inKubeSystem = [
    { apiGroups: [""], resources: ["secrets"], resourceNames: secrets, verbs: ["get", "list", "watch"] },
    {
      apiGroups: ["coordination.k8s.io"],
      resources: ["leases"],
      verbs: ["get", "list", "watch", "create", "update"],
    },
  ];
  return [
    ...policy(),
    clusterRole(name, rules),
    clusterRoleBinding(name, name, [agents]),
    ...roleWithBinding({ name, namespace: "kube-system" }, inKubeSystem, [agents]),
  ];
}

function policy(): KubeObject[] {
  return nodeAgentPolicy(
    [
      { apiGroup: "", resources: ["nodes", "nodes/status"], operations: ["UPDATE"] },
      { apiGroup: "coordination.k8s.io", resources: ["leases"], operations: ["CREATE", "UPDATE"] },
    ],
    [
      {
        expression: `request.resource.resource != 'nodes' || (${isMachineOf("oldObject")} && ${isMachineOf("object")})`,
        message: "a node agent changes the Node of its own machine only",
      },
      {
        expression: `request.resource.resource != 'leases' || object.metadata.name.startsWith('gardener-node-agent-')`,
        message: "a node agent holds leases of node agents only",
      },
    ],
  );
}

/** machine-controller-manager labels the Node, before which its agent has to wait. */
const isMachineOf = (object: string): string =>
  `object.metadata.?labels[?'${NODE_MACHINE_LABEL}'].orValue('') == variables.machine`.replace("object", object);
