import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { parse, stringify } from "yaml";
import type { Shoot } from "../../src/api/index.ts";
import { ConfigMap, CronJob, createKubeClient, Job, refTo, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import type { Bucket } from "../../src/local/bare/bucket.ts";
import { CONFIGURATION_FOLDER } from "../../src/local/bare/configuration.ts";
import { eventually } from "./eventually.ts";
import type { GardenadmMachine } from "./gardenadm-machine.ts";

/** Asks in a machine's configuration for backups in a bucket. */
export async function askForBackups(machine: GardenadmMachine, bucket: Bucket): Promise<void> {
  const folder = join(await machine.root(), CONFIGURATION_FOLDER);
  const file = join(folder, "shoot-root.yaml");
  const shoot = parse(await readFile(file, "utf8")) as Shoot;
  const [pool, ...others] = shoot.spec.provider.workers ?? [];
  const name = { name: "backup", namespace: "garden" };
  const backup = { provider: "s3", credentialsRef: { apiVersion: "v1", kind: "Secret", ...name } };
  const workers = [{ ...pool, controlPlane: { backup } }, ...others];
  const spec = { ...shoot.spec, provider: { ...shoot.spec.provider, workers } };
  await writeFile(file, stringify({ ...shoot, spec }));
  const data = Object.entries(bucket).map(([key, text]) => [key, Buffer.from(String(text)).toString("base64")]);
  const secret = { apiVersion: "v1", kind: "Secret", metadata: name, data: Object.fromEntries(data) as object };
  await writeFile(join(folder, "secret-backup.yaml"), stringify(secret), { mode: 0o600 });
}

/** The configuration folder of a machine, hidden files and all, as a tar in base64: what an operator keeps elsewhere. */
export async function configurationOf({ ground, name }: GardenadmMachine): Promise<string> {
  return await ground.inMachine(name, "bash", "-c", `tar --create --directory ${CONFIGURATION_FOLDER} . | base64`);
}

/** Gives a machine the configuration that was kept, instead of its own; without the files of these names. */
export async function giveKept({ ground, name }: GardenadmMachine, kept: string, ...without: string[]): Promise<void> {
  const script = `rm -rf "$1"; mkdir --mode=700 "$1"; base64 --decode | tar --extract --directory "$1"; cd "$1"; shift; rm -f "$@"`;
  const command = ["bash", "-c", script, "give", CONFIGURATION_FOLDER, ...without];
  const { code, stderr } = await ground.machines.exec(name, command, { stdin: kept });
  expect(code, stderr).toBe(0);
}

/** Takes a snapshot now, and returns once it is in the bucket; the schedule takes none after it. */
export async function takeSnapshot(client: KubeClient, name: string): Promise<void> {
  const schedule = await client.read(CronJob, { namespace: "kube-system", name: "etcd-backup" });
  const { spec } = schedule ?? expect.fail("there is no schedule");
  await client.patch(refTo(CronJob, { namespace: "kube-system", name: "etcd-backup" }), { spec: { suspend: true } });
  const key = { namespace: "kube-system", name };
  await client.create<Job>({ ...typeMeta(Job), metadata: key, spec: spec.jobTemplate.spec });
  await eventually(async () => {
    const conditions = (await client.read(Job, key))?.status?.conditions ?? [];
    return conditions.some(({ type, status }) => type === "Complete" && status === "True");
  }, 180_000);
}

/** Writes something that a later look finds, or finds lost. */
export async function leaveSign(client: KubeClient, name: string): Promise<void> {
  await client.create<ConfigMap>({
    ...typeMeta(ConfigMap),
    metadata: { namespace: "default", name },
    data: { is: name },
  });
}

/** Whether the sign is there. */
export const hasSign = async (client: KubeClient, name: string): Promise<boolean> =>
  (await client.read(ConfigMap, { namespace: "default", name })) !== undefined;

/** An administrator's kubeconfig, with `localhost` in it. */
export async function kubeconfigTo(machine: GardenadmMachine): Promise<string> {
  return await readFile(join(await machine.root(), "/etc/kubernetes/admin.conf"), "utf8");
}

/** The address of a machine, also of one that is off. */
export async function addressOf({ ground, name }: GardenadmMachine): Promise<string> {
  const found = (await ground.machines.list()).find((each) => each.name === name);
  return found?.address ?? expect.fail(`${name} has no address`);
}

/** Seconds until an API server of these machines serves a read; `kubeconfig` is an administrator's with `localhost` in it. */
export async function untilServed(kubeconfig: string, addresses: readonly string[], atMost = 300_000): Promise<number> {
  const began = performance.now();
  await eventually(async () => {
    for (const address of addresses) if (await serves(kubeconfig, address)) return true;
    return false;
  }, atMost);
  return secondsSince(began);
}

/** Whether the API server at this address answers to a read that takes etcd, within two seconds. */
export async function serves(kubeconfig: string, address: string): Promise<boolean> {
  const client = createKubeClient(
    { kubeconfig: kubeconfig.replace("https://localhost", `https://${address}`) },
    { userAgent: "test" },
  );
  const answer = client.get("/api/v1/namespaces/default").then(
    () => true,
    () => false,
  );
  const late = new Promise<false>((resolve) => setTimeout(resolve, 2_000, false).unref());
  return await Promise.race([answer, late]).finally(() => void client.close());
}

/** In s, with one decimal. */
export const secondsSince = (began: number): number => Math.round((performance.now() - began) / 100) / 10;

/** Overwrites pages of an etcd's database, whose process is killed, and lets the kubelet start it again. */
export async function damage({ ground, name }: GardenadmMachine, role: "main" | "events"): Promise<void> {
  await ground.inMachine(name, "bash", "-c", DAMAGE, "damage", `/var/lib/etcd-${role}/data/new.etcd/member/snap/db`);
}

/** Of the etcds, the one that has this database open. */
const KILL = `
set -eu
systemctl stop kubelet
for pid in $(pgrep --exact etcd); do
  if [ "/proc/$pid/root/var/etcd/data/new.etcd/member/snap/db" -ef "$1" ]; then
    kill -KILL "$pid"
    while [ -e "/proc/$pid" ]; do sleep 0.1; done
  fi
done
`;

const DAMAGE = `${KILL}
pages=$(( $(stat --format=%s "$1") / 4096 - 2 ))
dd if=/dev/urandom of="$1" bs=4096 seek=2 count="$pages" conv=notrunc status=none
sync
systemctl start kubelet
`;

/**
 * Takes the data of an etcd away, or its write-ahead log, and kills it while no agent looks: sees that the etcd, which its kubelet
 * begins again and again, makes nothing and serves nothing, and has the agent look.
 */
export async function loseUnwatched(
  { ground, name }: GardenadmMachine,
  role: "main" | "events",
  lost: "data" | "log" = "data",
): Promise<void> {
  const metrics = role === "main" ? "2381" : "2384";
  const folder = lost === "data" ? "" : "/member/wal";
  await ground.inMachine(name, "bash", "-c", LOSE_UNWATCHED, "lose", `etcd-${role}`, metrics, folder);
}

/** A kubelet numbers the logs of a container by its starts. */
const LOSE_UNWATCHED = `
set -eu
data=/var/lib/$1/data/new.etcd lost=/var/lib/$1/data/new.etcd$3
starts() { ls /var/log/pods/kube-system_"$1"-*/etcd | sed 's/[.].*//' | sort --numeric-sort | tail -n 1; }
systemctl stop gardener-node-agent
before=$(starts "$1")
for pid in $(pgrep --exact etcd); do
  [ ! "/proc/$pid/root/var/etcd/data/new.etcd/member/snap/db" -ef "$data/member/snap/db" ] || found=$pid
done
rm -r "$lost"
kill -KILL "$found"
for _ in $(seq 120); do
  [ "$(starts "$1")" -lt $((before + 2)) ] || break
  sleep 1
  if curl --silent --fail --max-time 1 "http://127.0.0.1:$2/readyz"; then exit 1; fi
done
[ "$(starts "$1")" -ge $((before + 2)) ]
[ ! -e "$lost" ]
[ -n "$3" ] || [ -z "$(find "\${data%/*}" -mindepth 1)" ]
systemctl start gardener-node-agent
`;

/** Has etcd-main get no processor for so long, in ms, however often it is started meanwhile. */
export async function stall({ ground, name }: GardenadmMachine, duration: number): Promise<void> {
  const database = "/var/lib/etcd-main/data/new.etcd/member/snap/db";
  await ground.inMachine(name, "bash", "-c", STALL, "stall", database, String(duration / 1_000));
}

const STALL = `
signal() {
  for pid in $(pgrep --exact etcd); do
    if [ "/proc/$pid/root/var/etcd/data/new.etcd/member/snap/db" -ef "$1" ]; then kill "-$2" "$pid" || true; fi
  done
}
while [ "$SECONDS" -lt "$2" ]; do
  signal "$1" STOP
  sleep 0.1
done
signal "$1" CONT
`;

/** Puts the data of etcd-main on a small disk of their own, mounted in their folder. */
export async function moveToDiskOfItsOwn({ ground, name }: GardenadmMachine): Promise<void> {
  await ground.inMachine(name, "bash", "-c", MOVE, "move", "/var/lib/etcd-main/data/new.etcd/member/snap/db");
}

const MOVE = `${KILL}
data=\${1%/new.etcd/member/snap/db}
new=/mnt/disk
mkdir "$new"
mount -t tmpfs -o "size=$(( $(du --summarize --block-size=1M "$data" | cut --fields=1) + 16 ))M" disk "$new"
cp --archive "$data/." "$new"
mount --bind "$new" "$data"
systemctl start kubelet
`;

const FILLER = "/var/lib/etcd-main/data/filler";

/** Leaves nothing free on that disk. */
export async function fillDisk({ ground, name }: GardenadmMachine): Promise<void> {
  await ground.inMachine(name, "sh", "-c", `dd if=/dev/zero of=${FILLER} bs=64k status=none || [ -s ${FILLER} ]`);
}

/** The opposite of `fillDisk`. */
export async function freeDisk({ ground, name }: GardenadmMachine): Promise<void> {
  await ground.inMachine(name, "rm", FILLER);
}
