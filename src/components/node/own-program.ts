import type { ControlPlaneContext } from "../context.ts";
import { textFile, type Part } from "./file.ts";
import { AGENT_DIRECTORY } from "./node-agent.ts";

/** The unit that gives a machine the cluster's gardenadm, which is its agent, too. */
export const NODE_INIT = "gardener-node-init.service";

/** What the agent is started anew for: another gardenadm is wanted. */
export const INIT_SCRIPT = `${AGENT_DIRECTORY}/init.sh`;

/** Has the machine take the cluster's gardenadm out of its image, unless it has that one. */
export function ownProgram({ images }: Pick<ControlPlaneContext, "images">): Part {
  return {
    files: [textFile(INIT_SCRIPT, script(images.gardenadm), 0o755)],
    units: [{ name: NODE_INIT, command: "start", enable: true, content: unit, filePaths: [INIT_SCRIPT] }],
  };
}

const unit = `[Unit]
Description=Takes gardenadm out of its image
Requires=containerd.service
After=containerd.service network-online.target
Wants=network-online.target
Before=gardener-node-agent.service

[Service]
Type=oneshot
RemainAfterExit=true
ExecStart=${INIT_SCRIPT}

[Install]
WantedBy=multi-user.target
`;

/** Whole or not at all. containerd's client of version 2 asks for the manifests of all platforms, which a mirror need not have. */
const script = (image: string) => `#!/usr/bin/env bash
# Takes gardenadm, with its own Node.js, out of its image.
set -euo pipefail
image=${image}
folder=/opt/gardenadm

[ "$(cat "$folder/.image" 2>/dev/null || true)" != "$image" ] || exit 0
images() { ctr --namespace k8s.io images "$@"; }
if [ -z "$(images list --quiet "name==$image")" ]; then
  options=(--hosts-dir /etc/containerd/certs.d)
  case "$(images pull --help)" in *--skip-metadata*) options+=(--skip-metadata) ;; esac
  images pull "\${options[@]}" "$image"
fi

mounted="$(mktemp -d)"
leave() { images unmount --rm "$mounted" && rmdir "$mounted"; }
trap leave EXIT
images mount "$image" "$mounted"
rm -rf "$folder.new" "$folder.old"
cp --archive "$mounted$folder" "$folder.new"
[ ! -e "$folder" ] || mv "$folder" "$folder.old"
mv "$folder.new" "$folder"
rm -rf "$folder.old"
mkdir -p /opt/bin
ln -sf "$folder/bin/gardenadm" /opt/bin/gardenadm
`;
