import { nanosOf } from "../../api/schema/quantity.ts";
import type { ControlPlaneContext, WorkerPool } from "../context.ts";
import { placeholderFile, textFile, type Part } from "./file.ts";
import { AGENT_DIRECTORY, AGENT_IN_IMAGE, AGENT_PROGRAM, nodeAgentFiles, type Bootstrap } from "./node-agent.ts";

/**
 * What a machine boots with: it gets its agent, which gets all else. Clouds take 16 KiB of user data at most.
 * machine-controller-manager puts a token that is for this machine alone, and its name, in the place of both placeholders.
 */
export function nodeInit(context: ControlPlaneContext, pool: WorkerPool): Part {
  const script = `${AGENT_DIRECTORY}/init.sh`;
  return {
    files: [
      placeholderFile(`${AGENT_DIRECTORY}/credentials/bootstrap-token`, "<<BOOTSTRAP_TOKEN>>", 0o640),
      placeholderFile(`${AGENT_DIRECTORY}/machine-name`, "<<MACHINE_NAME>>", 0o640),
      textFile(script, initScript(context.images.nodeAgent), 0o755),
      ...nodeAgentFiles(context, pool, bootstrapOf(pool)),
    ],
    units: [
      {
        name: "gardener-node-init.service",
        command: "start",
        enable: true,
        content: initUnit(script),
        filePaths: [script],
      },
    ],
  };
}

/** The size of the disk for the kubelet's data; throws when the pool has no disk of that name. */
function bootstrapOf({ name, kubeletDataVolumeName, dataVolumes = [] }: WorkerPool): Bootstrap {
  if (kubeletDataVolumeName === undefined) return {};
  const size = nanosOf(dataVolumes.find((volume) => volume.name === kubeletDataVolumeName)?.size ?? "");
  if (size === undefined)
    throw new Error(`cannot describe pool ${name}: its data volume ${kubeletDataVolumeName} has no size`);
  return { kubeletDataVolumeSize: Number(size / 1_000_000_000n) };
}

const initUnit = (script: string) => `[Unit]
Description=Gets the machine's agent out of its image and starts it
Requires=containerd.service
After=containerd.service network-online.target
Wants=network-online.target

[Service]
Type=oneshot
Restart=on-failure
RestartSec=5
StartLimitBurst=0
EnvironmentFile=/etc/environment
ExecStart=${script}
StandardOutput=journal+console
StandardError=journal+console

[Install]
WantedBy=multi-user.target
`;

/** containerd's client of version 2 asks for the manifests of all platforms, which a mirror need not have. */
const initScript = (image: string) => `#!/usr/bin/env bash
# Gets gardener-node-agent out of its image, and lets it take over.
set -euo pipefail
image=${image}

options=(--hosts-dir /etc/containerd/certs.d)
case "$(ctr images pull --help)" in *--skip-metadata*) options+=(--skip-metadata) ;; esac
ctr images pull "\${options[@]}" "$image"

mounted="$(mktemp -d)"
leave() { ctr images unmount --rm "$mounted" && rmdir "$mounted"; }
trap leave EXIT
ctr images mount "$image" "$mounted"
install -D --mode 0755 "$mounted${AGENT_IN_IMAGE}" ${AGENT_PROGRAM}
trap - EXIT
leave

exec ${AGENT_PROGRAM} bootstrap --config-dir=${AGENT_DIRECTORY}
`;
