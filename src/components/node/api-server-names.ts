import { nameOnMachines } from "../networks.ts";
import { poolsOf, type ControlPlaneContext, type WorkerPool } from "../context.ts";
import { textFile, type File, type Part } from "./file.ts";

/** The addresses of the API servers by their name, as `/etc/hosts` has them. */
const NAMES = "/var/lib/gardener-node-agent/api-servers";

/**
 * Lets machines find the API servers of a cluster that carries its own control plane, as long as nothing else does: by lines in
 * `/etc/hosts`, all addresses for one name, and on nodes that have one, their own. Lines of others stay. Empty where the DNS or an
 * extension leads there. It changes with each node of the control plane, and so is no part of the OperatingSystemConfig.
 */
export function apiServerNames(context: ControlPlaneContext, { controlPlane }: WorkerPool): Part {
  if (poolsOf(context).some((pool) => pool.controlPlane?.exposure !== undefined)) return {};
  const script = "/var/lib/gardener-node-agent/name-api-servers";
  const files = [
    textFile(script, nameApiServers, 0o755),
    ...(controlPlane === undefined ? forWorkers(context) : [textFile(NAMES, lines(["127.0.0.1"], context), 0o644)]),
  ];
  const paths = files.map(({ path }) => path);
  return {
    files,
    units: [
      { name: "name-api-servers.service", command: "start", enable: true, content: unit(script), filePaths: paths },
    ],
  };
}

function forWorkers(context: ControlPlaneContext): File[] {
  const addresses = (context.nodes ?? []).map(({ addresses: [address] }) => address);
  return [textFile(NAMES, lines(addresses, context), 0o644)];
}

const lines = (addresses: readonly string[], context: ControlPlaneContext): string =>
  addresses.map((address) => `${address} ${nameOnMachines(context)} # API server\n`).join("");

const unit = (script: string) => `[Unit]
Description=Names the API servers of the cluster
Before=kubelet.service gardener-node-agent.service

[Service]
Type=oneshot
RemainAfterExit=true
ExecStart=${script}

[Install]
WantedBy=multi-user.target
`;

/** In one step, as seen by those who look names up. */
const nameApiServers = `#!/usr/bin/env bash
# Puts the addresses of the API servers into /etc/hosts, in the place of those that were there before.
set -euo pipefail
draft="$(mktemp /etc/hosts.XXXXXX)"
{ grep -v ' # API server$' /etc/hosts || true; cat ${NAMES}; } > "$draft"
chmod 0644 "$draft"
mv "$draft" /etc/hosts
`;
