import { GARDENER_VERSION, NODE_AGENT_UNIT } from "../../api/names.ts";
import type { ControlPlaneContext, WorkerPool } from "../context.ts";
import { nameOnMachines } from "../networks.ts";
import { imageFile, pathsOf, secretFile, textFile, type File, type Part } from "./file.ts";
import { kubernetesVersion, nodeAgentSecretName } from "./pool.ts";
import { renderYaml } from "../../yaml.ts";

/** Where upstream's gardener-node-agent keeps what is its own. */
export const AGENT_DIRECTORY = "/var/lib/gardener-node-agent";

/** The agent's program. */
export const AGENT_PROGRAM = "/opt/bin/gardener-node-agent";

/** The program's place in its image. */
export const AGENT_IN_IMAGE = "/gardener-node-agent";

/** The server that kubeconfigs on machines name. */
export function machineApiServer(context: ControlPlaneContext): string {
  return `https://${nameOnMachines(context)}`;
}

/** Keeps a machine as the Secret of its pool says: upstream's agent, with its unit, out of its image. */
export function nodeAgent(context: ControlPlaneContext, pool: WorkerPool): Part {
  const files = [...nodeAgentFiles(context, pool), imageFile(AGENT_PROGRAM, context.images.nodeAgent, AGENT_IN_IMAGE)];
  return {
    files,
    units: [{ name: NODE_AGENT_UNIT, enable: true, content: unit, filePaths: pathsOf(files) }],
  };
}

/**
 * The agent's configuration, and the authority of the cluster that it talks to. The name of the first has the version of the
 * agent that is to read it: another one looks for another file.
 */
export function nodeAgentFiles(context: ControlPlaneContext, pool: WorkerPool, bootstrap?: Bootstrap): File[] {
  const configuration = renderYaml({
    apiVersion: "nodeagent.config.gardener.cloud/v1alpha1",
    kind: "NodeAgentConfiguration",
    apiServer: { server: machineApiServer(context), caFile: authority },
    ...(bootstrap === undefined ? {} : { bootstrap }),
    controllers: {
      operatingSystemConfig: {
        secretName: nodeAgentSecretName(context, pool),
        kubernetesVersion: kubernetesVersion(context, pool),
      },
      token: { syncPeriod: "12h0m0s" },
    },
  });
  return [
    textFile(`${AGENT_DIRECTORY}/config-${GARDENER_VERSION}.yaml`, configuration, 0o600),
    secretFile(authority, "ca", "ca.crt", 0o640),
  ];
}

/** What the agent does at a machine's first boot. */
export interface Bootstrap {
  /** In bytes: it formats the unformatted disk of this size for the kubelet. */
  readonly kubeletDataVolumeSize?: number;
}

const authority = `${AGENT_DIRECTORY}/cluster-ca.crt`;

const unit = `[Unit]
Description=Gardener Node Agent
After=network-online.target

[Service]
LimitMEMLOCK=infinity
ExecStart=${AGENT_PROGRAM} --config-dir=${AGENT_DIRECTORY}
Restart=always
RestartSec=5
StandardOutput=journal+console
StandardError=journal

[Install]
WantedBy=multi-user.target
`;
