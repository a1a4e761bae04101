import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { CONTROL_PLANE_LABEL } from "../../api/labels.ts";
import type { Member } from "../../etcd/answers.ts";
import { createEtcdctl } from "../../etcd/etcdctl.ts";
import { isMemberAt } from "../../etcd/member-at.ts";
import { createMembership, type Membership } from "../../etcd/members.ts";
import { nameOf } from "../../etcd/status.ts";
import { ETCDS, etcdPorts, hostOf, nodeUrl, type ControlPlaneNode, type EtcdRole } from "../../components/index.ts";
import type { StepScope } from "../../in-process/run.ts";
import { Node, type KubeClient } from "../../kube/index.ts";
import { readIfThere } from "../machine/is-there.ts";
import { OperatorError } from "../steps/fault.ts";

/** Who belongs to one of the etcds, asked of all these nodes, with what a node of the control plane has. `root` is its `/`. */
export function membersOf(
  role: EtcdRole,
  nodes: readonly ControlPlaneNode[],
  scope: StepScope & { readonly root: string },
): Membership {
  const { client } = etcdPorts(role, { nodes });
  const endpoints = nodes.map((node) => nodeUrl(node, client));
  return membershipAt(endpoints, scope);
}

/** The same, asked of these client URLs. */
export function membershipAt(
  endpoints: readonly string[],
  { root, ...waiting }: StepScope & { readonly root: string },
): Membership {
  const etcdctl = createEtcdctl({
    program: join(root, etcdctlFiles.program),
    endpoints,
    ca: join(root, etcdctlFiles.ca),
    cert: join(root, etcdctlFiles.cert),
    key: join(root, etcdctlFiles.key),
  });
  return createMembership({ etcdctl, ...waiting });
}

const FILES = "/var/lib/static-pods/kube-apiserver";

/** What a node of the control plane asks its etcds with. */
export const etcdctlFiles = {
  program: "/opt/bin/etcdctl",
  ca: `${FILES}/ca-etcd/ca.crt`,
  cert: `${FILES}/kube-apiserver-etcd-client/tls.crt`,
  key: `${FILES}/kube-apiserver-etcd-client/tls.key`,
} as const;

/** Whether a member of one of the etcds is at this client URL, also where it does not accept what this machine asks with. */
export async function isMemberThere(url: string, root: string, signal: AbortSignal): Promise<boolean> {
  return await isMemberAt(url, (await readIfThere(join(root, etcdctlFiles.ca))) ?? "", signal);
}

/** Why no member answers the machine whose `/` is this folder, where that knows it by itself: its certificate has expired. */
export async function ownFault(root: string, now: number): Promise<string | undefined> {
  const { cert } = etcdctlFiles;
  const pem = await readIfThere(join(root, cert));
  if (pem === undefined) return undefined;
  const { validToDate } = new X509Certificate(pem);
  return validToDate.getTime() < now
    ? `the certificate by which this machine asks, ${cert}, has expired at ${validToDate.toISOString()}`
    : undefined;
}

/** Whether the member's peers reach it at one of these addresses: one that has never started has told no name. */
export const isAt = ({ peerURLs }: Member, addresses: readonly string[]): boolean =>
  peerURLs.some((url) => addresses.includes(hostOf(url)));

/** Learners that have never started, at none of these addresses: joins that came to nothing have left them. etcd takes no other beside one. */
export const abandonedOf = (members: readonly Member[], addresses: readonly string[]): Member[] =>
  members.filter((member) => member.isLearner && !member.started && !isAt(member, addresses));

/**
 * Every address of every other node of the control plane, as the cluster knows them. Those of workers do not count: a kubelet writes its Node's
 * addresses itself, and would keep a member in that is to go.
 */
export async function addressesBeside(client: KubeClient, name: string): Promise<readonly string[]> {
  const others = (await client.list(Node, { labelSelector: CONTROL_PLANE_LABEL })).filter(
    ({ metadata }) => metadata.name !== name,
  );
  return others.flatMap(({ status }) => (status?.addresses ?? []).map(({ address }) => address));
}

/**
 * Sees that each node has its member in both etcds, with a vote; throws an OperatorError that says what is to be done where not. A
 * learner that has never started is left to the join that goes on with it, or to the next one: it costs no quorum.
 */
export async function confirmMembers(
  nodes: readonly ControlPlaneNode[],
  scope: StepScope & { readonly root: string },
): Promise<void> {
  for (const role of ETCDS) {
    const members = await membersOf(role, nodes, scope).readMembers();
    const strangers = members.filter(({ name, started }) => started && !nodes.some((node) => node.name === name));
    const [stranger] = strangers;
    if (stranger !== undefined)
      throw new OperatorError(
        `etcd-${role} has ${nameOf(stranger)}, of which there is no node: take it out by 'gardenadm reset --node ${stranger.name} --machine-is-gone'`,
      );
    const without = nodes.find(({ name }) => !members.some((member) => member.name === name && !member.isLearner));
    if (without !== undefined)
      throw new OperatorError(
        `node ${without.name} has no vote in etcd-${role}: go on there with the line of 'gardenadm token create --control-plane --print-join-command', or take the node out by 'gardenadm reset' on it`,
      );
  }
}
