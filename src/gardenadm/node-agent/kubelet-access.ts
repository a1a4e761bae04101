import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseKubeconfig, renderKubeconfig } from "../../kube/kubeconfig.ts";
import { removeFile, writeWhole } from "../../node-agent/whole-file.ts";
import { certificateState, stateAt, type CertificateState } from "./certificate.ts";
import { readToken } from "./credentials.ts";
import type { AgentIdentity } from "../machine/agent-identity.ts";
import { isThere } from "../machine/is-there.ts";

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

/**
 * Takes the token off the machine once the kubelet is in: both it and the agent, which asks this, have certificates then. Answers whether
 * there is none any more: a kubelet whose certificate has run out while the machine was off comes in anew by it.
 */
export async function dropToken({ root, places }: Pick<AgentIdentity, "root" | "places">): Promise<boolean> {
  const hasToken = (await isThere(places.token)) || (await isThere(places.kubeletBootstrap));
  if (!hasToken) return true;
  if ((await kubeletState(root, places.kubelet)) === "gone") return false;
  await removeFile(places.kubeletBootstrap);
  await removeFile(places.token);
  return true;
}

/** How the kubelet's client certificate is: one that it has asked for itself lies in a file that its kubeconfig names. */
async function kubeletState(root: string, kubeconfig: string): Promise<CertificateState> {
  const now = Date.now();
  try {
    const { "client-certificate": named } = parseKubeconfig(await readFile(kubeconfig, "utf8")).user;
    if (typeof named !== "string") return await certificateState(kubeconfig, now);
    return stateAt(await readFile(join(root, named), "utf8"), now);
  } catch {
    return "gone";
  }
}
