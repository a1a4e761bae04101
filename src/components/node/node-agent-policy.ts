import type { KubeObject } from "../../api/index.ts";
import { NODE_AGENT_USER_PREFIX, NODE_AGENTS_GROUP } from "../../api/names.ts";

/** A condition on what a node agent writes, in CEL; `variables.machine` is the name of its machine. */
export interface AgentValidation {
  readonly expression: string;
  readonly message: string;
}

/** What of an API group is looked at, and when. */
export interface AgentWrites {
  readonly apiGroup: string;
  readonly resources: readonly string[];
  readonly operations: readonly ("CREATE" | "UPDATE")[];
}

const apiVersion = "admissionregistration.k8s.io/v1";
const name = "perennial-node-agent";

/**
 * Holds what node agents write in bounds, since a role cannot tell one machine's objects from another's. A member of their group
 * that is not the agent of a machine writes nothing of it. It comes before the rights.
 */
export function nodeAgentPolicy(writes: readonly AgentWrites[], validations: readonly AgentValidation[]): KubeObject[] {
  return [
    {
      apiVersion,
      kind: "ValidatingAdmissionPolicy",
      metadata: { name },
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: writes.map(({ apiGroup, operations, resources }) => ({
            ...{ apiGroups: [apiGroup], apiVersions: ["v1"], operations, resources, scope: "*" },
          })),
        },
        matchConditions: [{ name: "node-agent", expression: `'${NODE_AGENTS_GROUP}' in request.userInfo.groups` }],
        variables: [
          { name: "machine", expression: `request.userInfo.username.substring(${NODE_AGENT_USER_PREFIX.length})` },
        ],
        validations: [
          {
            expression: `request.userInfo.username.startsWith('${NODE_AGENT_USER_PREFIX}') && variables.machine != ''`,
            message: "a node agent acts for one machine",
          },
          ...validations,
        ],
      },
    },
    {
      apiVersion,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name },
      spec: { policyName: name, validationActions: ["Deny"] },
    },
  ];
}
