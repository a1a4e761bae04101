import type { KubeObject } from "../../api/index.ts";
import {
  BOOTSTRAPPER_GROUPS,
  NODE_AGENT_GROUPS,
  NODE_AGENTS_GROUP,
  nodeAgentLeaseName,
  SERIAL_NAME_PREFIX,
  type NodeRole,
} from "../../api/names.ts";
import { poolsOf, type ControlPlaneContext } from "../context.ts";
import { clusterRole, clusterRoleBinding, roleWithBinding, type Subject } from "../rbac.ts";
import { nodeAgentPolicy } from "./node-agent-policy.ts";
import { nodeAgentSecretName } from "./pool.ts";

const agents: Subject = { kind: "Group", name: NODE_AGENTS_GROUP };
const bootstrappers: Subject[] = Object.values(BOOTSTRAPPER_GROUPS).map((group) => ({ kind: "Group", name: group }));
const name = "perennial:node-agent";

/**
 * What the agents of a self-hosted Shoot may do, and the bearers of its bootstrap tokens. Those of workers read what workers
 * are given, and nothing of the control plane, whose configuration has the keys of its authorities. An agent writes
 * annotations of its own Node and its own Lease, which is there before it: what the Lease says of its role is not the agent's
 * to say.
 */
export function ownAgentRights(context: ControlPlaneContext): KubeObject[] {
  const rules = [
    { apiGroups: [""], resources: ["nodes"], verbs: ["get", "patch"] },
    { apiGroups: ["certificates.k8s.io"], resources: ["certificatesigningrequests"], verbs: ["create", "get"] },
  ];
  const leases = [{ apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] }];
  return [
    ...policy(),
    clusterRole(name, rules),
    clusterRoleBinding(name, name, [agents]),
    ...roleWithBinding({ name, namespace: "kube-system" }, leases, [agents]),
    ...(["worker", "control-plane"] as const).flatMap((role) => configurationReaders(context, role)),
    // What the cluster is, and who has which name, those who join read before anything is given to them: no key is in it.
    clusterRole(`${name}:cluster`, [
      { apiGroups: [""], resources: ["nodes"], verbs: ["get"] },
      {
        apiGroups: ["extensions.gardener.cloud"],
        resources: ["clusters"],
        resourceNames: [context.namespace],
        verbs: ["get"],
      },
    ]),
    clusterRoleBinding(`${name}:cluster`, `${name}:cluster`, [agents, ...bootstrappers]),
  ];
}

/** Without a pool of the role there is no Secret: a rule that names none would be one for all. */
function configurationReaders(context: ControlPlaneContext, role: NodeRole): KubeObject[] {
  const pools = poolsOf(context).filter(({ controlPlane }) => (controlPlane === undefined) === (role === "worker"));
  const resourceNames = pools.map((pool) => nodeAgentSecretName(context, pool));
  if (resourceNames.length === 0) return [];
  return roleWithBinding(
    { name: `${name}:${role}`, namespace: "kube-system" },
    [{ apiGroups: [""], resources: ["secrets"], resourceNames, verbs: ["get", "list", "watch"] }],
    [
      { kind: "Group", name: NODE_AGENT_GROUPS[role] },
      { kind: "Group", name: BOOTSTRAPPER_GROUPS[role] },
    ],
  );
}

function policy(): KubeObject[] {
  const isLease = "(request.resource.resource == 'leases')";
  const isSerial = `object.metadata.name.startsWith('${nodeAgentLeaseName(SERIAL_NAME_PREFIX)}')`;
  const unchanged = (field: string, none = "{}") =>
    `object.metadata.?${field}.orValue(${none}) == oldObject.metadata.?${field}.orValue(${none})`;
  return nodeAgentPolicy(
    [
      { apiGroup: "", resources: ["nodes"], operations: ["UPDATE"] },
      { apiGroup: "coordination.k8s.io", resources: ["leases"], operations: ["CREATE", "UPDATE"] },
    ],
    [
      {
        expression: `request.resource.resource != 'nodes' || object.metadata.name == variables.machine`,
        message: "a node agent changes its own Node only",
      },
      {
        expression: `request.resource.resource != 'nodes' || (object.spec == oldObject.spec && ${unchanged("labels")})`,
        message: "a node agent changes annotations of its Node only",
      },
      {
        expression: `!(${isLease} && ${isSerial}) || '${NODE_AGENT_GROUPS["control-plane"]}' in request.userInfo.groups`,
        message: "a node agent of a worker has no turn to take",
      },
      {
        expression:
          `!${isLease} || ${isSerial} || (request.operation == 'UPDATE' && ${unchanged("labels")} && ` +
          `object.metadata.name == '${nodeAgentLeaseName("")}' + variables.machine)`,
        message: "a node agent renews its own Lease only",
      },
      {
        // An owner that does not exist has the garbage collector delete the object, and with a Lease the role that it keeps for a name.
        expression: `request.operation != 'UPDATE' || (${unchanged("ownerReferences", "[]")} && ${unchanged("finalizers", "[]")})`,
        message: "a node agent changes no owner and no finalizer",
      },
    ],
  );
}
