import { existsSync, mkdirSync, writeFileSync } from "node:fs";

/** Writes the kubeconfig with which a kubelet without a certificate asks for one; leaves one with a certificate alone. */
export function writeBootstrapKubeconfig(
  { server, caFile }: { readonly server: string; readonly caFile: string },
  token: string,
): void {
  if (existsSync("/var/lib/kubelet/kubeconfig-real")) return;
  const name = "kubelet-bootstrap";
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server, "certificate-authority": caFile } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  };
  mkdirSync("/var/lib/kubelet", { recursive: true });
  writeFileSync("/var/lib/kubelet/kubeconfig-bootstrap", JSON.stringify(kubeconfig), { mode: 0o600 });
}
