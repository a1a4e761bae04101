import { environment, type SystemInit } from "./system-script.ts";

/**
 * The host's programs, without those of its Kubernetes, below files of the machine's own, and a runner, which is no PID 1: that reaps orphans while it waits, and
 * ends with the runner, which the kernel takes as the order to kill everything in the machine.
 */
export const runnerInit: SystemInit = {
  root: `
mount --bind "$system/upper" "$root"
mkdir -p "$root/usr" "$system/work/usr"
mount -t overlay overlay -o "lowerdir=$IMAGE,upperdir=$system/upper/usr,workdir=$system/work/usr" "$root/usr"
[ -s "$root/etc/machine-id" ] || rm -f "$root"/usr/{,local/}bin/{kubelet,kubeadm,kubectl}
for link in /bin /sbin /lib /lib32 /lib64 /libx32; do
  [ ! -L "$link" ] || [ -L "$root$link" ] || cp --no-dereference "$link" "$root$link"
done
for dir in proc sys run dev etc home root srv mnt media opt/bin tmp var/tmp var/log var/lib var/cache; do
  mkdir -p "$root/$dir"
done
chmod 700 "$root/root"
chmod 1777 "$root/tmp" "$root/var/tmp"
[ -L "$root/var/run" ] || ln -s /run "$root/var/run"
`,
  bring: `
runner=$root/run/runner
mkdir -p "$runner/machine" "$runner/runner"
touch "$runner/node"
mount --bind -o ro "$NODE" "$runner/node"
mount --bind -o ro "$SOURCES/machine" "$runner/machine"
mount --bind -o ro "$SOURCES/runner" "$runner/runner"
echo '{"type":"module"}' > "$runner/package.json"
cp "$ENTRYPOINT" "$runner/entrypoint"
printf '%s' "$INIT" > "$runner/init"
for program in systemctl journalctl; do
  printf '#!/bin/sh\\nexec /run/runner/node %s /run/runner/runner/%s/main%s "$@"\\n' "$NODE_FLAGS" "$program" "$SUFFIX" > "$runner/$program"
  chmod 755 "$runner/$program"
  ln -sf "/run/runner/$program" "$root/usr/bin/$program"
done
`,
  become: `exec ${environment} LANG=C.UTF-8 HOME=/root /run/runner/entrypoint /bin/bash /run/runner/init`,
};

/** PID 1. By systemd's signal to power off, as by SIGTERM, the runner ends all units first. */
export const initScript = (command: readonly string[]): string => `
set -u
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  mkdir -p /sys/fs/cgroup/init.scope
  echo $$ > /sys/fs/cgroup/init.scope/cgroup.procs
fi
export PATH=/opt/bin:$PATH
${command.join(" ")} &
runner=$!
trap 'kill "$runner"' TERM RTMIN+4
while kill -0 "$runner" 2> /dev/null; do wait "$runner"; done
echo "the machine's runner has ended: powering off"
`;
