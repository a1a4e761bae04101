import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { mirrorFiles } from "../registry/mirrors.ts";
import type { Registry } from "../registry/registry.ts";
import { startPid1 } from "./boot.ts";
import type { ProcessIdentity } from "./process.ts";
import type { MachinePaths } from "./record.ts";

/** A machine with a systemd of its own. */
export interface SystemInstructions {
  readonly name: string;
  /** The root file system that it lays its own over. */
  readonly image: string;
  /** What is written into its own before it boots. */
  readonly files: readonly SystemFile[];
}

/** A file of a machine; `rw-r--r--` without a mode. */
export interface SystemFile {
  readonly path: string;
  readonly text: string;
  readonly mode?: number;
}

/** What a machine is known by, and whom it asks for names. */
export interface SystemIdentity {
  readonly name: string;
  readonly address: string;
  readonly nameservers: readonly string[];
}

/** Directories that are no overlay: their programs mount overlays in them, or the host reads them. */
const volumes = ["/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods", "/var/log/journal"];

/**
 * Boots a real systemd as PID 1, which outlives this process, in the network namespace and the cgroups made before. What it
 * changed at earlier boots is there. `journalctl --directory <machine>/volumes/var/log/journal` reads its journal.
 */
export async function bootSystem(
  paths: MachinePaths,
  cgroupFiles: readonly string[],
  instructions: SystemInstructions,
): Promise<ProcessIdentity> {
  const { name, image, files } = instructions;
  await writeSystemFiles(paths, files);
  const env = { IMAGE: image, VOLUMES: volumes.join(" ") };
  return await startPid1(paths, cgroupFiles, { name, script: systemScript, env });
}

/** Writes files into the file system of a machine that does not run. */
export async function writeSystemFiles({ dir }: MachinePaths, files: readonly SystemFile[]): Promise<void> {
  for (const { path, text, mode = 0o644 } of files) {
    const file = join(dir, "system/upper", path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    await chmod(file, mode);
  }
}

/** Empties the disk of a machine that does not run. */
export async function emptyDisk({ dir, cniDir }: MachinePaths): Promise<void> {
  for (const folder of [join(dir, "system"), join(dir, "volumes"), cniDir])
    await rm(folder, { recursive: true, force: true });
  await mkdir(cniDir, { recursive: true });
}

/** The files of a machine that runs user data: where its containerd looks first, and a script that runs at each boot. */
export function userDataFiles(
  identity: SystemIdentity,
  userData: string,
  registry: Registry | undefined,
): readonly SystemFile[] {
  const mirrors = registry === undefined ? [] : Object.entries(mirrorFiles(registry));
  return [
    ...identityFiles(identity),
    ...mirrors.map(([path, text]) => ({ path, text })),
    // Gardener's machines, too, have it mounted there (pkg/provider-local/machine-provider).
    { path: "/etc/machine/userdata", text: userData, mode: 0o700 },
  ];
}

/** The files that say who a machine is, and whom it asks. */
export function identityFiles({ name, address, nameservers }: SystemIdentity): readonly SystemFile[] {
  return [
    { path: "/etc/hostname", text: `${name}\n` },
    { path: "/etc/hosts", text: `127.0.0.1 localhost\n${address} ${name}\n` },
    { path: "/etc/resolv.conf", text: nameservers.map((nameserver) => `nameserver ${nameserver}\n`).join("") },
  ];
}

/**
 * Mounts the machine's file system as a container runtime would, makes it the root, and leaves the rest to the image's own
 * entrypoint. /proc is the host's until then, so /proc/self tells PID 1 its number outside.
 */
const systemScript = `
set -eu
read -r stat < /proc/self/stat
set -- \${stat##*) }
identity="\${stat%% *} \${20}"

system=$MACHINE_DIR/system
root=$system/root
mkdir -p "$root" "$system/upper" "$system/work"
mount -t overlay overlay -o "lowerdir=$IMAGE,upperdir=$system/upper,workdir=$system/work" "$root"
for dir in $VOLUMES; do
  mkdir -p "$MACHINE_DIR/volumes$dir" "$root$dir"
  mount --bind "$MACHINE_DIR/volumes$dir" "$root$dir"
done
mkdir -p "$root/etc/cni/net.d"
mount --bind "$MACHINE_DIR/cni" "$root/etc/cni/net.d"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/net" "$root/dev/pts" "$root/dev/shm"
for device in null zero full random urandom tty kmsg fuse net/tun; do
  [ ! -e "/dev/$device" ] || cp --archive "/dev/$device" "$root/dev/$device"
done
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
mount -t tmpfs tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
echo "$MACHINE_NAME" > /proc/sys/kernel/hostname

echo "$identity" > "$MACHINE_DIR/pid.new"
mv "$MACHINE_DIR/pid.new" "$MACHINE_DIR/pid"
cd "$root"
mkdir -p .host
pivot_root . .host
umount --lazy /.host
exec env --ignore-environment container=perennial PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \\
  /usr/local/bin/entrypoint /sbin/init
`;
