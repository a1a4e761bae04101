import { unitCommand } from "../command-line.ts";
import type { ControlPlaneContext, WorkerPool } from "../context.ts";
import { nodeLabels } from "./pool.ts";

/** The kubelet's systemd unit: exactly one ExecStart, which webhooks and operating systems take apart and extend. */
export function kubeletUnit(context: ControlPlaneContext, pool: WorkerPool) {
  const command = unitCommand("/opt/bin/kubelet", {
    "bootstrap-kubeconfig": "/var/lib/kubelet/kubeconfig-bootstrap",
    config: "/var/lib/kubelet/config/kubelet",
    kubeconfig: "/var/lib/kubelet/kubeconfig-real",
    "cert-dir": "/var/lib/kubelet/pki",
    "node-labels": Object.entries(nodeLabels(context, pool))
      .filter(([key]) => maySetItself(key))
      .map(([key, value]) => `${key}=${value}`)
      .toSorted(),
    v: 2,
  });
  const content = `[Unit]
Description=kubelet daemon
Documentation=https://kubernetes.io/docs/admin/kubelet
After=containerd.service
Wants=containerd.service

[Install]
WantedBy=multi-user.target

[Service]
Restart=always
RestartSec=5
ExecStart=${command}
`;
  return { name: "kubelet.service", command: "start", enable: true, content, filePaths: kubeletFiles } as const;
}

/** Files of which a change restarts the kubelet. */
const kubeletFiles = ["/var/lib/kubelet/config/kubelet", "/var/lib/kubelet/ca.crt"];

/** A kubelet refuses to give itself labels of Kubernetes' own domains, but for a few. */
function maySetItself(label: string): boolean {
  const domain = label.split("/").length > 1 ? (label.split("/")[0] ?? "") : "";
  if (!/(^|\.)(kubernetes|k8s)\.io$/.test(domain)) return true;
  return /(^|\.)(kubelet|node)\.kubernetes\.io$/.test(domain);
}
