import { NODE_AGENT_UNIT } from "../../api/names.ts";
import type { ControlPlaneContext, WorkerPool } from "../context.ts";
import { secretFile, textFile, type Part } from "./file.ts";
import { AGENT_DIRECTORY } from "./node-agent.ts";
import { INIT_SCRIPT, ownProgram } from "./own-program.ts";
import { nodeAgentSecretName } from "./pool.ts";
import { renderYaml } from "../../yaml.ts";

/**
 * Keeps a machine of a self-hosted Shoot as the Secret of its pool says: gardenadm's own agent, whose program is there before it.
 * Where its API server is, a worker's machine knows from joining; a node of the control plane uses its own.
 */
export function ownAgent(context: ControlPlaneContext, pool: WorkerPool): Part {
  const role = pool.controlPlane === undefined ? "worker" : "control-plane";
  const ofPool = renderYaml({ pool: pool.name, role, secretName: nodeAgentSecretName(context, pool) });
  const caFile = `${AGENT_DIRECTORY}/cluster-ca.crt`;
  const program = ownProgram(context);
  const files = [
    secretFile(caFile, "ca", "ca.crt", 0o640),
    textFile(`${AGENT_DIRECTORY}/pool.yaml`, ofPool, 0o600),
    ...(role === "control-plane"
      ? [textFile(`${AGENT_DIRECTORY}/config.yaml`, renderYaml({ server: "https://localhost", caFile }), 0o600)]
      : []),
  ];
  const agent = {
    name: NODE_AGENT_UNIT,
    command: "start" as const,
    enable: true,
    content: agentUnit,
    filePaths: [...files.map(({ path }) => path), INIT_SCRIPT],
  };
  const renewal = { name: "gardenadm-renewal.service", command: "stop" as const, enable: false, content: renewalUnit };
  const units = role === "control-plane" ? [agent, renewal] : [agent];
  return { files: [...files, ...(program.files ?? [])], units: [...(program.units ?? []), ...units] };
}

/**
 * Of code that Node has compiled before, it needs a fifth less memory; and another fifth less where V8's optimizing compiler has nothing to
 * do: it would take up the parser of HTTP, which is WebAssembly. glibc gives back what it was given only where it is told how much it may
 * keep: with its own limits, which grow, 4 MB of a join stay for as long as the agent runs.
 */
const agentUnit = `[Unit]
Description=Keeps this machine as the cluster says
After=network-online.target containerd.service
Wants=network-online.target

[Service]
Environment=NODE_COMPILE_CACHE=/var/cache/gardenadm
Environment=MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=65536 MALLOC_MMAP_THRESHOLD_=65536
Environment="NODE_OPTIONS=--max-semi-space-size=1 --max-old-space-size=96"
Environment="NODE_V8_FLAGS=--no-opt --no-sparkplug --no-maglev --liftoff-only --optimize-for-size"
ExecStart=/opt/gardenadm/bin/start gardenadm/node-agent
Restart=always
RestartSec=2

[Install]
WantedBy=multi-user.target
`;

/** The agent starts it when certificates of the control plane have a fifth of their life left. */
const renewalUnit = `[Unit]
Description=Renews certificates of the control plane

[Service]
Type=oneshot
ExecStart=/opt/gardenadm/bin/start gardenadm/renewal
`;
