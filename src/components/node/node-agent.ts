import { internalApiServerName } from "../networks.ts";
import type { ControlPlaneContext } from "../context.ts";

const directory = "/etc/perennial-node-agent";

/** Where the agent finds the kubeconfig with which a new machine begins. */
export const bootstrapKubeconfigPath = `${directory}/bootstrap-kubeconfig`;

/** The agent's program on a machine. */
export const nodeAgentPath = `${directory}/run.sh`;

/** Name of the Secret in the Shoot's namespace with the bootstrap token, and a kubeconfig made of it. */
export const BOOTSTRAP_TOKEN_SECRET = "bootstrap-token";

/** The server that kubeconfigs on machines name. */
export function machineApiServer(context: ControlPlaneContext): string {
  return `https://${internalApiServerName(context) ?? "kube-apiserver"}`;
}

/**
 * The agent of a machine: keeps its files and units as the Secret of its pool says. How a changed configuration is
 * taken up is the operating system's business: its controller replaces the RELOAD-CLOUD-CONFIG placeholder (GEP-1).
 */
export function nodeAgentScript(secretName: string): string {
  // It stands in a shell script, and a name that the API server takes has nothing that a shell expands.
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(secretName))
    throw new Error(`cannot write the node agent: ${JSON.stringify(secretName)} is no name of a Secret`);
  return `#!/bin/sh
# Keeps this machine's files and units as Secret kube-system/${secretName} says.
set -u
umask 077
cd ${directory}
pause=2

fetch() {
  for kubeconfig in /var/lib/kubelet/kubeconfig-real ${bootstrapKubeconfigPath}; do
    [ -s "$kubeconfig" ] || continue
    /opt/bin/kubectl --kubeconfig "$kubeconfig" --request-timeout 20s --namespace kube-system \\
      get secret ${secretName} --output 'go-template={{index .data "config.json" | base64decode}}' \\
      > config.json.new && [ -s config.json.new ] && return 0
  done
  return 1
}

while true; do
  if fetch; then
    if cmp -s config.json.new config.json.applied; then
      pause=30
    else
      cp config.json.new config.json
      {RELOAD-CLOUD-CONFIG-WITH-PATH:${directory}/config.json} && cp config.json config.json.applied
    fi
  fi
  sleep "$pause"
done
`;
}

/** The agent's systemd unit. */
export const nodeAgentUnit = {
  name: "perennial-node-agent.service",
  command: "start",
  enable: true,
  content: `[Unit]
Description=Keeps the machine as its cluster says
After=network-online.target containerd.service
Wants=network-online.target

[Install]
WantedBy=multi-user.target

[Service]
Restart=always
RestartSec=5
ExecStart=/bin/sh ${nodeAgentPath}
`,
} as const;
