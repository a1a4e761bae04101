import { createHash } from "node:crypto";
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { ensurePackages } from "../binary/packages.ts";
import { findSources, findVersions, unpackPackages, unpackRecipe, type Tell } from "./debian.ts";
import { once } from "./once.ts";

/**
 * The folder of a root file system with a real systemd, containerd and what a kubelet needs, made from the host's own
 * distribution. One is made for each set of package versions and for each way to make it; machines lay theirs over it, so
 * it is never changed. The first takes 40 s. Needs root, and Debian or a child of it.
 */
export async function ensureRootFilesystem(cache: string, tell: Tell = () => {}): Promise<string> {
  await ensurePackages({ names: ["mmdebstrap"], onProgress: tell });
  const sources = await findSources(tell);
  const versions = await findVersions(packages);
  const key = createHash("sha256").update([...sources, ...versions].join("\n"));
  const recipe = [fileURLToPath(import.meta.url), unpackRecipe, ...ownFiles().map(({ source }) => source)];
  for (const file of recipe) key.update(await readFile(file));
  const folder = join(cache, "images", `machine-${key.digest("hex").slice(0, 12)}`);
  await mkdir(dirname(folder), { recursive: true });
  await once(folder, async () => {
    tell(`making a machine's root file system of ${packages.length} packages and what they need`);
    const draft = await mkdtemp(join(dirname(folder), ".machine-"));
    try {
      const root = join(draft, "root");
      await unpackPackages(root, { packages, sources, variant: "minbase" });
      await furnish(root);
      await rename(root, folder);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  });
  return folder;
}

/** What Gardener's node image has, and what its units, the kubelet and CNI plugins call. */
const packages = [
  ...["systemd", "systemd-sysv", "dbus", "kmod", "procps", "util-linux", "mount", "ca-certificates", "curl", "jq"],
  ...["containerd", "runc", "containernetworking-plugins", "iptables", "iproute2", "conntrack", "ethtool", "socat"],
  ...["logrotate", "openssh-server", "sudo", "e2fsprogs", "nftables"],
] as const;

/** Lays the files of deploy/images/machine over it, and takes out what must not be the same in two machines. */
async function furnish(root: string): Promise<void> {
  const inRoot = (path: string) => join(root, path);
  for (const { source, path, mode } of ownFiles()) {
    await mkdir(dirname(inRoot(path)), { recursive: true });
    await cp(source, inRoot(path));
    await chmod(inRoot(path), mode);
  }
  // Network plugins install themselves where Gardener has containerd look for them.
  await cp(inRoot("/usr/lib/cni"), inRoot("/opt/cni/bin"), { recursive: true });
  await writeFile(inRoot("/etc/machine-id"), "");
  await writeFile(inRoot("/etc/environment"), "", { flag: "a" });
  for (const name of await readdir(inRoot("/etc/ssh")))
    if (name.startsWith("ssh_host_")) await rm(inRoot(`/etc/ssh/${name}`));
  const systemctl = async (...args: readonly string[]) => await execa("systemctl", [`--root=${root}`, ...args]);
  await systemctl("enable", "run-userdata.service", "containerd.service");
  // They would show, and let change, what is the host's.
  await systemctl("mask", "sys-kernel-debug.mount", "sys-kernel-tracing.mount", "dev-hugepages.mount");
}

interface OwnFile {
  readonly source: string;
  readonly path: string;
  readonly mode: number;
}

function ownFiles(): readonly OwnFile[] {
  const source = (name: string) => fileURLToPath(new URL(`../../../deploy/images/machine/${name}`, import.meta.url));
  const file = (name: string, path: string, mode = 0o644) => ({ source: source(name), path, mode });
  return [
    file("entrypoint", "/usr/local/bin/entrypoint", 0o755),
    file("run-userdata", "/usr/local/bin/run-userdata", 0o755),
    file("run-userdata.service", "/etc/systemd/system/run-userdata.service"),
    file("containerd.toml", "/etc/containerd/config.toml"),
    file("network.conflist.template", "/etc/containerd/network.conflist.template"),
    file("ssh-keys.conf", "/etc/systemd/system/ssh.service.d/keys.conf"),
    file("journald.conf", "/etc/systemd/journald.conf.d/machine.conf"),
  ];
}
