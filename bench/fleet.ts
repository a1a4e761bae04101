import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { addStateKey } from "../src/activities/state/keys.ts";
import { Seed, Shoot } from "../src/api/index.ts";
import type { ShootRun } from "../src/api/shoot/run.ts";
import { createShootClient, type ShootClient } from "../src/client/shoots.ts";
import type { KubeObject } from "../src/api/schema/meta.ts";
import { refTo, typeMeta, type KubeClient } from "../src/kube/index.ts";
import { startControlPlane } from "../test/support/control-plane.ts";
import { applyCrds } from "../test/support/crds.ts";
import { applyGarden, createShoot } from "../test/support/garden-objects.ts";
import { atMost } from "./at-most.ts";
import type { Ground } from "./bench.ts";
import type { Requests } from "./counting-client.ts";
import { startStandIns } from "./stand-ins.ts";

/** Shoots that exist, and the processes that look after them. */
export interface Fleet {
  readonly kube: KubeClient;
  readonly temporal: Ground["temporal"];
  readonly shoots: ShootClient;
  readonly runs: readonly ShootRun[];
  /** What each process of Perennial has asked of API servers so far. */
  requests(): Promise<Readonly<Record<string, Requests>>>;
  /** Seconds of CPU that each process has used so far, servers included; this one plays the seed's controllers. */
  cpu(): Promise<Readonly<Record<string, number>>>;
  /** Starts the seed's worker anew: all that it does once in a while, it does when it begins. */
  restartSeed(): Promise<void>;
  /** Makes every Shoot's operation two hours old, and tells their workflows. */
  letTimePass(): Promise<void>;
  /** Resolves when every Shoot has an operation of this type that succeeded after this time (ms). */
  succeeded(type: string, since: number): Promise<void>;
  stop(): Promise<void>;
}

const roles = ["garden", "seed", "manager"] as const;

/** Starts an API server of its own, whose only Shoots these are, and Perennial's processes; creates so many Shoots. */
export async function startFleet(count: number, { temporal, say }: Pick<Ground, "temporal" | "say">): Promise<Fleet> {
  const controlPlane = await startControlPlane();
  const { client: kube, kubeconfigFile } = controlPlane;
  await applyCrds(kube);
  await applyGarden(kube);
  await withoutBackup(kube, "seed-1");
  const standIns = await startStandIns(kube);
  const keys = { GARDEN_KEYS: addStateKey("garden"), SEED_KEYS: addStateKey("seed-1") };
  const start = (role: string) => startWorker([role, temporal.address, kubeconfigFile], keys);
  const children = await Promise.all(roles.map(start));
  const shoots = createShootClient(temporal.client);
  say(`creating ${count} Shoots`);
  const begun = Date.now();
  const names = Array.from({ length: count }, (_, index) => `fleet-${index}`);
  const runs = await atMost(10, names, (name) => createShoot(kube, name));
  const succeeded = async (type: string, since: number) => {
    for (const deadline = Date.now() + 120_000 + LONGEST * count; ; await sleep(500)) {
      const found = await kube.list(Shoot);
      const left = found.filter(({ status }) => !isDone(status?.lastOperation, type, since));
      if (left.length === 0) return;
      if (Date.now() < deadline) continue;
      const [first] = left;
      throw new Error(
        `${left.length} Shoots are late, such as ${first?.metadata.name}: ${JSON.stringify(first?.status)}`,
      );
    }
  };
  await succeeded("Create", begun);
  return {
    kube,
    temporal,
    shoots,
    runs,
    succeeded,
    async requests() {
      const asked = children.map(async (child, index) => [`${roles[index]}`, await ask(child)] as const);
      return Object.fromEntries<Requests>(await Promise.all(asked));
    },
    async restartSeed() {
      const index = roles.indexOf("seed");
      const before = children[index];
      if (before !== undefined) await stopWorker(before);
      children[index] = await start("seed");
    },
    async letTimePass() {
      const lastUpdateTime = new Date(Date.now() - 2 * 3_600_000).toISOString().replace(/\.\d+Z$/, "Z");
      const status = { lastOperation: { lastUpdateTime } };
      await atMost(20, runs, (run) => kube.patch(refOf(run), { status }, { subresource: "status" }));
      await atMost(20, runs, (run) => shoots.nudge(run));
    },
    cpu: () => readCpu(new Map(children.map(({ pid = 0 }, index) => [pid, `${roles[index]}`]))),
    async stop() {
      await Promise.all(children.map(stopWorker));
      await standIns.stop();
      await controlPlane.stop();
    },
  };
}

/** There is no provider for a Seed's bucket, and a Seed that has one keeps it. */
async function withoutBackup(kube: KubeClient, name: string): Promise<void> {
  const seed = await kube.read(Seed, { name });
  if (seed === undefined) throw new Error(`there is no Seed ${name}`);
  const { backup: _, ...spec } = seed.spec;
  await kube.remove(refTo(Seed, { name }));
  await kube.create<KubeObject>({ ...typeMeta(Seed), metadata: { name }, spec });
}

/** How long a Shoot may take of the machine, in ms. */
const LONGEST = 3_000;

type LastOperation = NonNullable<Shoot["status"]>["lastOperation"];

/** Times are to the second. */
const isDone = (last: LastOperation, type: string, since: number): boolean =>
  last?.type === type && last.state === "Succeeded" && Date.parse(last.lastUpdateTime) >= since - 1_000;

/** The reference to a Shoot in the garden. */
export const refOf = ({ namespace, name }: ShootRun) => refTo(Shoot, { namespace, name });

async function startWorker(args: readonly string[], keys: Readonly<Record<string, string>>): Promise<ChildProcess> {
  const env = { ...process.env, ...keys };
  const child = fork(fileURLToPath(new URL("fleet-worker.ts", import.meta.url)), args, { env });
  const ended = once(child, "exit").then(() => {
    throw new Error(`${args[0]} has ended`);
  });
  await Promise.race([once(child, "message"), ended]);
  ended.catch(() => {}); // by now it ends because it is told to
  return child;
}

async function stopWorker(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

async function ask(child: ChildProcess): Promise<Requests> {
  const answer = once(child, "message");
  child.send("requests");
  const [requests] = (await answer) as [requests: Requests];
  return requests;
}

/** Of this process and all its children, by name; a tick is 10 ms. */
async function readCpu(names: ReadonlyMap<number, string>): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number)) {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (pid !== process.pid && Number(fields[1]) !== process.pid) continue;
    const name = pid === process.pid ? "bench" : (names.get(pid) ?? /\((.*)\)/.exec(stat)?.[1] ?? "");
    found[name] = (Number(fields[11]) + Number(fields[12])) / 100;
  }
  return found;
}
