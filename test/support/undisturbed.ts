import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { CertificateSigningRequest, Lease, Node, Pod, type KubeClient } from "../../src/kube/index.ts";
import { objectKeys } from "./cluster-world.ts";
import type { GardenadmMachine } from "./gardenadm-machine.ts";

/** SHA-256 of each file that gardenadm has to do with on a machine, by path; two clusters of the same configuration have the same. */
export async function contentsOf(machine: GardenadmMachine): Promise<Readonly<Record<string, string>>> {
  const root = await machine.root();
  const contents: Record<string, string> = {};
  for (const folder of FOLDERS) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries.filter((one) => one.isFile())) {
      const file = join(entry.parentPath, entry.name);
      const path = file.slice(root.length);
      if (!OF_ITS_OWN.includes(path)) contents[path] = sha256(withoutKeys(await readFile(file)));
    }
  }
  return contents;
}

/** A worker has not all of them. */
const FOLDERS = ["/etc/kubernetes", "/etc/systemd/system", "/opt/bin", "/var/lib/gardenadm", "/var/lib/static-pods"];

/** What each run of a command says otherwise. */
const OF_ITS_OWN = ["/var/lib/gardenadm/journal", "/var/lib/gardenadm/lock"];

/** Keys, certificates, ids and what is called by their checksum are each cluster's own. */
function withoutKeys(bytes: Buffer): Buffer {
  if (bytes.length > LONGEST_TEXT) return bytes;
  const text = bytes
    .toString("latin1")
    .replace(/-----BEGIN [A-Z ]+-----[^-]+-----END [A-Z ]+-----/g, "PEM")
    .replace(/[0-9A-Za-z+/]{40,}={0,2}/g, "BASE64")
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UUID")
    .replace(/\b[0-9a-f]{8,}\b/g, "CHECKSUM")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/\bkey\d{10}\b/g, "KEY"); // of encryption, called by its time
  return Buffer.from(text, "latin1");
}

/** In bytes; what is larger is a program. */
const LONGEST_TEXT = 1_000_000;

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** What the API servers of a cluster have, by key, but what comes and goes by itself; two clusters of the same configuration have the same. */
export async function objectsOf(machine: GardenadmMachine): Promise<readonly string[]> {
  const keys = (await objectKeys(machine)).map(({ key }) => key).filter((key) => !COMES_AND_GOES.test(key));
  return [...new Set(keys.map((key) => key.replace(/-[0-9a-f]{8,}(?=-|$)/g, "-CHECKSUM")))].sort();
}

/** Objects of controllers, which name them at random, and tokens, which run out. */
const COMES_AND_GOES =
  /^\/registry\/(events|pods|replicasets|controllerrevisions|endpointslices|services\/endpoints|ipaddresses|certificatesigningrequests|masterleases|secrets\/kube-system\/bootstrap-token-)/;

/** What a machine has left of pods that its cluster does not know, or of work that was cut off: containers, mounts, folders; a line for each. */
export async function orphansOn({ ground, name }: GardenadmMachine, client: KubeClient): Promise<readonly string[]> {
  const pods = await client.list(Pod, { fieldSelector: `spec.nodeName=${name}` });
  const known = pods.flatMap(({ metadata: { uid, annotations = {} } }) => [uid ?? "", annotations[STATIC] ?? ""]);
  const stdout = await ground.inMachine(name, "bash", "-c", ORPHANS, "orphans", ...known);
  return stdout.split("\n").filter((line) => line !== "");
}

/** Of a static pod's mirror: the uid that its kubelet knows it by. */
const STATIC = "kubernetes.io/config.hash";

const ORPHANS = String.raw`
set -eu
known=" $* "
unknown() { [[ "$known" != *" $1 "* ]]; }
for id in $(ctr --namespace k8s.io containers list --quiet); do
  labels=$(ctr --namespace k8s.io containers info "$id" | grep -o '"io.kubernetes.pod.[a-z]*": "[^"]*"') || continue
  uid=$(sed -n 's/.*pod.uid": "\(.*\)"/\1/p' <<< "$labels")
  if unknown "$uid"; then echo "container of pod $(sed -n 's/.*pod.name": "\(.*\)"/\1/p' <<< "$labels")"; fi
done
for folder in /var/lib/kubelet/pods/*; do
  if [ -e "$folder" ] && unknown "$(basename "$folder")"; then echo "folder $folder"; fi
done
awk '$2 ~ "^/(tmp|mnt|var/tmp)/" { print "mount", $2 }' /proc/mounts
ctr --namespace k8s.io leases list --quiet | sed 's/^/lease /'
ctr --namespace k8s.io snapshots list | awk '$NF == "View" || $1 ~ "^/" { print "snapshot", $1 }'
find /etc/kubernetes /etc/systemd/system /opt/bin /var/lib/gardenadm /var/lib/static-pods /var/lib/gardener-node-agent /var/lib/etcd-* -maxdepth 4 -name '.*' -o -name '*.new' | sed 's/^/draft /'
`;

/** Requests for certificates that wait for an answer, and Leases of nodes that there are not; a line for each. */
export async function orphansIn(client: KubeClient): Promise<readonly string[]> {
  const waiting = (await client.list(CertificateSigningRequest)).filter(
    ({ status }) => (status?.conditions ?? []).length === 0,
  );
  const nodes = (await client.list(Node)).map(({ metadata }) => metadata.name);
  const leases = await client.list(Lease, { namespace: "kube-node-lease" });
  return [
    ...waiting.map(({ metadata }) => `CertificateSigningRequest ${metadata.name}`),
    ...leases.flatMap(({ metadata: { name } }) => (nodes.includes(name) ? [] : [`Lease ${name}`])),
  ];
}
