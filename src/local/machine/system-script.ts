/** The parts of a machine's boot that depend on its init system. */
export interface SystemInit {
  /** Mounts the file system at `$root`. */
  readonly root: string;
  /** Puts into it what no disk has, when all else is mounted. */
  readonly bring?: string;
  /** Becomes PID 1 with that file system as the root. */
  readonly become: string;
}

/**
 * Mounts the machine's file system as a container runtime would, makes it the root, and leaves the rest to the image's own
 * entrypoint. /proc is the host's until then, so /proc/self tells PID 1 its number outside.
 */
export const systemScript = ({ root, bring = "", become }: SystemInit): string => `
set -eu
read -r stat < /proc/self/stat
set -- \${stat##*) }
identity="\${stat%% *} \${20}"

system=$MACHINE_DIR/system
root=$system/root
mkdir -p "$root" "$system/upper" "$system/work"
${root}
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
${bring}
echo "$identity" > "$MACHINE_DIR/pid.new"
mv "$MACHINE_DIR/pid.new" "$MACHINE_DIR/pid"
cd "$root"
mkdir -p .host
pivot_root . .host
umount --lazy /.host
${become}
`;

/** What PID 1 begins with. */
export const environment =
  "env --ignore-environment container=perennial PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** A root file system with a systemd. */
export const systemInit: SystemInit = {
  root: 'mount -t overlay overlay -o "lowerdir=$IMAGE,upperdir=$system/upper,workdir=$system/work" "$root"',
  become: `exec ${environment} /usr/local/bin/entrypoint /sbin/init`,
};
