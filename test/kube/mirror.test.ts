import { afterAll, afterEach, beforeEach, describe, expect } from "vitest";
import { createShootStates } from "../../src/activities/state/shoot-state.ts";
import { Machine } from "../../src/activities/machines/kinds.ts";
import { machinesIn, noMachines, type MachineState } from "../../src/activities/machines/state.ts";
import type { StateKeyring } from "../../src/activities/state/keyring.ts";
import { EPOCH_ANNOTATION, STATE_KEY_ANNOTATION } from "../../src/api/annotations.ts";
import { Cluster, Infrastructure, Shoot, ShootState } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { createKubeClient, refTo, Secret, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createMirror, type Mirror } from "../../src/worker/mirror/mirror.ts";
import { test as it } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { startFaultyProxy, type FaultyProxy } from "../support/faulty-proxy.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { newKeyring, newStateKey } from "../support/state-keys.ts";

const log = createLogger({ name: "test", level: "silent" });
const extensions = "extensions.gardener.cloud/v1alpha1";
const [own, garden] = [newStateKey("seed-1"), newStateKey("garden")];
const keys = newKeyring({ own: [own], garden: [garden] });
/** What an extension controller writes is not the flow's, which the fencing policies would ask for its epoch. */
const theirs = { fieldManager: "extension" };
let controlPlane: ControlPlane;
let kube: KubeClient;
let proxy: FaultyProxy;
let gardenClient: KubeClient;
let run: ShootRun;
let mirror: Mirror;
let count = 0;

it.beforeAll(async ({ cluster }) => {
  controlPlane = cluster;
  kube = controlPlane.client;
  await applyGarden(kube);
  proxy = await startFaultyProxy(controlPlane.tokenKubeconfig);
  gardenClient = createKubeClient({ file: proxy.kubeconfigFile });
});
afterAll(async () => {
  await gardenClient.close();
  await proxy.close();
});

beforeEach(async () => {
  run = await createShoot(kube, `mirrored-${(count += 1)}`);
  await lead("seed-1", 1);
  await settle(1);
  mirror = startMirror();
  await mirror.synced();
});
afterEach(() => mirror.stop());

/** How often what a seed has was listed by mirrors. */
let looks = 0;
const startMirror = (withKeys: StateKeyring = keys, seedName = "seed-1") => {
  const snapshot = ((...args: Parameters<KubeClient["snapshot"]>) => {
    looks += 1;
    return kube.snapshot(...args);
  }) as KubeClient["snapshot"];
  const list = ((...args: Parameters<KubeClient["list"]>) => {
    looks += 1;
    return kube.list(...args);
  }) as KubeClient["list"];
  const seedClient = { ...kube, list, snapshot };
  const started = createMirror({ gardenClient, seedClient, seedName, keys: withKeys, log });
  started.start();
  return started;
};
const shootRef = () => refTo(Shoot, { namespace: run.namespace, name: run.name });
/** Says in the garden which seed leads. */
const lead = (seed: string, epoch: number) =>
  kube.patch(
    shootRef(),
    { status: { seedName: seed, leadership: { record: "record", seed, epoch, leaseSeconds: 60 } } },
    { subresource: "status" },
  );
/** Says in the seed which Shoot the namespace is of, and under which epoch is written there. */
const settle = async (epoch: number) => {
  const { technicalID: name } = run;
  const shoot = await kube.read(shootRef());
  await kube.apply({ apiVersion: extensions, kind: "Cluster", metadata: { name }, spec: { shoot, cloudProfile: {} } });
  const metadata = {
    name,
    labels: { "gardener.cloud/role": "shoot" },
    annotations: { [EPOCH_ANNOTATION]: String(epoch) },
  };
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata });
};
const createSecret = (name: string, labels: Record<string, string> = { persist: "true" }) => {
  const metadata = { namespace: run.technicalID, name, labels };
  return kube.create({ apiVersion: "v1", kind: "Secret", metadata, data: { key: "c2VjcmV0" } }, theirs);
};
const infrastructureRef = () => refTo(Infrastructure, { namespace: run.technicalID, name: run.name });
const createInfrastructure = () => {
  const metadata = { namespace: run.technicalID, name: run.name };
  const spec = { type: "local", region: "local", secretRef: { name: "cloudprovider", namespace: run.technicalID } };
  return kube.create<Infrastructure>({ apiVersion: extensions, kind: "Infrastructure", metadata, spec }, theirs);
};
const writeStatus = (status: object) =>
  kube.patch(infrastructureRef(), { status }, { subresource: "status", ...theirs });
const writeState = (state: object) => writeStatus({ state });
/** Waits until the mirror has asked nothing for a while; returns how often it has asked by then. */
const quiet = () =>
  eventually(async () => {
    const before = proxy.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 400));
    return proxy.requests.length === before && before;
  });
/** What the garden keeps, by name. */
const kept = async (withKeys: StateKeyring = keys) => {
  const items = (await createShootStates({ gardenClient: kube, keys: withKeys }).read(run)) ?? [];
  return Object.fromEntries(items.map(({ fields, content }) => [fields["name"] as string, content]));
};
const readState = () => kube.read(ShootState, { namespace: run.namespace, name: run.name });

describe("what a seed has of a Shoot", () => {
  it("is in the garden after every change, of which watches tell it: nothing is looked for", async () => {
    await createInfrastructure();
    await createSecret("ca");
    await eventually(async () => expect(await kept()).toHaveProperty("ca"));
    const before = looks;
    expect(before, "mirrors list what there is when they start").toBeGreaterThan(0);
    const delays: number[] = [];
    for (let change = 1; change <= 10; change += 1) {
      const begin = performance.now();
      await writeState({ change });
      await eventually(async () => expect(await kept()).toMatchObject({ [run.name]: { change } }));
      delays.push(performance.now() - begin);
    }
    expect(looks - before).toBe(0);
    const [median = Infinity] = delays.toSorted((one, other) => one - other).slice(5);
    console.info(`mirrored after ${Math.round(median)} ms, after ${Math.round(Math.max(...delays))} ms at most`);
  });

  it("has the machines of a Worker of this epoch, once they are made, in upstream's form", async () => {
    const namespace = run.technicalID;
    const api = "machine.sapcloud.io/v1alpha1";
    const spec = { template: { metadata: {}, spec: { class: { kind: "MachineClass", name: "a" }, nodeTemplate: {} } } };
    const make = (kind: string, name: string, owner: object | undefined, more: object) =>
      kube.create(
        {
          ...{ apiVersion: api, kind, ...more },
          metadata: {
            name,
            namespace,
            ...(owner && { ownerReferences: [{ apiVersion: api, uid: "1", ...owner }] }),
          } as never,
        },
        theirs,
      );
    const secretRef = { name: "cloudprovider", namespace };
    await kube.create(
      {
        ...{ apiVersion: extensions, kind: "Worker", spec: { type: "local", region: "local", secretRef, pools: [] } },
        metadata: { namespace, name: run.name, annotations: { [EPOCH_ANNOTATION]: "1" } },
      },
      theirs,
    );
    await make("MachineDeployment", "pool", undefined, { spec: { replicas: 1, ...spec } });
    await make("MachineSet", "pool-1", { kind: "MachineDeployment", name: "pool" }, { spec: { replicas: 1, ...spec } });
    const ofMachine = { class: { kind: "MachineClass", name: "a" }, nodeTemplate: {}, providerID: "x:///1" };
    await make("Machine", "pool-1-a", { kind: "MachineSet", name: "pool-1" }, { spec: ofMachine });
    const machines = async () => machinesIn(((await kept())["machine-state"] ?? noMachines) as MachineState);
    await eventually(async () => expect(await machines()).toEqual(["pool-1-a"]));

    const { gardener = [] } = (await readState())?.spec ?? {};
    expect(gardener.map(({ type, name }) => [type, name])).toContainEqual(["machine-state", "machine-state"]);
    await kube.remove(refTo(Machine, { namespace, name: "pool-1-a" }));
    await eventually(async () => expect(await machines()).toEqual([]));
  });

  it("is written once for many changes, and not at all for what is no state", async () => {
    await createInfrastructure();
    await writeState({ change: 0 });
    await eventually(async () => expect(await kept()).toMatchObject({ [run.name]: { change: 0 } }));
    const before = await quiet();
    const lastOperation = {
      type: "Reconcile",
      state: "Processing",
      description: "",
      lastUpdateTime: new Date().toISOString(),
    };
    for (let progress = 1; progress <= 10; progress += 1) {
      await writeStatus({ lastOperation: { ...lastOperation, progress } });
    }
    await createSecret("ours", {});
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(proxy.requests.slice(before)).toEqual([]);
    const changed = Promise.withResolvers<void>();
    proxy.watch(async ({ line, moment }) => {
      if (line.startsWith("PUT") && moment === "asked") await changed.promise; // however slowly the changes come
      return true;
    });
    for (let change = 1; change <= 20; change += 1) await writeState({ change });
    changed.resolve();
    await eventually(async () => expect(await kept()).toMatchObject({ [run.name]: { change: 20 } }));
    expect(proxy.requests.slice(before).filter((line) => line.startsWith("PUT")).length).toBeLessThan(10);
  });

  it("stays in the garden when its objects are deleted", async () => {
    await createInfrastructure();
    await createSecret("ca");
    await writeState({ vpc: "v-1" });
    await eventually(async () => expect(Object.keys(await kept())).toEqual(["ca", run.name]));
    await kube.remove(infrastructureRef());
    await kube.remove(refTo(Secret, { namespace: run.technicalID, name: "ca" }));
    await createSecret("later");
    await eventually(async () => expect(await kept()).toHaveProperty("later"));
    expect(await kept()).toMatchObject({ ca: {}, [run.name]: { vpc: "v-1" } });
  });

  it("reaches the garden as soon as the garden is back", async () => {
    await createSecret("ca");
    await eventually(async () => expect(await kept()).toHaveProperty("ca"));
    proxy.cut();
    await createSecret("meanwhile");
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    proxy.mend();
    const mended = performance.now();
    await eventually(async () => expect(await kept()).toHaveProperty("meanwhile"));
    expect(performance.now() - mended).toBeLessThan(7_000);
  });

  it("is written by a process that starts later", async () => {
    await mirror.stop();
    await createSecret("ca");
    mirror = startMirror();
    await eventually(async () => expect(await kept()).toHaveProperty("ca"));
  });

  it("is written again when the garden has lost it", async () => {
    await createSecret("ca");
    await eventually(async () => expect(await kept()).toHaveProperty("ca"));
    await createShootStates({ gardenClient: kube, keys }).remove(run);
    await createSecret("another");
    await eventually(async () => expect(Object.keys(await kept()).toSorted()).toEqual(["another", "ca"]));
  });

  it("is mirrored as soon as its namespace says which Shoot it is of", async () => {
    await kube.remove(refTo(Cluster, { name: run.technicalID }));
    await createSecret("ca");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await readState()).toBeUndefined();
    await settle(1);
    await eventually(async () => expect(await kept()).toHaveProperty("ca"));
  });
});

describe("a seed that does not lead the Shoot", () => {
  const silent = async () => {
    await createSecret("late");
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await kept()).not.toHaveProperty("late");
  };

  it("writes nothing", async () => {
    await lead("seed-2", 2);
    await silent();
  });

  it("writes nothing even under the leader's epoch, which a flow has brought to its namespace as a fence", async () => {
    await lead("seed-2", 2);
    await settle(2);
    await silent();
  });

  it("writes nothing when it leads again, but its namespace is still that of the earlier time", async () => {
    await lead("seed-1", 3);
    await silent();
    await settle(3);
    await eventually(async () => expect(await kept()).toHaveProperty("late"));
    expect((await readState())?.metadata.annotations).toMatchObject({ [EPOCH_ANNOTATION]: "3" });
  });

  it("writes nothing once another one has begun to restore, though it does not know", async () => {
    await createSecret("ca");
    await eventually(async () => expect(await kept()).toHaveProperty("ca"));
    await createShootStates({ gardenClient: kube, keys }).claim({ ...run, epoch: 2 });
    await silent();
  });

  it("is in the garden but for what cannot go along, which the ShootState reports until it is mended", async () => {
    const problem = async () => (await readState())?.metadata.annotations?.["perennial.dev/state-problem"];
    await createInfrastructure();
    await createSecret("gardener", {});
    const resources = (name: string) => [{ name: "a", resourceRef: { apiVersion: "v1", kind: "Secret", name } }];
    await writeStatus({ state: { change: 1 }, resources: resources("gardener") });
    await eventually(async () =>
      expect(await problem()).toContain("refers in status.resources to Secret gardener, which cannot go along"),
    );
    expect(await kept()).toEqual({ [run.name]: { change: 1 } });
    await createSecret("state-of-x", {});
    await writeStatus({ resources: resources("state-of-x") });
    await eventually(async () => expect(await kept()).toHaveProperty("state-of-x"));
    expect(await problem()).toBeUndefined();
  });

  it("writes nothing of a Shoot that is gone", async () => {
    await kube.remove(shootRef());
    await createSecret("late");
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await readState()).toBeUndefined();
  });

  it("writes nothing of a Shoot that is gone into the state of a later one of its name, which it leads", async () => {
    const { apiVersion, kind, spec } = (await kube.read(shootRef())) as Shoot;
    await kube.remove(shootRef());
    await kube.create<Shoot>({ apiVersion, kind, metadata: { name: run.name, namespace: run.namespace }, spec });
    await lead("seed-1", 1);
    await createSecret("late");
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await readState()).toBeUndefined();
  });
});

describe("a Shoot that is about to leave", () => {
  it("is not mirrored any more once everything was kept, until another epoch has begun", async () => {
    await createInfrastructure();
    await writeState({ change: 1 });
    await eventually(async () => expect(await kept()).toMatchObject({ [run.name]: { change: 1 } }));
    await createShootStates({ gardenClient: kube, keys }).keepLast(run, () => Promise.resolve([]));
    await writeState({ change: 2 });
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await kept()).toMatchObject({ [run.name]: { change: 1 } });
    await lead("seed-1", 2); // the migration was given up
    await createShootStates({ gardenClient: kube, keys }).claim({ ...run, epoch: 2 });
    await settle(2);
    await eventually(async () => expect(await kept()).toMatchObject({ [run.name]: { change: 2 } }));
  });
});

describe("a seed that has just lost the lead", () => {
  it("keeps what its controllers still make, until the next leader's flow has claimed the state", async () => {
    await createInfrastructure();
    await writeState({ change: 1 });
    await eventually(async () => expect(await kept()).toMatchObject({ [run.name]: { change: 1 } }));
    await kube.patch(
      shootRef(),
      { status: { seedName: "seed-2", leadership: { seed: "seed-2", epoch: 2, previousSeed: "seed-1" } } },
      { subresource: "status" },
    );
    await writeState({ change: 2 });
    await eventually(async () => expect(await kept()).toMatchObject({ [run.name]: { change: 2 } }));
    await createShootStates({ gardenClient: kube, keys }).claim({ ...run, epoch: 2 });
    await writeState({ change: 3 });
    await quiet();
    expect(await kept()).toMatchObject({ [run.name]: { change: 2 } });
  });
});

describe("a new key", () => {
  it("seals everything again when a worker starts with it, and the old key is needed no more", async () => {
    await createSecret("ca");
    await createSecret("gone");
    await eventually(async () => expect(Object.keys(await kept())).toEqual(["ca", "gone"]));
    await kube.remove(refTo(Secret, { namespace: run.technicalID, name: "gone" }));
    await mirror.stop();
    const newer = newStateKey("seed-1");
    mirror = startMirror(newKeyring({ own: [newer, own], garden: [garden] }));
    const holders = [garden.id, newer.id].join(",");
    await eventually(async () =>
      expect((await readState())?.metadata.annotations).toMatchObject({ [STATE_KEY_ANNOTATION]: holders }),
    );
    expect(Object.keys(await kept(newKeyring({ own: [newer] }))).toSorted()).toEqual(["ca", "gone"]);
    await expect(kept(newKeyring({ own: [own] }))).rejects.toThrow("is not wrapped for this worker");
  });
});
