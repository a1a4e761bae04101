import type { KubeClient } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { readClusterContext } from "../cluster/control-plane.ts";
import { tryTurn } from "../cluster/turn.ts";
import { exposeControlPlane } from "../cluster/exposure.ts";

/** In ms: how long is waited for an extension, while no other changes the control plane; it may go on by itself afterwards. */
const LONGEST = 20_000;

/**
 * Has what leads to the control plane lead to its healthy nodes. Answers "waiting" where another node, or a command, changes the control
 * plane. Throws as `exposeControlPlane` does.
 */
export async function renewExposure(
  { client, hostName, log }: { readonly client: KubeClient; readonly hostName: string; readonly log: Logger },
  signal: AbortSignal,
): Promise<"done" | "waiting"> {
  const turn = await tryTurn(client, hostName);
  if (turn === undefined) return "waiting";
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(LONGEST)]);
    const tell = (missing: string) => log.info({ missing }, "waiting for what exposes the control plane");
    await exposeControlPlane(client, await readClusterContext(client), { signal: limited, tell });
    return "done";
  } finally {
    await turn.end();
  }
}
