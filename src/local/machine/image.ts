import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** What the machine's operating system brings along: programs, containerd and the way for an agent to change the machine. */
export interface MachineImage {
  /** Where links are made, and what they lead to. */
  readonly links: Readonly<Record<string, string>>;
  /** The image of the container that holds a pod's namespaces. */
  readonly sandboxImage: string;
  /** The tars of images that containerd is given before any unit runs. */
  readonly imageTars: readonly string[];
}

/** What gives the containerd of the machine in which it runs the images of a tar. */
export const importCommand = (tar: string): readonly string[] => [
  ...["/opt/bin/ctr", "--address", containerdSocket, "--namespace", "k8s.io"],
  ...["images", "import", tar],
];

/** Where containerd listens. */
export const containerdSocket = "/run/containerd/containerd.sock";

/** Where an agent in the machine leaves requests for the runner, and finds the answers. */
export const requestsDirectory = "/run/perennial-machine/requests";

/** Makes the links and writes containerd's configuration and `/opt/bin/apply-machine-config`. */
export function installImage({ links, sandboxImage }: MachineImage): void {
  for (const [link, target] of Object.entries(links)) {
    mkdirSync(dirname(link), { recursive: true });
    rmSync(link, { force: true, recursive: true });
    symlinkSync(target, link);
  }
  mkdirSync("/etc/containerd", { recursive: true });
  writeFileSync("/etc/containerd/config.toml", containerdConfig(sandboxImage));
  writeFileSync("/opt/bin/apply-machine-config", applyScript, { mode: 0o755 });
  mkdirSync(requestsDirectory, { recursive: true, mode: 0o700 });
}

/** The unit that runs before all others; restarting it leaves containers alone. */
export const containerdUnit = `[Service]
ExecStart=/opt/bin/containerd --config /etc/containerd/config.toml
Restart=always
RestartSec=1s
`;

/** Without CAP_SYS_RESOURCE runc dies of the negative OOM scores that restrict_oom_score_adj prevents. */
function containerdConfig(sandboxImage: string): string {
  return `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "${containerdSocket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${sandboxImage}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/opt/cni/bin"
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "/etc/containerd/certs.d"
`;
}

const applyScript = `#!/bin/bash
# Applies a UserData JSON file to this machine and waits until that is done.
set -eu
[ $# -eq 1 ] || { echo "usage: apply-machine-config FILE" >&2; exit 2; }
request=$(mktemp "${requestsDirectory}/XXXXXXXXXX")
cp -- "$1" "$request"
mv "$request" "$request.json"
until [ -e "$request.done" ] || [ -e "$request.failed" ]; do sleep 0.1; done
if [ -e "$request.failed" ]; then
  cat "$request.failed" >&2
  rm -f "$request.failed"
  exit 1
fi
rm -f "$request.done"
`;
