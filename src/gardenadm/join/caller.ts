import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ADMIN_KUBECONFIG, type NodeRole } from "../../api/names.ts";
import { renderBootstrapToken, type BootstrapToken, type KubeClient } from "../../kube/index.ts";
import { agentPlacesIn } from "../machine/agent-places.ts";
import { readIfThere } from "../machine/is-there.ts";
import { certificateState } from "../node-agent/certificate.ts";
import { clientByToken, clientWith, type Way } from "./way.ts";

/** As what a machine asks its cluster while it joins. */
export interface Caller {
  readonly client: KubeClient;
  /** The bootstrap token that it asks with, where the machine has nothing else. */
  readonly token?: BootstrapToken;
}

/**
 * As what the machine whose `/` is `root` can ask: the agent that it has been, as long as that one's certificate is good; on a node of
 * the control plane, the administrator; else the bearer of the token.
 */
export async function findCaller(
  root: string,
  { role, token }: { readonly role: NodeRole; readonly token: BootstrapToken },
  way: Way,
): Promise<Caller> {
  const { kubeconfig } = agentPlacesIn(root);
  if ((await certificateState(kubeconfig, Date.now())) !== "gone")
    return { client: clientWith(await readFile(kubeconfig, "utf8"), way) };
  const administrator = role === "control-plane" ? await readIfThere(join(root, ADMIN_KUBECONFIG)) : undefined;
  if (administrator !== undefined) return { client: clientWith(administrator, way) };
  return { client: clientByToken(renderBootstrapToken(token), way), token };
}
