import { TUNNEL_ANNOTATION } from "../../api/annotations.ts";
import { HEALTH_PORT, TUNNEL_AGENT } from "../../components/tunnel/names.ts";
import type { KubeClient } from "../../kube/client.ts";
import { KubeError } from "../../kube/errors.ts";
import { Node, Pod } from "../../kube/kinds.ts";
import { cut } from "./log-words.ts";
import { isReady, nodeSigns, type Readiness } from "./readiness.ts";

/** What is asked of a Shoot's API server, with our rights in it. */
export type ReachClient = Pick<KubeClient, "get" | "list">;

/**
 * Whether the Shoot's API server reaches its nodes' network through the tunnel: it is asked to ask an agent how it is.
 * An answer that takes longer than `patience`, in ms, is none. Without a ready node there is no agent, and nothing to reach.
 * `reason` is upstream's word for it.
 */
export async function tunnelReadiness(shoot: ReachClient, patience = 10_000): Promise<Readiness> {
  const answer = await ask(shoot, agentPath, patience);
  if (answer === "ok" || !(await shoot.list(Node, { keep: nodeSigns })).some(isReady)) return { reached: true };
  const message = `The API server does not reach nodes, pods and Services through the tunnel: ${answer}`;
  return { reached: false, message, reason: "TunnelConnectionBroken" };
}

/**
 * Whether the Shoot's API server reaches pods by the seed's own routes: it is asked to ask CoreDNS how it is. One pod that answers
 * within `patience`, in ms, is enough. Without a ready pod of CoreDNS there is nothing to reach, which other conditions say.
 * `remedy` ends the message.
 */
export async function routeReadiness(
  shoot: ReachClient,
  { remedy = SEED_ROUTES, patience = 10_000 } = {},
): Promise<Readiness> {
  const pods = (await shoot.list(Pod, ofCoreDns)).filter(isReady).slice(0, 3);
  if (pods.length === 0) return { reached: true };
  const answers = await Promise.all(
    pods.map(async ({ metadata }) => await ask(shoot, coreDnsPath(metadata.name), patience)),
  );
  if (answers.includes("OK")) return { reached: true };
  const message = `The API server does not reach pods: ${answers[0]}. ${remedy}`;
  return { reached: false, message, reason: "PodsNotReached" };
}

const SEED_ROUTES = `The Shoot or its Seed is annotated ${TUNNEL_ANNOTATION}=false: give the seed's pods routes to the Shoot's pods, or remove the annotation`;

/** What to do in a cluster whose API server is on the nodes' network. */
export const NODE_ROUTES = "See whether the network plugin's pods run on the nodes of the control plane";

/**
 * What answers is a user's, and may go on for ever, a byte a minute: the call ends after `patience`, in ms, so that its connection is free for
 * the next, and what it says is cut short before it gets into a condition.
 */
async function ask(shoot: ReachClient, path: string, patience: number): Promise<string> {
  const signal = AbortSignal.timeout(patience);
  try {
    const answer = await shoot.get(path, { signal, largestAnswer: LARGEST_ANSWER });
    return typeof answer === "string" ? cut(answer, LONGEST) : "the answer is not text";
  } catch (error) {
    if (signal.aborted) return `no answer within ${patience / 1000} s`;
    if (error instanceof KubeError) return cut(error.message, LONGEST);
    throw error;
  }
}

/** In bytes; `ok` is expected, and a refusal of the API server's may be longer. */
const LARGEST_ANSWER = 16_384;

/** In characters: what a condition has room for. */
const LONGEST = 500;

const agentPath = `/api/v1/namespaces/kube-system/services/${TUNNEL_AGENT}:${HEALTH_PORT}/proxy/readyz`;

/** The port and path at which CoreDNS's plugin `ready` answers. */
const coreDnsPath = (pod: string): string => `/api/v1/namespaces/kube-system/pods/${pod}:8181/proxy/ready`;

/** Users may label pods so, too. */
const ofCoreDns = {
  ...{ namespace: "kube-system", labelSelector: "k8s-app=kube-dns", most: 4_000_000 },
  keep: ({ apiVersion, kind, metadata: { namespace, name }, status }: Pod): Pod => ({
    ...{ apiVersion, kind, metadata: { namespace, name }, spec: {} },
    status: { conditions: status?.conditions ?? [] },
  }),
} as const;
