import { isIP } from "node:net";
import { canonicalName } from "../../dns/domain.ts";
import { readCertificateRequest } from "../../kube/certificates/read-request.ts";
import { decideRequest, isPending, type CertificateDecision } from "../../kube/certificates/signing-request.ts";
import type { KubeClient } from "../../kube/client.ts";
import { createController } from "../../kube/controller.ts";
import { CertificateSigningRequest, Node } from "../../kube/kinds.ts";
import { createReflector } from "../../kube/watch.ts";
import type { Logger } from "../../log.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import { quiet } from "../cluster/away.ts";
import { judgeDemand, SIGNERS, type Judgement } from "./judge.ts";
import { claimNodeName } from "../cluster/node-name.ts";

/** What approves certificates of nodes; any number may do so at once. */
export interface NodeApprover {
  start(): void;
  stop(): Promise<void>;
}

/**
 * Approves and denies what agents and kubelets of a self-hosted Shoot ask for, by `judgeDemand`. A kubelet whose Node does not
 * have the names yet that it wants to serve under waits for a minute, or for `longestWait` in ms. The client is an administrator's.
 */
export function createNodeApprover(client: KubeClient, log: Logger, { longestWait = 60_000 } = {}): NodeApprover {
  const signers: readonly string[] = Object.values(SIGNERS);
  const queue = createController({
    name: "node-approver",
    log,
    reconcile: async ({ name }) => {
      const isWanted = requests.get(name) !== undefined;
      return isWanted ? await consider({ client, log, longestWait }, name) : undefined;
    },
  });
  const requests = createReflector(client, CertificateSigningRequest, {
    log: quiet(log),
    keep: standingOf,
    onEvent: ({ object, type }) => {
      if (type !== "deleted" && signers.includes(object.spec.signerName) && isPending(object))
        queue.enqueue({ name: object.metadata.name });
    },
  });
  return {
    start() {
      queue.start();
      requests.start();
    },
    async stop() {
      await Promise.all([requests.stop(), queue.stop()]);
    },
  };
}

/** In ms: for so long a kubelet without its addresses waits to be looked at again. */
const RECHECK = 5_000;

interface Approval {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly longestWait: number;
}

/** Of a request, whether it waits and for whom: nodes make as many as they like, of a megabyte and more, and what is asked for is read when its turn comes. */
function standingOf({
  apiVersion,
  kind,
  metadata,
  spec,
  status,
}: CertificateSigningRequest): CertificateSigningRequest {
  const { name, uid, resourceVersion } = metadata;
  const conditions = status?.conditions?.map(({ type }) => ({ type }));
  return {
    ...{ apiVersion, kind, metadata: { name, ...omitUndefined({ uid, resourceVersion }) } },
    spec: { signerName: spec.signerName, request: "" },
    status: omitUndefined({ conditions }),
  };
}

async function consider(
  { client, log, longestWait }: Approval,
  wanted: string,
): Promise<void | { requeueAfter: number }> {
  const request = await client.read(CertificateSigningRequest, { name: wanted });
  if (request === undefined || !isPending(request)) return;
  const judgement = judge(request);
  if (judgement === undefined) return;
  const age = Date.now() - Date.parse(request.metadata.creationTimestamp ?? "");
  const decision = await decisionOn(client, judgement);
  if ("later" in decision && age < longestWait) return { requeueAfter: RECHECK };
  await decideRequest(client, request, decision);
  const { username: user } = request.spec;
  const { name } = request.metadata;
  if ("approved" in decision) log.info({ request: name, user }, "certificate approved");
  else log.warn({ request: name, user, refused: decision.denied }, "certificate denied");
}

function judge({ spec }: CertificateSigningRequest): Judgement | undefined {
  const { username = "", groups = [], usages = [], signerName: signer } = spec;
  const request = readCertificateRequest(spec.request);
  return judgeDemand({ signer, usages, request, requester: { name: username, groups } });
}

/** A decision; `later`, it may be another one. */
type Decision = CertificateDecision | { readonly denied: string; readonly later: true };

async function decisionOn(client: KubeClient, judgement: Judgement): Promise<Decision> {
  if ("refused" in judgement) return { denied: judgement.refused };
  if ("serves" in judgement) return await decisionOnHosts(client, judgement.node, judgement.serves);
  const taken = await claimNodeName(client, judgement);
  return taken === undefined ? APPROVED : { denied: taken };
}

const APPROVED: Decision = { approved: "It is what a node of this name may be." };

/**
 * A kubelet itself writes where its Node is: an address or name that another Node has, too, is not believed. Who checks a certificate does
 * not tell capitals from small letters.
 */
async function decisionOnHosts(client: KubeClient, name: string, hosts: readonly string[]): Promise<Decision> {
  const nodes = await client.list(Node, { keep: addressed });
  for (const other of nodes.filter(({ metadata }) => metadata.name !== name)) {
    const taken = [other.metadata.name, ...addressesOf(other)].map(canonicalHost);
    const foreign = hosts.find((host) => taken.includes(canonicalHost(host)));
    if (foreign !== undefined) return { denied: `${foreign} is an address of Node ${other.metadata.name}` };
  }
  const own = nodes.filter(({ metadata }) => metadata.name === name).flatMap(addressesOf);
  const unknown = hosts.find((host) => !own.includes(host));
  return unknown === undefined ? APPROVED : { denied: `${unknown} is not an address of Node ${name}`, later: true };
}

const canonicalHost = (host: string): string =>
  isIP(host) === 6 ? new URL(`http://[${host}]`).hostname.slice(1, -1) : canonicalName(host);

/** A kubelet writes the rest of its Node, and may fill a megabyte with it. */
function addressed({ apiVersion, kind, metadata: { name }, status }: Node): Node {
  return { apiVersion, kind, metadata: { name }, status: omitUndefined({ addresses: status?.addresses }) };
}

const addressesOf = ({ status }: Node): string[] => (status?.addresses ?? []).map(({ address }) => address);
