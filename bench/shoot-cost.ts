import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createShootClients } from "../src/activities/shoot/clients.ts";
import { ControllerInstallation, Shoot } from "../src/api/index.ts";
import { whyNotReady } from "../src/api/registration/installation.ts";
import { refTo, ServiceAccount, type KubeClient } from "../src/kube/index.ts";
import { down } from "../src/local/environment/down.ts";
import { createProcesses } from "../src/local/process/processes.ts";
import { createShoot } from "../test/support/e2e-shoots.ts";
import { eventually } from "../test/support/eventually.ts";
import { localEnvironment, type LocalEnvironment } from "../test/support/local-environment.ts";
import { prepareGarden, writeUpstreamRegistration } from "../test/support/upstream-provider.ts";
import { readPodMemory, workloadOf } from "./pod-memory.ts";
import { countShares, perMinute, type Caller } from "./request-shares.ts";
import { residentMemory } from "./resident-memory.ts";

/**
 * What one Shoot more costs in a seed where an extension of others serves it: memory and API requests of each part, ours
 * and upstream's. `npm run bench:shoot` makes a local environment of its own, as root, some six minutes long;
 * `--environment NAME --shoot NAME` measures a Shoot that stands, and does not know what was there before it.
 */
const { values } = parseArgs({
  options: { environment: { type: "string" }, shoot: { type: "string" }, seconds: { type: "string", default: "120" } },
});
/** After an installation or a Create, until its aftermath is over; ms. */
const SETTLE = 30_000;
const name = values.environment ?? "bench-shoot";
try {
  await main(Number(values.seconds));
} finally {
  if (values.environment === undefined) await down({ name });
}

/** Memory in MB, by what has it. */
type Memory = ReadonlyMap<string, number>;

async function main(seconds: number): Promise<void> {
  const local = await localEnvironment(name, { upstream: true });
  const clients = createShootClients(local.seedClient, local.log);
  try {
    const shared = values.shoot === undefined ? await install(local) : undefined;
    const namespace = await (values.shoot === undefined ? makeShoot(local) : findShoot(local, values.shoot));
    const shootClient = await clients.get(namespace);
    const shares = await Promise.all([
      countShares(local.seedClient, await callersInSeed(local.seedClient, namespace)),
      countShares(shootClient, await callersInShoot(shootClient)),
    ]);
    const count = () => Promise.all(shares.map((one) => one.count()));
    const before = await count();
    await sleep(seconds * 1_000);
    const [inSeed, inShoot] = (await count()).map((after, index) => perMinute(before[index] ?? {}, after, seconds));
    print("memory in the seed, MB", await memoryInSeed(local, namespace), shared);
    print("memory of pods on the Shoot's machine, MB", await memoryOf(shootClient, () => true));
    print("requests a minute to the seed's API server", new Map(Object.entries(inSeed ?? {})));
    print("requests a minute to the Shoot's API server", new Map(Object.entries(inShoot ?? {})));
    console.log(
      `\nof ${seconds} s, at a load of ${loadavg()
        .map((one) => one.toFixed(1))
        .join(" ")}`,
    );
    await Promise.all(shares.map((one) => one.close()));
  } finally {
    await clients.close();
    await local.close();
  }
}

/** Installs upstream's provider-local; the memory of what Shoots share, before there is one. */
async function install(local: LocalEnvironment): Promise<Memory> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-bench-"));
  try {
    await prepareGarden(local);
    await local.perennial("extension", "install", await writeUpstreamRegistration(local, folder));
    await eventually(async () => {
      const found = await local.gardenClient.list(ControllerInstallation);
      return found.length > 0 && found.every((one) => whyNotReady(one) === undefined);
    }, 180_000);
    await sleep(SETTLE);
    return await memoryInSeed(local);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function makeShoot(local: LocalEnvironment): Promise<string> {
  const shoot = await createShoot(local, { name: "cost" });
  await shoot.settles("Succeeded", "Create", 600_000);
  await sleep(SETTLE);
  return shoot.technicalID;
}

async function findShoot({ gardenClient }: LocalEnvironment, name: string): Promise<string> {
  const shoot = await gardenClient.read(refTo(Shoot, { namespace: "garden-dev", name }));
  if (shoot?.status?.technicalID === undefined) throw new Error(`there is no Shoot garden-dev/${name} yet`);
  return shoot.status.technicalID;
}

/** Pods of the Shoot's namespace, and what all Shoots share: resource manager, extensions, our own processes. */
async function memoryInSeed({ environment, log, seedClient }: LocalEnvironment, namespace = ""): Promise<Memory> {
  const running = (await createProcesses(environment, log).list()).filter(({ name }) => /seed-1|^manager/.test(name));
  const processes = running.map(async ({ name, pid }) => [`process ${name}`, await residentMemory({ pid })] as const);
  const pods = await memoryOf(seedClient, (one) => one === namespace || isShared(one));
  return new Map([...pods, ...(await Promise.all(processes))]);
}

async function memoryOf(client: KubeClient, isOf: (namespace: string) => boolean): Promise<Memory> {
  const memory = new Map<string, number>();
  for (const { namespace, name, bytes } of await readPodMemory(client)) {
    const workload = `${namespace}/${workloadOf(name)}`;
    if (isOf(namespace)) memory.set(workload, (memory.get(workload) ?? 0) + bytes / 1e6);
  }
  return memory;
}

/** By name: each account of the Shoot's namespace and of extensions, the seed's resource manager, and our processes. */
async function callersInSeed(seed: KubeClient, namespace: string): Promise<Record<string, Caller[]>> {
  const accounts = await seed.list(ServiceAccount);
  const told = accounts.filter(({ metadata: { name, namespace: where } }) => {
    return name !== "default" && (where === namespace || isShared(where));
  });
  const theirs = told.map(({ metadata: { namespace: where, name } }): [string, Caller[]] => [
    where === namespace ? name : `${where}.${name}`,
    [{ account: { namespace: where, name } }],
  ]);
  const ours = ["worker-seed", "fence"].map((name): [string, Caller[]] => [
    `perennial.${name}`,
    [{ user: `system:serviceaccount:perennial:${name}` }],
  ]);
  return Object.fromEntries([...ours, ...theirs]);
}

function isShared(namespace: string): boolean {
  return namespace === "garden" || namespace.startsWith("extension-");
}

/** Kubernetes' controllers have an account each: they are one caller. */
async function callersInShoot(shoot: KubeClient): Promise<Record<string, Caller[]>> {
  const accounts = await shoot.list(ServiceAccount, { namespace: "kube-system" });
  const named = accounts.map(({ metadata }) => ({ namespace: "kube-system", name: metadata.name }));
  const controllers = named.filter(({ name }) => isController(name));
  const others = named.filter(({ name }) => !isController(name) && name !== "default");
  return {
    "gardener-resource-manager": [{ user: "gardener-resource-manager" }],
    kubelet: [{ group: "system:nodes" }],
    "kube-scheduler": [{ user: "system:kube-scheduler" }],
    "kube-controller-manager": [
      { user: "system:kube-controller-manager" },
      ...controllers.map((account) => ({ account })),
    ],
    ...Object.fromEntries(others.map((account) => [account.name, [{ account }]])),
  };
}

function isController(account: string): boolean {
  return /-(controller|binder|cleaner|collector|publisher|signer|autoscaler)$/.test(account);
}

/** From the most to the least; of what the API server itself tells apart, only what there was. */
function print(title: string, found: Memory, before?: Memory): void {
  console.log(`\n${title}${before === undefined ? "" : ", and before there was a Shoot"}`);
  const rows = [...found].filter(([what, value]) => value > 0 || !what.startsWith("("));
  for (const [what, value] of rows.toSorted(([, one], [, other]) => other - one)) {
    const earlier = before?.get(what);
    const columns = [value, ...(before === undefined ? [] : [earlier])];
    console.log(`  ${columns.map((one) => (one?.toFixed(1) ?? "").padStart(7)).join("")}  ${what}`);
  }
}
