import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** What the machine's operating system brings along: programs, and containerd. */
export interface MachineImage {
  /** Where links are made, and what they lead to. */
  readonly links: Readonly<Record<string, string>>;
  /** Files by path: which registries its containerd looks into first. */
  readonly files: Readonly<Record<string, string>>;
  /** The image of the container that holds a pod's namespaces. */
  readonly sandboxImage: string;
  /** The tars of images that containerd is given before any unit runs. */
  readonly imageTars: readonly string[];
}

/** Where containerd listens. */
export const containerdSocket = "/run/containerd/containerd.sock";

const imagesCommand = ["/opt/bin/ctr", "--address", containerdSocket, "--namespace", "k8s.io", "images"] as const;

/** What gives the containerd of the machine in which it runs the images of a tar. */
export const importCommand = (tar: string): readonly string[] => [...imagesCommand, "import", tar];

/** What prints the names of the images that the containerd of the machine in which it runs has, one on a line. */
export const listCommand: readonly string[] = [...imagesCommand, "list", "--quiet"];

/** Makes the links and files, writes containerd's configuration, and makes sure of a file that units take for granted. */
export function installImage({ links, files, sandboxImage }: MachineImage): void {
  for (const [link, target] of Object.entries(links)) {
    mkdirSync(dirname(link), { recursive: true });
    rmSync(link, { force: true, recursive: true });
    symlinkSync(target, link);
  }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  mkdirSync("/etc/containerd", { recursive: true });
  writeFileSync("/etc/containerd/config.toml", containerdConfig({ sandboxImage, systemdCgroup: false }));
  writeFileSync("/etc/environment", "", { flag: "a" });
}

/** The unit that runs before all others; restarting it leaves containers alone. */
export const containerdUnit = `[Service]
ExecStart=/opt/bin/containerd --config /etc/containerd/config.toml
Restart=always
RestartSec=1s
`;

/** Who makes the cgroups of containers: systemd, or runc itself. */
interface ContainerdChoice {
  readonly sandboxImage: string;
  readonly systemdCgroup: boolean;
}

/**
 * A configuration of containerd that takes a pod network from whatever brings one. Without CAP_SYS_RESOURCE runc dies of the
 * negative OOM scores that restrict_oom_score_adj prevents.
 */
export function containerdConfig({ sandboxImage, systemdCgroup }: ContainerdChoice): string {
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
      SystemdCgroup = ${systemdCgroup}
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "/etc/containerd/certs.d"
`;
}
