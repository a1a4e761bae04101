import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { KUBELET_UNIT } from "../../api/names.ts";
import type { StepScope } from "../../in-process/run.ts";
import { applyMachine } from "../../node-agent/apply-machine.ts";
import { createRun } from "../../node-agent/commands.ts";
import { restoreOriginals, usersBefore } from "../../node-agent/originals.ts";
import { removeEmptyFolder } from "../../node-agent/whole-file.ts";
import type { ThisMachine } from "../machine/this-machine.ts";
import { waitForLock } from "../machine/lock.ts";
import { agentPlacesIn } from "../machine/agent-places.ts";
import { noSecret } from "../cluster/machine-order.ts";
import { replaceApiServerLines } from "../machine/hosts-file.ts";
import { hasKubelet } from "../machine/traces.ts";
import { ownPodNetwork, removePodNetwork } from "../machine/pod-network.ts";
import { removeBut, unmountBelow } from "./remove-folder.ts";

/**
 * Stops the kubelet, ends all that containerd runs for it, and takes away all files and units that the agent has brought; where
 * these had taken the place of the machine's own, those come back.
 */
export async function bareMachine(machine: ThisMachine, { signal, tell }: StepScope): Promise<void> {
  const { root, systemctl } = machine;
  await ownPodNetwork(root);
  if (await hasKubelet(root)) await systemctl(["stop", KUBELET_UNIT], signal);
  tell("ending pods");
  await endPods(machine, signal);
  await waitForLock(agentPlacesIn(root).lock, signal, async () => {
    await applyMachine({ ...machine, readSecret: noSecret }, { spec: { files: [], units: [] } }, { signal, tell });
    await restoreOriginals(root);
  });
}

/** All processes of pods are in one slice of systemd's; when it has stopped, what containerd knows of them can go. */
async function endPods({ ctr, systemctl }: ThisMachine, signal: AbortSignal): Promise<void> {
  for (const slice of ["kubepods.slice", "kubepods-burstable.slice", "kubepods-besteffort.slice"])
    await systemctl(["stop", slice], signal).catch(() => "");
  const ids = words(await ctr(["containers", "list", "--quiet"], signal));
  for (const id of ids) {
    await ctr(["tasks", "delete", "--force", id], signal).catch(() => "");
    await ctr(["containers", "delete", id], signal).catch(() => "");
    await ctr(["snapshots", "remove", id], signal).catch(() => "");
  }
  // It remembers sandboxes of which there is nothing any more.
  if (ids.length > 0) await systemctl(["restart", "containerd.service"], signal);
}

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== "");

/** What programs have made on the machine while it was a node, and that goes with them. */
const LEFTOVERS = [
  "/etc/kubernetes",
  "/var/cache/gardenadm",
  "/var/lib/ca-certificates-local",
  "/var/lib/etcd-events",
  "/var/lib/etcd-main",
  "/var/lib/gardener-node-agent",
  "/var/lib/kubelet",
  "/var/lib/static-pods",
  "/var/log/containers",
  "/var/log/pods",
];

const FILES = ["/var/lib/containerd-logrotate.status", "/var/lib/systemd/timers/stamp-containerd-logrotate.timer"];

/** What the machine itself has brought, and keeps. */
const KEPT = "/etc/kubernetes/kubelet.conf.d";

/** Removes it; gardenadm's own notes stay until the command ends. */
export async function removeLeftovers({ root }: ThisMachine, { signal }: StepScope): Promise<void> {
  await unmountBelow(join(root, "/var/lib/kubelet"), signal);
  await removeLoginUser(root, signal);
  await removePodNetwork(root);
  for (const folder of LEFTOVERS) await removeBut(join(root, folder), join(root, KEPT));
  for (const file of FILES) await rm(join(root, file), { force: true });
  await removeEmptyFolder(join(root, "/usr/lib/modules")); // kube-proxy's pod has the kubelet make it
  await endPodNetwork(signal);
  await replaceApiServerLines(root, []);
}

/** The user by whom people log in on nodes, unless the machine has had it before. */
async function removeLoginUser(root: string, signal: AbortSignal): Promise<void> {
  const before = await readFile(usersBefore(root), "utf8").catch(() => undefined);
  if (before === undefined || isUser(before)) return;
  await rm(join(root, "/etc/sudoers.d/99-gardener-user"), { force: true });
  if (isUser(await readFile(join(root, "/etc/passwd"), "utf8")))
    await createRun("userdel", ["--force", "--remove"], { milliseconds: 60_000 })([LOGIN_USER], signal);
}

const LOGIN_USER = "gardener";
const isUser = (passwd: string): boolean => passwd.split("\n").some((line) => line.startsWith(`${LOGIN_USER}:`));

/** Rules of kube-proxy and of network plugins, namespaces of pods, with which their links go, and routes to those of other nodes. */
async function endPodNetwork(signal: AbortSignal): Promise<void> {
  const shell = createRun("sh", ["-c"], { milliseconds: 60_000 });
  await shell([NETWORK_END], signal);
}

const NETWORK_END = `
set -u
for tables in iptables ip6tables; do
  command -v "$tables" >/dev/null || continue
  "$tables-save" | grep -Ev '(KUBE-|CNI-|PERENNIAL)' | "$tables-restore" || true
done
for path in /run/netns/cni-*; do [ -e "$path" ] && { umount "$path"; rm -f "$path"; }; done
ip route flush proto 77 || true
if [ -e /etc/debian_version ]; then update-ca-certificates --fresh >/dev/null 2>&1 || true; fi
`;
