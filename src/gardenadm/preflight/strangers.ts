import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Candidate } from "./candidate.ts";
import { isReadable } from "./readable.ts";

/** What is not there on a bare machine, or holds no file. */
const FOLDERS = [
  ...["/etc/kubernetes/manifests", "/etc/kubernetes/pki", "/var/lib/kubelet", "/var/lib/etcd", "/var/lib/etcd-main"],
  ...["/var/lib/etcd-events", "/var/lib/rancher", "/var/lib/k0s", "/var/snap/microk8s"],
];

/** What kubeadm leaves. */
const FILES = ["/etc/kubernetes/admin.conf", "/etc/kubernetes/kubelet.conf"];

const UNITS = ["kubelet.service", "k3s*.service", "rke2-*.service", "k0s*.service", "snap.microk8s.*.service"];

/** What another Kubernetes has left, which would be taken for ours, and what of it runs. */
export async function strangerFaults({ root, systemctl }: Pick<Candidate, "root" | "systemctl">): Promise<string[]> {
  const [filled, units] = await Promise.all([remains(root), runningUnits(systemctl)]);
  const faults: string[] = [];
  if (units.length > 0)
    faults.push(
      `another Kubernetes runs here, as ${units.join(", ")}: end it with 'systemctl disable --now ${units.join(" ")}' and take it away, or use another machine`,
    );
  if (filled.length > 0)
    faults.push(
      `another Kubernetes is or was here, in ${filled.join(", ")}: take it away first, or use another machine`,
    );
  return faults;
}

async function remains(root: string): Promise<string[]> {
  const filled = FOLDERS.map(async (folder) => ((await holdsFiles(join(root, folder))) ? [folder] : []));
  const there = FILES.map(async (file) => ((await isReadable(root, file)) ? [file] : []));
  return (await Promise.all([...filled, ...there])).flat();
}

/** Whether there is more below a folder than folders: a disk is mounted on one before there are data, and an ext4 begins with `lost+found`. */
async function holdsFiles(folder: string): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  if (entries.some((entry) => !entry.isDirectory())) return true;
  for (const { name } of entries) if (await holdsFiles(join(folder, name))) return true;
  return false;
}

/** Where systemd does not answer, that is another check's to say. */
async function runningUnits(systemctl: Candidate["systemctl"]): Promise<string[]> {
  const asked = ["list-units", "--no-legend", "--plain", "--type=service", "--state=active,activating", ...UNITS];
  const text = await systemctl(asked, AbortSignal.timeout(10_000)).catch(() => "");
  return text
    .split("\n")
    .map((line) => line.trim().split(/\s+/)[0] ?? "")
    .filter((unit) => unit.endsWith(".service"));
}
