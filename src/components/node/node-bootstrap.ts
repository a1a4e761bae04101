import type { KubeObject } from "../../api/index.ts";
import { poolsOf, type ControlPlaneContext } from "../context.ts";
import { clusterRoleBinding, roleWithBinding, type Subject } from "../rbac.ts";
import { kubeletPolicy } from "./kubelet-policy.ts";
import { nodeAgentRights } from "./node-agent-rights.ts";
import { ownAgentRights } from "./own-agent-rights.ts";
import { nodeAgentSecretName } from "./pool.ts";

const bootstrappers: Subject = { kind: "Group", name: "system:bootstrappers" };
const nodes: Subject = { kind: "Group", name: "system:nodes" };

/**
 * Lets machines become nodes: ask for a certificate, get it, renew it, and read their pool's configuration. Of a self-hosted
 * Shoot, its own approver says who gets a certificate as which node: a token is not for every name.
 */
export function nodeBootstrap(context: ControlPlaneContext): KubeObject[] {
  const csr = "system:certificates.k8s.io:certificatesigningrequests";
  const isSelfHosted = context.nodes !== undefined;
  return [
    clusterRoleBinding("perennial:node-bootstrapper", "system:node-bootstrapper", [bootstrappers]),
    ...(isSelfHosted
      ? []
      : [clusterRoleBinding("perennial:node-client-csr-approval", `${csr}:nodeclient`, [bootstrappers])]),
    clusterRoleBinding("perennial:node-client-csr-renewal", `${csr}:selfnodeclient`, [nodes]),
    clusterRoleBinding("perennial:kubelet-api", "system:kubelet-api-admin", [
      { kind: "User", name: "system:kube-apiserver:kubelet" },
    ]),
    ...kubeletPolicy(),
    ...(isSelfHosted ? ownAgentRights(context) : upstreamAgentRights(context)),
  ];
}

function upstreamAgentRights(context: ControlPlaneContext): KubeObject[] {
  const secrets = poolsOf(context).map((pool) => nodeAgentSecretName(context, pool));
  return [
    // Machines whose agent has no identity of its own read it as what they are.
    ...roleWithBinding(
      { name: "perennial-node-agent", namespace: "kube-system" },
      [{ apiGroups: [""], resources: ["secrets"], resourceNames: secrets, verbs: ["get"] }],
      [bootstrappers, nodes],
    ),
    ...nodeAgentRights(secrets),
  ];
}
