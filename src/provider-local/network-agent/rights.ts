import type { KubeObject } from "../../api/index.ts";
import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import { NETWORK_AGENT } from "./places.ts";

const metadata = { name: NETWORK_AGENT, namespace: SYSTEM_NAMESPACE };
const rbac = { group: "rbac.authorization.k8s.io", version: "rbac.authorization.k8s.io/v1" } as const;
const cluster = { name: `perennial:${NETWORK_AGENT}` };
const policy = { name: `perennial-${NETWORK_AGENT}` };

/** The account of the agents with what it may do: read Nodes, and write the status of that one on which it is. */
export function agentAccount(): KubeObject[] {
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    {
      apiVersion: rbac.version,
      kind: "ClusterRole",
      metadata: cluster,
      rules: [
        { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch"] },
        { apiGroups: [""], resources: ["nodes/status"], verbs: ["patch"] },
      ],
    },
    {
      apiVersion: rbac.version,
      kind: "ClusterRoleBinding",
      metadata: cluster,
      roleRef: { apiGroup: rbac.group, kind: "ClusterRole", name: cluster.name },
      subjects: [{ kind: "ServiceAccount", ...metadata }],
    },
    ...ownNodeOnly(),
  ];
}

const admission = "admissionregistration.k8s.io/v1";

/**
 * RBAC has no rule for a caller's own Node: the token of a worker's agent, in other hands, must change no other Node. A pod's token names
 * its node. A write of a Node's status may change the Node's labels, too, and a label makes it a node of the control plane.
 */
function ownNodeOnly(): KubeObject[] {
  const claim = "authentication.kubernetes.io/node-name";
  const extra = `request.userInfo.extra[${JSON.stringify(claim)}]`;
  return [
    {
      apiVersion: admission,
      kind: "ValidatingAdmissionPolicy",
      metadata: policy,
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [
            { apiGroups: [""], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["nodes/status"] },
          ],
        },
        matchConditions: [
          {
            name: "agent",
            expression: `request.userInfo.username == "system:serviceaccount:${SYSTEM_NAMESPACE}:${NETWORK_AGENT}"`,
          },
        ],
        validations: [
          {
            expression: `${JSON.stringify(claim)} in request.userInfo.extra && ${extra}.exists_one(name, name == object.metadata.name)`,
            message: "a network agent writes the status of its own Node only",
            reason: "Forbidden",
          },
          {
            expression: ["labels", "annotations", "ownerReferences", "finalizers"].map(unchanged).join(" && "),
            message: "a network agent changes no metadata of its Node",
            reason: "Forbidden",
          },
        ],
      },
    },
    {
      apiVersion: admission,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: policy,
      spec: { policyName: policy.name, validationActions: ["Deny"] },
    },
  ];
}

const unchanged = (field: string): string => `object.metadata.?${field} == oldObject.metadata.?${field}`;
