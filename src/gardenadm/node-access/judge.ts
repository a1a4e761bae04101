import { BlockList, isIP } from "node:net";
import {
  BOOTSTRAPPER_GROUPS,
  NODE_AGENT_GROUPS,
  NODE_AGENT_USER_PREFIX,
  NODE_AGENTS_GROUP,
  nodeAgentLeaseName,
  SERIAL_NAME_PREFIX,
  type NodeRole,
} from "../../api/names.ts";
import type { MalformedRequest, RequestedCertificate } from "../../kube/certificates/read-request.ts";
import { areUsagesOf } from "../../kube/certificates/signing-request.ts";

/** A request for a certificate, with who asks for it, as the API server knows the caller. */
export interface CertificateDemand {
  readonly signer: string;
  readonly usages: readonly string[];
  readonly requester: { readonly name: string; readonly groups: readonly string[] };
  readonly request: RequestedCertificate | MalformedRequest;
}

type ReadDemand = CertificateDemand & { readonly request: RequestedCertificate };

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
 * is, and only an administrator's agent becomes one of the control plane by itself. Certificates for kubelets to serve with, and
 * whatever tokens and agents ask of these signers, no other approver judges.
 */
export function judgeDemand(demand: CertificateDemand): Judgement | undefined {
  const { signer, request, requester } = demand;
  const isOurs = signer === SIGNERS.serving || isMachine(requester) || isKubeletAsClient(demand);
  if ("malformed" in request) return isOurs ? refuse(`the request is malformed: ${request.malformed}`) : undefined;
  const read = { ...demand, request };
  const isAgent = request.commonName.startsWith(NODE_AGENT_USER_PREFIX);
  if (signer === SIGNERS.client && isAgent) return judgeAgent(read);
  if (signer === SIGNERS.serving) return judgeServing(read);
  if (signer === SIGNERS.kubelet && requester.groups.includes(BOOTSTRAPPERS)) return judgeKubelet(read);
  return isOurs ? refuse(`${requester.name} may not ask signer ${signer} for ${request.commonName}`) : undefined;
}

const BOOTSTRAPPERS = "system:bootstrappers";
const NODE_USER_PREFIX = "system:node:";

/** A kubelet renews by a signer of its own: what it asks of this one would wait for a person, who may take it for another person's. */
const isKubeletAsClient = ({ signer, requester }: CertificateDemand): boolean =>
  signer === SIGNERS.client && requester.groups.includes(NODES);

/** Reports whether the caller has a bootstrap token or the certificate of an agent. */
const isMachine = ({ groups }: CertificateDemand["requester"]): boolean =>
  groups.includes(BOOTSTRAPPERS) || groups.includes(NODE_AGENTS_GROUP);

function judgeAgent({ request, requester, usages }: ReadDemand): Judgement {
  const { commonName, organizations } = request;
  const node = commonName.slice(NODE_AGENT_USER_PREFIX.length);
  const isRenewal = requester.name.startsWith(NODE_AGENT_USER_PREFIX);
  if (isRenewal && requester.name !== commonName) return refuse(`${requester.name} is the agent of another machine`);
  const allowed = isRenewal ? rolesBy(NODE_AGENT_GROUPS, requester.groups) : rolesOfNewcomer(requester.groups);
  const role = allowed.find((each) => sameSet(organizations, [NODE_AGENTS_GROUP, NODE_AGENT_GROUPS[each]]));
  if (role === undefined) return refuse(`${requester.name} may not ask for groups ${organizations.join(", ")}`);
  const judged = nodeNamed(node, role, { usages, hosts: request.hosts });
  const byAdministrator = requester.groups.includes(ADMINISTRATORS);
  return byAdministrator && "role" in judged ? { ...judged, byAdministrator } : judged;
}

const ADMINISTRATORS = "system:masters";

function judgeKubelet({ request, requester, usages }: ReadDemand): Judgement {
  const { commonName, organizations, hosts } = request;
  const [role] = rolesBy(BOOTSTRAPPER_GROUPS, requester.groups);
  if (role === undefined) return refuse(`the token of ${requester.name} lets no node join`);
  if (!commonName.startsWith(NODE_USER_PREFIX) || !sameSet(organizations, [NODES]))
    return refuse(`${commonName} of ${organizations.join(", ")} is not a kubelet`);
  return nodeNamed(commonName.slice(NODE_USER_PREFIX.length), role, { usages, hosts });
}

const NODES = "system:nodes";

function judgeServing({ request, requester, usages }: ReadDemand): Judgement {
  const { commonName, organizations, hosts } = request;
  const isKubelet = requester.name.startsWith(NODE_USER_PREFIX) && requester.groups.includes(NODES);
  if (!isKubelet || requester.name !== commonName) return refuse(`${requester.name} is not kubelet ${commonName}`);
  if (!sameSet(organizations, [NODES])) return refuse("a kubelet is in group system:nodes only");
  if (!areUsagesOf("server auth", usages)) return refuse(`usages ${usages.join(", ")} are not those of a server`);
  if (hosts.length === 0) return refuse("a server needs a DNS name or an IP address");
  const node = commonName.slice(NODE_USER_PREFIX.length);
  const foreign = hosts.find((host) => !mayServeAs(host, node));
  return foreign === undefined ? { node, serves: hosts } : refuse(`${foreign} cannot be that of a Node named ${node}`);
}

/** A kubelet writes the addresses of its Node itself, and could claim a name of the cluster's, or what means each machine itself. */
const mayServeAs = (host: string, node: string): boolean =>
  isIP(host) === 0
    ? !(host === node ? ofCluster : ofNoNode).test(host)
    : !ofNoMachine.check(host, isIP(host) === 4 ? "ipv4" : "ipv6");

/** Names without a dot, with a wildcard, of Services and of the machine itself; a cloud may give its machines any other. */
const ofNoNode = /^[^.]*$|\*|(?:^|\.)(?:default|kube-system|svc|localhost)(?:\.|$)/i;

/** Names that pods give Services and themselves; a worker's token chooses the name of its Node. */
const ofCluster = /(?:^|\.)localhost$|\.(?:default|kube-system|svc|svc\.cluster\.local)$/i;

const ofNoMachine = new BlockList();
ofNoMachine.addSubnet("0.0.0.0", 8);
ofNoMachine.addSubnet("127.0.0.0", 8);
ofNoMachine.addSubnet("224.0.0.0", 3);
ofNoMachine.addSubnet("::", 127, "ipv6");
ofNoMachine.addSubnet("ff00::", 8, "ipv6");

/** Usages and names are those of a client, and the name is one that a node may have. */
function nodeNamed(
  node: string,
  role: NodeRole,
  { usages, hosts }: { readonly usages: readonly string[]; readonly hosts: readonly string[] },
): Judgement {
  if (!areUsagesOf("client auth", usages)) return refuse(`usages ${usages.join(", ")} are not those of a client`);
  if (hosts.length > 0) return refuse(`a client serves under no name, such as ${hosts[0] ?? ""}`);
  // What the Lease of its agent cannot be called could never be claimed, and the request would be tried for ever.
  if (
    nodeAgentLeaseName(node).length > LONGEST_NAME ||
    !node.split(".").every(isPart) ||
    node.startsWith(SERIAL_NAME_PREFIX)
  )
    return refuse(`${JSON.stringify(node)} cannot name a node`);
  return { node, role };
}

/** In characters: the longest name of an object. */
const LONGEST_NAME = 253;

const isPart = (part: string): boolean => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(part);

/** Administrators have the keys of all nodes already: by their kubeconfig, a node of the control plane comes to its agent. */
function rolesOfNewcomer(groups: readonly string[]): NodeRole[] {
  return groups.includes(ADMINISTRATORS) ? ["control-plane"] : rolesBy(BOOTSTRAPPER_GROUPS, groups);
}

/** What groups make of their member; one who would be two things at once is none. */
function rolesBy(table: Readonly<Record<NodeRole, string>>, groups: readonly string[]): NodeRole[] {
  const roles = (["worker", "control-plane"] as const).filter((role) => groups.includes(table[role]));
  return roles.length === 1 ? roles : [];
}

const sameSet = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && other.every((each) => one.includes(each));

const refuse = (refused: string): Judgement => ({ refused });
