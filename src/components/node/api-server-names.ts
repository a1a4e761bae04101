import { isIP } from "node:net";
import { API_SERVER_MARK } from "../../api/names.ts";
import { nameOnMachines } from "../networks.ts";
import type { ControlPlaneContext, WorkerPool } from "../context.ts";
import { isInDns } from "../on-nodes/exposure.ts";
import { textFile, type File, type Part } from "./file.ts";

/** The addresses of the API servers by their name, as `/etc/hosts` has them. */
const NAMES = "/var/lib/gardener-node-agent/api-servers";

/**
 * Lets machines find the API servers of a cluster that carries its own control plane: by lines in `/etc/hosts`, on nodes that have
 * an API server to their own, elsewhere to all addresses for one name: those that an extension gives, else those of the nodes.
 * Where the DNS leads there, workers have no lines, once it does. Lines of others stay. It changes with each node of the control
 * plane, and so is no part of the OperatingSystemConfig.
 */
export function apiServerNames(context: ControlPlaneContext, { controlPlane }: WorkerPool): Part {
  const script = "/var/lib/gardener-node-agent/name-api-servers";
  const files = [
    textFile(script, nameApiServers(nameOnMachines(context)), 0o755),
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
  const { nodes = [], ingress = [] } = context;
  const exposed = ingress.filter((address) => isIP(address) !== 0);
  const addresses = exposed.length > 0 ? exposed : nodes.map(({ addresses: [address] }) => address);
  return [textFile(NAMES, isInDns(context) ? "" : lines(addresses, context), 0o644)];
}

const lines = (addresses: readonly string[], context: ControlPlaneContext): string =>
  addresses.map((address) => `${address} ${nameOnMachines(context)}${API_SERVER_MARK}\n`).join("");

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

/** In one step, as seen by those who look names up. The line that a machine has joined with stays until the DNS knows the name. */
const nameApiServers = (name: string) => `#!/usr/bin/env bash
# Puts the addresses of the API servers into /etc/hosts, in the place of those that were there before.
set -euo pipefail
if [ ! -s ${NAMES} ] && ! getent --service=hosts:dns ahosts ${name} > /dev/null; then exit 0; fi
draft="$(mktemp /etc/hosts.XXXXXX)"
{ grep -v '${API_SERVER_MARK}$' /etc/hosts || true; cat ${NAMES}; } > "$draft"
chmod --reference=/etc/hosts "$draft" 2> /dev/null || chmod 0644 "$draft"
mv "$draft" /etc/hosts
`;
