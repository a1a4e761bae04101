import { setTimeout as sleep } from "node:timers/promises";
import { HEALTH_PORT, TUNNEL_AGENT } from "../../components/tunnel/names.ts";
import type { KubeClient } from "../../kube/client.ts";
import { KubeError } from "../../kube/errors.ts";
import { Node } from "../../kube/kinds.ts";
import { isReady, type Readiness } from "./readiness.ts";

/**
 * Whether the Shoot's API server reaches its nodes' network: it is asked to ask an agent, through the tunnel, how that is.
 * An answer that takes longer than `patience`, in ms, is none. Without a ready node there is no agent, and nothing to reach.
 * `reason` is upstream's word for it.
 */
export async function tunnelReadiness(shoot: Pick<KubeClient, "get" | "list">, patience = 10_000): Promise<Readiness> {
  const answer = await Promise.race([ask(shoot), sleep(patience, "its agents do not answer in time", { ref: false })]);
  if (answer === "ok" || !(await shoot.list(Node)).some(isReady)) return { reached: true };
  const message = `The API server does not reach nodes, pods and Services through the tunnel: ${answer}`;
  return { reached: false, message, reason: "TunnelConnectionBroken" };
}

async function ask(shoot: Pick<KubeClient, "get">): Promise<string> {
  try {
    return String(await shoot.get(path));
  } catch (error) {
    if (error instanceof KubeError) return error.message;
    throw error;
  }
}

const path = `/api/v1/namespaces/kube-system/services/${TUNNEL_AGENT}:${HEALTH_PORT}/proxy/readyz`;
