import type { GardenadmMachine } from "./gardenadm-machine.ts";

/**
 * What makes a machine what it is, a line for each thing, in order: files with mode, owner and checksum, folders and links, mounts,
 * units, processes, rules of the packet filter, links and routes, and what containerd has. Without logs, times, caches, and
 * what each boot calls otherwise.
 */
export async function bareWorld({ ground, name }: GardenadmMachine): Promise<readonly string[]> {
  return (await ground.inMachine(name, "bash", "-c", SURVEY)).split("\n").filter((line) => line !== "");
}

/** Lines that are there now and were not, and the other way round. */
export function difference(before: readonly string[], after: readonly string[]): string[] {
  const [old, now] = [new Set(before), new Set(after)];
  return [
    ...after.filter((line) => !old.has(line)).map((line) => `+ ${line}`),
    ...before.filter((line) => !now.has(line)).map((line) => `- ${line}`),
  ];
}

/** Programs that change users leave copies of what was before; what the cluster was never asked for, gardenadm itself and the operator's files, stays. */
const SURVEY = String.raw`
set -eu
export LC_ALL=C
look() {
  find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /var/log -o -path /var/lib/containerd \
    -o -path /root -o -path '/var/tmp/systemd-private-*' -o -path /opt/gardenadm -o -path '/etc/*shadow-' -o -path '/etc/passwd-' -o -path '/etc/group-' -o -path '/etc/sub*id-' \) \
    -prune -o "$@"
}
look -type f -printf '%m %u %p\n' | sort
look -type f -print0 | sort --zero-terminated | xargs --null sha256sum
look ! -type f -printf '%y %m %u %p %l\n' | sort
ls -d /var/log/pods/* /var/log/containers/* /var/lib/kubelet/* /etc/cni/net.d/* 2>/dev/null || true
awk '{ print "mount", $1, $2, $3 }' /proc/mounts | sort
systemctl list-units --all --plain --no-legend --type=service,socket,timer,path,slice | awk '{ print "unit", $1 }' | sort
systemctl list-units --plain --no-legend --type=service,socket,timer,path --state=active | awk '{ print "active", $1 }' | sort
systemctl list-unit-files --plain --no-legend | awk '{ print "unit file", $1, $2 }' | sort
ps -eo ppid,args | awk '$1 == 1 { $1 = "process"; print }' | sort
for tables in iptables ip6tables; do "$tables-save" | grep -e '^-A' -e '^:.* - ' || true; done
ip -o link | awk '{ sub(/@.*/, "", $2); print "link", $2 }'
ip route | sed 's/^/route /'
ls /run/netns 2>/dev/null | sed 's/^/namespace /' || true
for what in containers tasks images leases; do ctr --namespace k8s.io "$what" list --quiet | sed "s/^/$what /" | sort; done
ctr --namespace k8s.io snapshots list | awk '$3 != "Committed" { print "snapshot", $1 }' | sort
`;
