import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ADMIN_KUBECONFIG } from "../../api/names.ts";
import { parseKubeconfig } from "../../kube/index.ts";
import { OperatorError } from "../steps/fault.ts";
import { agentPlacesIn } from "../machine/agent-places.ts";
import { authorityHashes } from "../cluster/authorities.ts";

/**
 * Throws an OperatorError where a kubeconfig of the machine whose `/` is this folder knows none of the authorities, in PEM, of the
 * cluster that it is to join: with that one's place and token, it would be cut off from its own. One that was rebuilt is another one.
 */
export async function refuseOtherCluster(root: string, authorities: string): Promise<void> {
  const wanted = authorityHashes(authorities, "the cluster to join");
  const { kubeconfig, kubelet } = agentPlacesIn(root);
  for (const file of [kubeconfig, kubelet, join(root, ADMIN_KUBECONFIG)]) {
    const known = await hashesIn(file);
    if (known.length === 0 || known.some((hash) => wanted.includes(hash))) continue;
    throw new OperatorError(
      "this machine is a node of another cluster: take it out by 'gardenadm reset', or, where that cluster is gone, by 'gardenadm reset --machine-only'",
    );
  }
}

/** Of the authorities that a kubeconfig has in it; none where it cannot be read, by which no cluster is reached either. */
async function hashesIn(file: string): Promise<readonly string[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  try {
    const data = parseKubeconfig(text).cluster["certificate-authority-data"];
    return authorityHashes(Buffer.from(String(data), "base64").toString(), file);
  } catch {
    return [];
  }
}
