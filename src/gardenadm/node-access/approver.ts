import type { KubeClient } from "../../kube/client.ts";
import { createController } from "../../kube/controller.ts";
import { isConflict, isNotFound } from "../../kube/errors.ts";
import { CertificateSigningRequest, Node } from "../../kube/kinds.ts";
import { refOf } from "../../kube/path.ts";
import { createReflector } from "../../kube/watch.ts";
import type { Logger } from "../../log.ts";
import { quiet } from "../cluster/away.ts";
import { judgeDemand, SIGNERS, type CertificateDemand, type Judgement } from "./judge.ts";
import { claimNodeName } from "../cluster/node-name.ts";

/** What approves certificates of nodes; any number may do so at once. */
export interface NodeApprover {
  start(): void;
  stop(): Promise<void>;
}

/**
 * Approves and denies what agents and kubelets of a self-hosted Shoot ask for, by `judgeDemand`. A kubelet whose Node does not
 * have the names yet that it wants to serve under waits. The client is an administrator's.
 */
export function createNodeApprover(client: KubeClient, log: Logger): NodeApprover {
  const signers: readonly string[] = Object.values(SIGNERS);
  const queue = createController({
    name: "node-approver",
    log,
    reconcile: async ({ name }) => await consider(client, requests.get(name), log),
  });
  const requests = createReflector(client, CertificateSigningRequest, {
    log: quiet(log),
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

async function consider(
  client: KubeClient,
  request: CertificateSigningRequest | undefined,
  log: Logger,
): Promise<void | { requeueAfter: number }> {
  if (request === undefined || !isPending(request)) return;
  const judgement = await judge(request);
  if (judgement === undefined) return;
  const { name } = request.metadata;
  if ("serves" in judgement && !(await isItsOwn(client, judgement.node, judgement.serves)))
    return { requeueAfter: RECHECK };
  const refused = await refusalOf(client, judgement);
  await decide(client, request, refused);
  const user = request.spec.username;
  if (refused === undefined) log.info({ request: name, user }, "certificate approved");
  else log.warn({ request: name, user, refused }, "certificate denied");
}

async function judge({ spec }: CertificateSigningRequest): Promise<Judgement | undefined> {
  // Agents that judge nothing do without what it loads.
  const { readRequest } = await import("../../activities/secrets/certificate-request.ts");
  const identity = readRequest(Buffer.from(spec.request, "base64").toString());
  if (identity === undefined) return undefined;
  const { username = "", groups = [], usages = [], signerName: signer } = spec;
  const demand: CertificateDemand = {
    ...{ signer, usages, subject: identity, hosts: identity.hosts },
    requester: { name: username, groups },
  };
  return judgeDemand(demand);
}

async function refusalOf(client: KubeClient, judgement: Judgement): Promise<string | undefined> {
  if ("refused" in judgement) return judgement.refused;
  return "role" in judgement ? await claimNodeName(client, judgement) : undefined;
}

/** A kubelet says itself where its Node is: what another Node says, too, is not to be believed. */
async function isItsOwn(client: KubeClient, name: string, hosts: readonly string[]): Promise<boolean> {
  const nodes = await client.list(Node);
  const own = nodes.find(({ metadata }) => metadata.name === name);
  const others = nodes.filter((node) => node !== own).flatMap(addressesOf);
  const known = own === undefined ? [] : addressesOf(own);
  return hosts.length > 0 && hosts.every((host) => known.includes(host) && !others.includes(host));
}

const addressesOf = ({ status }: Node): string[] => (status?.addresses ?? []).map(({ address }) => address);

/** As the request was read: where another has decided meanwhile, that holds. */
async function decide(
  client: KubeClient,
  request: CertificateSigningRequest,
  refused: string | undefined,
): Promise<void> {
  const condition =
    refused === undefined
      ? { type: "Approved", reason: "RequestApproved", message: "It is what a node of this name may be." }
      : { type: "Denied", reason: "RequestDenied", message: refused };
  const { resourceVersion = "" } = request.metadata;
  const patch = { metadata: { resourceVersion }, status: { conditions: [{ ...condition, status: "True" }] } };
  await client.patch(refOf(request), patch, { subresource: "approval" }).catch((error: unknown) => {
    if (!isConflict(error) && !isNotFound(error)) throw error;
  });
}

const isPending = ({ status }: CertificateSigningRequest): boolean => (status?.conditions ?? []).length === 0;
