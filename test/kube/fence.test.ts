import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { ROLE_LABEL, SNAPSHOT_LABEL } from "../../src/api/labels.ts";
import { fenced } from "../../src/activities/leadership/fenced-client.ts";
import { createNamespaceFence } from "../../src/activities/leadership/namespace-fence.ts";
import { HANDOVER_ANNOTATION, HANDOVER_RENEWED_ANNOTATION, SHOOT_UID_ANNOTATION } from "../../src/api/annotations.ts";
import { Cluster, type KubeObject } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { BINDING_CONFIG_MAP } from "../../src/binding/memory.ts";
import type { Leader } from "../../src/dns/index.ts";
import {
  ConfigMap,
  Event,
  Namespace,
  refOf,
  refTo,
  StatefulSet,
  typeMeta,
  type KubeClient,
  type ObjectRef,
} from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createFence } from "../../src/fence/fence.ts";
import { createHandovers } from "../../src/fence/handovers.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { shootRun } from "../support/shoot-run.ts";

type Ask = () => Promise<Leader | undefined>;

const log = createLogger({ name: "test", level: "silent" });
let kube: KubeClient;
let count = 0;
let run: ShootRun;
let fence: ReturnType<typeof createFence> | undefined;
let asked: number;
let clock: number;

test.beforeAll(({ cluster }) => void (kube = cluster.client));
/** A control plane in seed-1, epoch 3. */
beforeEach(async () => {
  const technicalID = `shoot--dev--own-${(count += 1)}`;
  run = shootRun({ technicalID, epoch: 3, leadershipRecord: `own-${count}.dev.leadership.test`, operation: "Restore" });
  asked = 0;
  clock = 0;
  for (const object of controlPlaneOf(technicalID)) await flow().apply(object);
  await namespaceFence().announceLeader(run);
});
afterEach(async () => {
  await fence?.stop();
  fence = undefined;
});

const flow = (epoch = 3) => fenced(kube, { ...run, epoch });
const namespaceFence = () => createNamespaceFence({ seedClient: kube });
const leader = (seed: string, epoch: number) => (): Promise<Leader> => Promise.resolve({ seed, epoch });

/** A fence to whom `ask` tells of this test's Shoot; of all others it hears nothing. */
function guard(ask: Ask, seedClient: KubeClient = kube): void {
  const askOfThis = async (record: string) => {
    if (record !== run.leadershipRecord) throw new Error("no answer");
    asked += 1;
    return ask();
  };
  const handovers = createHandovers(() => clock);
  fence = createFence({ seedClient, seedName: "seed-1", ask: askOfThis, log, period: 20, handovers });
  fence.start();
}

const refs = (): ObjectRef[] => controlPlaneOf(run.technicalID).map(refOf);
const state = () => Promise.all(refs().map((ref) => kube.read(ref)));
const stopped = async () => (await state()).slice(1).map((object) => isStopped(object as Stoppable | undefined));
const allStopped = () => eventually(async () => expect(await stopped()).toEqual([true, true, true, true, true, true]));
const someRounds = async (more = 6) => {
  const before = asked;
  await eventually(() => expect(asked).toBeGreaterThanOrEqual(before + more));
  await sleep(50); // what the last answer led to
};
const untouched = async (guarding: () => void) => {
  const before = await state();
  guarding();
  await someRounds();
  expect(await state()).toEqual(before);
};

describe("a seed that sees another's name in the record", () => {
  test("stops the control plane, has extensions leave it alone, and says why", async () => {
    guard(leader("seed-2", 4));
    await allStopped();
    const why = "Seed seed-2 leads this Shoot in epoch 4: its control plane in Seed seed-1 is stopped";
    const cluster = await kube.read(Cluster, { name: run.technicalID });
    expect(cluster).toMatchObject({
      spec: {
        shoot: { metadata: { name: "local" }, status: { lastOperation: { type: "Reconcile", description: why } } },
      },
    });
    await fence?.stop();
    const events = await kube.list(Event, { namespace: "default" });
    const ours = events.filter((event) => (event["regarding"] as { name?: string }).name === run.technicalID);
    expect(ours).toMatchObject([{ reason: "Fenced", type: "Warning", note: why }]);
  });

  test("stops again what is started again, and writes nothing while all is stopped", async () => {
    guard(leader("seed-2", 4));
    await allStopped();
    const etcd = refTo(StatefulSet, { namespace: run.technicalID, name: "etcd-main" });
    await kube.patch(etcd, { spec: { replicas: 1 } }, { fieldManager: "somebody" });
    await allStopped();
    const before = await state();
    await someRounds();
    expect(await state()).toEqual(before);
  });

  test("stops the control plane, too, when the new leader's flow has fenced its namespace", async () => {
    await namespaceFence().raiseFence({ ...run, epoch: 4 });
    guard(leader("seed-2", 4));
    await allStopped();
  });

  test("stops the control plane when that seed's epoch has one digit more", async () => {
    await namespaceFence().announceLeader({ ...run, epoch: 9 });
    guard(leader("seed-2", 10));
    await allStopped();
  });

  test("stops the control plane when a takeover's epoch has one digit more than the one announced", async () => {
    await namespaceFence().announceHandover({ ...run, epoch: 8 });
    guard(leader("seed-2", 10));
    await allStopped();
  });

  test("stops what is left of an earlier Shoot of that name, whatever the epochs of both", async () => {
    await flow().patch(refs()[0] as ObjectRef, { metadata: { annotations: { [SHOOT_UID_ANNOTATION]: "earlier" } } });
    await namespaceFence().announceHandover(run);
    guard(async () => ({ seed: "seed-2", epoch: 1, shoot: "later" }));
    await allStopped();
  });

  test("says that it is well once it has gone through its namespaces, and only while it can", async () => {
    let away = true;
    const metadata: KubeClient["metadata"] = (...args) => {
      if (away) throw new Error("away");
      return kube.metadata(...args);
    };
    guard(leader("seed-1", 3), { ...kube, metadata });
    await sleep(100);
    expect(fence?.isWell()).toBe(false);
    away = false;
    await eventually(() => expect(fence?.isWell()).toBe(true));
    away = true;
    await eventually(() => expect(fence?.isWell()).toBe(false));
  });

  test("survives that its own API server is away", async () => {
    let away = true;
    const metadata: KubeClient["metadata"] = (...args) => {
      if (away) throw new Error("away");
      return kube.metadata(...args);
    };
    guard(leader("seed-2", 4), { ...kube, metadata });
    await sleep(100);
    away = false;
    await allStopped();
  });
});

describe("an announcement of a handover", () => {
  const minutes = (count: number) => void (clock += count * 60_000);
  const renew = (value: string) =>
    kube.patch(refs()[0] as ObjectRef, { metadata: { annotations: { [HANDOVER_RENEWED_ANNOTATION]: value } } });
  const ownSnapshot = async () => {
    const [, , , , , job] = controlPlaneOf(run.technicalID);
    const metadata = {
      name: "final-snapshot-4",
      namespace: run.technicalID,
      labels: { [SNAPSHOT_LABEL]: "requested" },
    };
    return await flow(4).create({ ...(job as KubeObject), metadata });
  };

  test("that nothing renews ends after ten minutes: all is stopped but etcd, from which a late flow takes its snapshot", async () => {
    await namespaceFence().announceHandover(run);
    const snapshot = await ownSnapshot();
    await untouched(() => guard(leader("seed-2", 4)));
    minutes(9);
    const before = await state();
    await someRounds();
    expect(await state()).toEqual(before);
    minutes(1);
    const butEtcd = [true, true, false, true, true, true];
    await eventually(async () => expect(await stopped()).toEqual(butEtcd));
    await someRounds();
    expect(await stopped()).toEqual(butEtcd);
    expect(await kube.read(refOf(snapshot))).toMatchObject({ spec: { suspend: false } });
  });

  test("counts while it is renewed, whatever time it names, and again when a worker comes back", async () => {
    await namespaceFence().announceHandover(run);
    guard(leader("seed-2", 4));
    await someRounds();
    const before = await stopped();
    for (const time of ["2026-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2100-01-01T00:00:00Z"]) {
      minutes(9);
      await renew(time);
      await someRounds();
    }
    expect(await stopped()).toEqual(before);
  });

  test("that nothing renews stops nothing while the record names its own seed, or no server answers", async () => {
    await namespaceFence().announceHandover(run);
    let answers = true;
    guard(() => (answers ? leader("seed-1", 3)() : Promise.reject(new Error("timeout"))));
    await someRounds();
    const before = await state();
    minutes(60);
    await someRounds();
    answers = false;
    await someRounds();
    expect(await state()).toEqual(before);
  });

  test("spares no etcd once a takeover has begun", async () => {
    await namespaceFence().announceHandover(run);
    let epoch = 4;
    guard(() => leader("seed-2", epoch)());
    await someRounds();
    minutes(10);
    await eventually(async () => expect(await stopped()).toContain(true));
    epoch = 5;
    await allStopped();
  });
});

describe("a copy of a seed", () => {
  const binding = refTo(ConfigMap, BINDING_CONFIG_MAP);
  const remember = async (data: Readonly<Record<string, object>>) => {
    const texts = Object.entries(data).map(([role, memory]) => [role, JSON.stringify(memory)]);
    await kube.apply({ ...typeMeta(ConfigMap), metadata: { ...BINDING_CONFIG_MAP }, data: Object.fromEntries(texts) });
  };
  const refused = { revision: "3-0123456789abcdef", refused: "the garden names revision 9 of Seed seed-1" };
  afterEach(() => kube.remove(binding));

  test.each<[string, Ask]>([
    ["the record names its own seed and epoch", leader("seed-1", 3)],
    ["no server answers", () => Promise.reject(new Error("no answer"))],
  ])("that was refused runs only what serves, although %s", async (_when, ask) => {
    await remember({ "seed.seed-1": refused });
    guard(ask);
    await eventually(async () => expect(await stopped()).toEqual([true, false, false, true, true, true]));
    await someRounds();
    const cluster = await kube.read(Cluster, { name: run.technicalID });
    const description = `what acts of this Shoot's control plane is stopped: ${refused.refused}`;
    expect(cluster).toMatchObject({ spec: { shoot: { status: { lastOperation: { description } } } } });
  });

  test("stops everything where another seed leads, although it was refused itself", async () => {
    await remember({ "seed.seed-1": refused });
    guard(leader("seed-2", 4));
    await allStopped();
  });

  test("that is still bound in another role goes on", async () => {
    await remember({ "seed.seed-1": refused, garden: { revision: "1-0123456789abcdef" } });
    await untouched(() => guard(leader("seed-1", 3)));
  });
});

describe("a seed leaves everything as it is", () => {
  test.each<[string, Leader]>([
    [
      "when a server that lags behind names an earlier leader of this very Shoot",
      { seed: "seed-2", epoch: 2, shoot: "own" },
    ],
    ["when it leads a later Shoot of that name itself", { seed: "seed-1", epoch: 1, shoot: "later" }],
    ["when an earlier epoch is named without its Shoot", { seed: "seed-2", epoch: 2 }],
  ])("%s", async (_when, said) => {
    await flow().patch(refs()[0] as ObjectRef, { metadata: { annotations: { [SHOOT_UID_ANNOTATION]: "own" } } });
    await untouched(() => guard(async () => said));
  });

  test.each<[string, Ask]>([
    ["while no server answers", () => Promise.reject(new Error("timeout"))],
    ["when the record is gone", () => Promise.resolve(undefined)],
    ["when it is named itself", leader("seed-1", 3)],
    ["when it is named for a revision that has not reached its namespace yet", leader("seed-1", 5)],
    ["when a server that lags behind names an earlier leader", leader("seed-2", 2)],
    ["when two answers differ", () => leader("seed-2", 4 + (asked % 2))()],
  ])("%s", async (_when, ask) => {
    await untouched(() => guard(ask));
  });

  test("when a server that lags behind names an epoch with a digit less", async () => {
    await namespaceFence().announceLeader({ ...run, epoch: 10 });
    await untouched(() => guard(leader("seed-2", 9)));
  });

  test("while a planned migration hands over, and only to the epoch that it has announced", async () => {
    await namespaceFence().announceHandover(run);
    let now = 4;
    await untouched(() => guard(() => leader("seed-2", now)()));
    await namespaceFence().raiseFence({ ...run, epoch: 4 });
    const before = await stopped();
    await someRounds();
    expect(await stopped()).toEqual(before);
    now = 5; // somebody has approved a takeover
    await allStopped();
  });

  test("when the handover is announced after it has looked at its namespaces", async () => {
    const before = await stopped();
    guard(async () => {
      if (asked === 1) await namespaceFence().announceHandover(run);
      return { seed: "seed-2", epoch: 4 };
    });
    await someRounds();
    expect(await stopped()).toEqual(before);
  });
});

test("a fence lists no whole namespaces, and holds no more than a page of them", async () => {
  const asked: string[] = [];
  const list: KubeClient["list"] = (type, ...rest) => {
    asked.push(type.kind);
    return kube.list(type, ...rest);
  };
  guard(leader("seed-1", 3), { ...kube, list });
  await someRounds();
  expect(asked).toEqual([]);
  for await (const namespace of kube.metadata(Namespace)) {
    expect(Object.keys(namespace).toSorted()).toEqual(["apiVersion", "kind", "metadata"]);
  }
});

test("a fence that sleeps before it looks for workloads stops nothing of a later revision of its seed", async () => {
  let slept = false;
  const list: KubeClient["list"] = async (type, ...rest) => {
    if (!slept && type.kind === "Deployment") {
      slept = true;
      run = { ...run, epoch: 5 };
      for (const object of controlPlaneOf(run.technicalID)) await flow(5).apply(object);
    }
    return kube.list(type, ...rest);
  };
  guard(() => (slept ? leader("seed-1", 5)() : leader("seed-2", 4)()), { ...kube, list });
  await eventually(() => expect(slept).toBe(true));
  await someRounds();
  expect(await stopped()).toEqual([false, false, false, false, false, false]);
});

test("a fence that sleeps stops nothing that a later revision of its seed has begun", async () => {
  let slept = false;
  const sleepy: KubeClient = {
    ...kube,
    async patch(ref, patch, o) {
      if (!slept && o?.fieldManager === "perennial-fence") {
        slept = true;
        // An hour: the Shoot has come back, its flow has deployed it anew.
        run = { ...run, epoch: 5 };
        for (const object of controlPlaneOf(run.technicalID)) await flow(5).apply(object);
      }
      return kube.patch(ref, patch, o);
    },
  };
  guard(() => (slept ? leader("seed-1", 5)() : leader("seed-2", 4)()), sleepy);
  await eventually(() => expect(slept).toBe(true));
  await someRounds();
  expect(await stopped()).toEqual([false, false, false, false, false, false]);
  expect((await kube.read(refs()[0] as ObjectRef))?.metadata.annotations).not.toHaveProperty(HANDOVER_ANNOTATION);
});

const clusterType = { apiVersion: "extensions.gardener.cloud/v1alpha1", kind: "Cluster" };

function isStopped(object: Stoppable | undefined): boolean {
  const { replicas, suspend, shoot } = object?.spec ?? {};
  if (object?.metadata?.annotations?.["resources.gardener.cloud/ignore"] === "true") return true;
  return replicas === 0 || suspend === true || shoot?.status?.lastOperation?.state === "Failed";
}

interface Stoppable {
  readonly metadata?: KubeObject["metadata"];
  readonly spec?: {
    readonly replicas?: number;
    readonly suspend?: boolean;
    readonly shoot?: { readonly status?: { readonly lastOperation?: { readonly state: string } } };
  };
}

function controlPlaneOf(namespace: string): KubeObject[] {
  const podSpec = { containers: [{ name: "main", image: "main" }] };
  const labels = { app: "main" };
  const selector = { matchLabels: labels };
  const template = { metadata: { labels }, spec: podSpec };
  const jobSpec = { template: { spec: { ...podSpec, restartPolicy: "Never" } } };
  const shoot = {
    metadata: { name: "local" },
    status: { lastOperation: { type: "Reconcile", state: "Succeeded", progress: 100 } },
  };
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels: { [ROLE_LABEL]: "shoot" } } },
    { ...clusterType, metadata: { name: namespace }, spec: { cloudProfile: {}, seed: {}, shoot } },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "kube-apiserver", namespace },
      spec: { replicas: 2, selector, template },
    },
    {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name: "etcd-main", namespace },
      spec: { replicas: 1, serviceName: "etcd-main", selector, template },
    },
    {
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name: "etcd-backup", namespace },
      spec: { schedule: "* * * * *", suspend: false, jobTemplate: { spec: jobSpec } },
    },
    {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "snapshot", namespace },
      spec: { ...jobSpec, suspend: false },
    },
    {
      apiVersion: "resources.gardener.cloud/v1alpha1",
      kind: "ManagedResource",
      metadata: { name: "cloud-controller-manager", namespace },
      spec: { class: "seed", secretRefs: [{ name: "cloud-controller-manager" }] },
    },
  ];
}
