import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { renderKubeconfig } from "../../kube/kubeconfig.ts";
import { removeFile, writeWhole } from "../../node-agent/whole-file.ts";
import { readToken, type AgentIdentity } from "./credentials.ts";
import { isThere } from "../is-there.ts";

/**
 * As long as the machine has a bootstrap token, gives it to the kubelet, which comes in with it where it has no certificate, or
 * none that is good. It is written before the kubelet starts.
 */
export async function giveKubeletToken({ root, places, configuration }: AgentIdentity): Promise<void> {
  const token = await readToken(places.token);
  if (token === undefined) return;
  const ca = await readFile(join(root, configuration.caFile), "utf8");
  const bytes = Buffer.from(renderKubeconfig({ server: configuration.server, ca, token }));
  const present = await readFile(places.kubeletBootstrap).catch(() => undefined);
  if (present?.equals(bytes) !== true) await writeWhole(places.kubeletBootstrap, bytes, 0o600);
}

/** Takes the token off the machine once the kubelet is in: both it and the agent, which asks this, have certificates then. */
export async function dropToken({ places }: Pick<AgentIdentity, "places">): Promise<void> {
  if (!(await isThere(places.kubelet))) return;
  await removeFile(places.kubeletBootstrap);
  await removeFile(places.token);
}
