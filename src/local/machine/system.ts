import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { mirrorFiles } from "../registry/mirrors.ts";
import type { Registry } from "../registry/registry.ts";
import { startPid1 } from "./boot.ts";
import type { ProcessIdentity } from "./process.ts";
import type { MachinePaths } from "./record.ts";

/** A machine with a systemd of its own. */
export interface SystemInstructions {
  readonly name: string;
  readonly address: string;
  /** Its name server. */
  readonly gateway: string;
  /** The root file system that it lays its own over. */
  readonly image: string;
  readonly userData: string;
  /** Where its containerd looks first. */
  readonly registry: Registry | undefined;
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
  const { name, image } = instructions;
  const upper = join(paths.dir, "system/upper");
  for (const [path, content] of Object.entries(ownFiles(instructions))) {
    const file = join(upper, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  await chmod(join(upper, userDataPath), 0o700);
  const env = { IMAGE: image, VOLUMES: volumes.join(" ") };
  return await startPid1(paths, cgroupFiles, { name, script: systemScript, env });
}

/** Where Gardener's machines, too, have it mounted (pkg/provider-local/machine-provider). */
const userDataPath = "/etc/machine/userdata";

function ownFiles({ name, address, gateway, userData, registry }: SystemInstructions): Record<string, string> {
  return {
    [userDataPath]: userData,
    "/etc/hostname": `${name}\n`,
    "/etc/hosts": `127.0.0.1 localhost\n${address} ${name}\n`,
    "/etc/resolv.conf": `nameserver ${gateway}\n`,
    ...(registry === undefined ? {} : mirrorFiles(registry)),
  };
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
