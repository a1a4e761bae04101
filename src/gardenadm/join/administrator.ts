import { ADMIN_KUBECONFIG } from "../../api/names.ts";
import { createKubeClient, parseKubeconfig, renderKubeconfig, type KubeClient } from "../../kube/index.ts";
import { filesFor, inlineBytes, type MachineConfig } from "../../node-agent/wanted.ts";
import type { TrustedCluster } from "./trust.ts";

/**
 * A client with the rights that every node of a control plane has, out of what its pool's Secret gives it, which leads to the API
 * servers that are there: this node has none yet. Throws where the Secret has no administrator's kubeconfig.
 */
export function administratorOf(config: MachineConfig, hostName: string, { server, ca }: TrustedCluster): KubeClient {
  const inline = filesFor(config, hostName).find(({ path }) => path === ADMIN_KUBECONFIG)?.content.inline;
  if (inline === undefined) throw new Error(`the Secret of the control plane's pool has no ${ADMIN_KUBECONFIG}`);
  const { user } = parseKubeconfig(inlineBytes(ADMIN_KUBECONFIG, inline).toString());
  const decoded = (field: string) => Buffer.from(String(user[field]), "base64").toString();
  const kubeconfig = renderKubeconfig({
    ...{ server, ca },
    clientCert: decoded("client-certificate-data"),
    clientKey: decoded("client-key-data"),
  });
  return createKubeClient({ kubeconfig }, { userAgent: "gardenadm" });
}
