import { ADMIN_KUBECONFIG } from "../../api/names.ts";
import type { KubeClient } from "../../kube/index.ts";
import { filesFor, inlineBytes, type MachineConfig } from "../../node-agent/wanted.ts";
import { clientWith, type Way } from "./way.ts";

/**
 * A client with the rights that every node of a control plane has, out of what its pool's Secret gives it, which leads to the API
 * servers that are there: this node has none yet. Throws where the Secret has no administrator's kubeconfig.
 */
export function administratorOf(config: MachineConfig, hostName: string, way: Way): KubeClient {
  const inline = filesFor(config, hostName).find(({ path }) => path === ADMIN_KUBECONFIG)?.content.inline;
  if (inline === undefined) throw new Error(`the Secret of the control plane's pool has no ${ADMIN_KUBECONFIG}`);
  return clientWith(inlineBytes(ADMIN_KUBECONFIG, inline).toString(), way);
}
