import {
  BOOTSTRAPPER_GROUPS,
  NODE_AGENT_GROUPS,
  NODE_AGENT_USER_PREFIX,
  NODE_AGENTS_GROUP,
  SERIAL_NAME_PREFIX,
  type NodeRole,
} from "../../api/names.ts";

/** A request for a certificate, with who asks for it, as the API server knows the caller. */
export interface CertificateDemand {
  readonly signer: string;
  readonly usages: readonly string[];
  readonly requester: { readonly name: string; readonly groups: readonly string[] };
  readonly subject: { readonly commonName: string; readonly organizations: readonly string[] };
  /** Names and addresses under which the certificate would serve. */
  readonly hosts: readonly string[];
}

/**
 * What is to become of a request: an agent or a kubelet may be the node of this name, if that is free or has this role; a
 * kubelet may serve under these names, if they are its Node's; or a sentence says why it may not.
 */
export type Judgement =
  | { readonly node: string; readonly role: NodeRole; readonly byAdministrator?: true }
  | { readonly node: string; readonly serves: readonly string[] }
  | { readonly refused: string };

/** The signers whose requests are judged. */
export const SIGNERS = {
  client: "kubernetes.io/kube-apiserver-client",
  kubelet: "kubernetes.io/kube-apiserver-client-kubelet",
  serving: "kubernetes.io/kubelet-serving",
} as const;

/**
 * Judges what agents and kubelets ask for; undefined for what is for others to judge: Kubernetes' own approver lets kubelets
 * renew, and people have their own requests. Who asks with a token is what the token says, an agent that renews stays what it
 * is, and only an administrator's agent becomes one of the control plane by itself.
 */
export function judgeDemand(demand: CertificateDemand): Judgement | undefined {
  const { signer, subject, requester } = demand;
  if (signer === SIGNERS.client && subject.commonName.startsWith(NODE_AGENT_USER_PREFIX)) return judgeAgent(demand);
  if (signer === SIGNERS.kubelet && requester.groups.includes("system:bootstrappers")) return judgeKubelet(demand);
  if (signer === SIGNERS.serving && subject.commonName.startsWith(NODE_USER_PREFIX)) return judgeServing(demand);
  return undefined;
}

const NODE_USER_PREFIX = "system:node:";

function judgeAgent({ subject, requester, usages, hosts }: CertificateDemand): Judgement {
  const { commonName, organizations } = subject;
  const node = commonName.slice(NODE_AGENT_USER_PREFIX.length);
  const isRenewal = requester.name.startsWith(NODE_AGENT_USER_PREFIX);
  if (isRenewal && requester.name !== commonName) return refuse(`${requester.name} is the agent of another machine`);
  const allowed = isRenewal ? rolesBy(NODE_AGENT_GROUPS, requester.groups) : rolesOfNewcomer(requester.groups);
  const role = allowed.find((each) => sameSet(organizations, [NODE_AGENTS_GROUP, NODE_AGENT_GROUPS[each]]));
  if (role === undefined) return refuse(`${requester.name} may not ask for groups ${organizations.join(", ")}`);
  const judged = nodeNamed(node, role, { usages, hosts });
  const byAdministrator = requester.groups.includes(ADMINISTRATORS);
  return byAdministrator && "role" in judged ? { ...judged, byAdministrator } : judged;
}

const ADMINISTRATORS = "system:masters";

function judgeKubelet({ subject, requester, usages, hosts }: CertificateDemand): Judgement {
  const { commonName, organizations } = subject;
  const [role] = rolesBy(BOOTSTRAPPER_GROUPS, requester.groups);
  if (role === undefined) return refuse(`the token of ${requester.name} lets no node join`);
  if (!commonName.startsWith(NODE_USER_PREFIX) || !sameSet(organizations, ["system:nodes"]))
    return refuse(`${commonName} of ${organizations.join(", ")} is no kubelet`);
  return nodeNamed(commonName.slice(NODE_USER_PREFIX.length), role, { usages, hosts });
}

function judgeServing({ subject, requester, usages, hosts }: CertificateDemand): Judgement {
  if (requester.name !== subject.commonName) return refuse(`${requester.name} is another kubelet`);
  if (!sameSet(subject.organizations, ["system:nodes"])) return refuse("a kubelet is in group system:nodes only");
  if (!isFor("server auth", usages)) return refuse(`usages ${usages.join(", ")} are not those of a server`);
  return { node: subject.commonName.slice(NODE_USER_PREFIX.length), serves: hosts };
}

/** Usages and names are those of a client, and the name is one that a node may have. */
function nodeNamed(
  node: string,
  role: NodeRole,
  { usages, hosts }: Pick<CertificateDemand, "usages" | "hosts">,
): Judgement {
  if (!isFor("client auth", usages)) return refuse(`usages ${usages.join(", ")} are not those of a client`);
  if (hosts.length > 0) return refuse(`a client serves under no name, such as ${hosts[0] ?? ""}`);
  const isName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(node);
  if (!isName || node.startsWith(SERIAL_NAME_PREFIX)) return refuse(`${JSON.stringify(node)} cannot name a node`);
  return { node, role };
}

/** Administrators have the keys of all nodes already: by their kubeconfig, a node of the control plane comes to its agent. */
function rolesOfNewcomer(groups: readonly string[]): NodeRole[] {
  return groups.includes(ADMINISTRATORS) ? ["control-plane"] : rolesBy(BOOTSTRAPPER_GROUPS, groups);
}

/** What groups make of their member; one who would be two things at once is none. */
function rolesBy(table: Readonly<Record<NodeRole, string>>, groups: readonly string[]): NodeRole[] {
  const roles = (["worker", "control-plane"] as const).filter((role) => groups.includes(table[role]));
  return roles.length === 1 ? roles : [];
}

function isFor(usage: string, usages: readonly string[]): boolean {
  return (
    usages.includes(usage) && usages.every((each) => [usage, "digital signature", "key encipherment"].includes(each))
  );
}

const sameSet = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && other.every((each) => one.includes(each));

const refuse = (refused: string): Judgement => ({ refused });
