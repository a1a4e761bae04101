import { randomBytes } from "node:crypto";
import { beforeEach, describe, expect } from "vitest";
import { STATE_PART_LABEL } from "../../src/api/labels.ts";
import { ensureSecrets } from "../../src/activities/secrets/secrets.ts";
import { createShootStates, type ShootStates } from "../../src/activities/state/shoot-state.ts";
import type { SnapshotRecord } from "../../src/activities/state/snapshot-record.ts";
import type { StateItem } from "../../src/activities/state/entry.ts";
import { StateTooLarge } from "../../src/activities/state/layout.ts";
import { createStateActivities, type StateActivities } from "../../src/activities/state/activities.ts";
import { Superseded } from "../../src/activities/superseded.ts";
import { EPOCH_ANNOTATION, STATE_KEY_ANNOTATION, STATE_PROBLEM_ANNOTATION } from "../../src/api/annotations.ts";
import { Infrastructure, ShootState } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { KubeError, refTo, Secret, type KubeClient } from "../../src/kube/index.ts";
import { exampleContext } from "../support/control-plane-context.ts";
import { test as it } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { newKeyring, newStateKey } from "../support/state-keys.ts";
import { shootRun } from "../support/shoot-run.ts";

const garden = "garden-dev";
const [own, gardenKey] = [newStateKey("seed-1"), newStateKey("garden")];
const keys = newKeyring({ own: [own], garden: [gardenKey] });
let controlPlane: ControlPlane;
let kube: KubeClient;
let run: ShootRun;
let states: ShootStates;
let activities: StateActivities;
let count = 0;

it.beforeAll(async ({ cluster }) => {
  controlPlane = cluster;
  kube = controlPlane.client;
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: garden } });
});
beforeEach(async () => {
  const name = `state-${(count += 1)}`;
  run = shootRun({ name, technicalID: `shoot--dev--${name}`, uid: `uid-of-${name}` });
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: run.technicalID } });
  states = createShootStates({ gardenClient: kube, keys });
  activities = createStateActivities({ gardenClient: kube, seedClient: kube, keys });
});

const worker = (state: object, name = "w"): StateItem => ({
  section: "extensions",
  fields: { kind: "Worker", name },
  content: state,
});
/** Bytes that no compression makes smaller. */
const noise = (bytes: number) => ({ noise: randomBytes(bytes * 0.7).toString("base64") });
const stateRef = (name = run.name) => refTo(ShootState, { namespace: garden, name });
const readState = async (name?: string) => {
  const state = await kube.read(stateRef(name));
  if (state === undefined) throw new Error("there is no ShootState");
  return state;
};
const listParts = async () => {
  const labelSelector = `${STATE_PART_LABEL}=${run.name}`;
  const { apiVersion, kind } = stateRef();
  return (await kube.list(stateRef(), { namespace: garden, labelSelector })).map(({ metadata }) => ({
    apiVersion,
    kind,
    ...metadata,
  }));
};

/** The Shoot in another seed, which restores it. */
const elsewhere = async () => {
  const technicalID = `${run.technicalID}-there`;
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: technicalID } });
  return { ...run, operation: "Restore" as const, epoch: 2, technicalID };
};

describe("a ShootState", () => {
  it("is written once, and again only when something changes", async () => {
    await states.keep(run, [worker({ machines: ["a"] })]);
    const { metadata } = await readState();
    expect(metadata.finalizers).toEqual(["core.gardener.cloud/shootstate"]);
    expect(metadata.annotations).toMatchObject({
      [EPOCH_ANNOTATION]: "1",
      [STATE_KEY_ANNOTATION]: [gardenKey.id, own.id].join(","),
    });
    await states.keep(run, [worker({ machines: ["a"] })]);
    expect((await readState()).metadata.resourceVersion).toBe(metadata.resourceVersion);
    await states.keep(run, [worker({ machines: ["a", "b"] })]);
    expect(await states.read(run)).toEqual([worker({ machines: ["a", "b"] })]);
  });

  it("shows no content to readers in the garden", async () => {
    await states.keep(run, [worker({ token: "abcdefghijklmnop" })]);
    expect(JSON.stringify(await readState())).not.toContain("abcdefghijklmnop");
    expect(await controlPlane.etcdctl("get", "--prefix", "/registry/core.gardener.cloud")).not.toContain("abcdefghij");
  });

  it("takes nothing of an epoch that is over, however late it comes", async () => {
    await states.keep(run, [worker({ machines: ["a"] })]);
    await states.claim({ ...run, epoch: 2 });
    const before = (await readState()).metadata.resourceVersion;
    await expect(states.keep(run, [worker({ machines: [] })])).rejects.toThrow(Superseded);
    await expect(states.keep(run, [])).rejects.toThrow("epoch 2 leads, and this is of epoch 1");
    await expect(states.recordSnapshot(run, snapshot(9))).rejects.toMatchObject({ retryable: false });
    expect((await readState()).metadata.resourceVersion).toBe(before);
    expect(await states.read(run)).toEqual([worker({ machines: ["a"] })]);
  });

  it("takes what is made in the epoch before until the next one's flow has claimed it, and nothing of a watch there", async () => {
    await states.keep(run, [worker({ machines: ["a"] })]);
    const next = { ...run, epoch: 2 };
    await states.keep(next, [worker({ machines: [] })]); // the next leader's worker, before the leases are over
    await states.keep(run, [worker({ machines: ["a", "b"] })]);
    expect(await states.read(run)).toEqual([worker({ machines: ["a", "b"] })]);
    await states.claim(next);
    await states.keep(next, [worker({ machines: ["c"] })]);
    expect(await states.read(run)).toEqual([worker({ machines: ["c"] })]);
  });

  it("tells the tenth epoch from the ninth", async () => {
    await states.keep({ ...run, epoch: 9 }, [worker({ machines: ["a"] })]);
    await states.claim({ ...run, epoch: 10 });
    await states.keep({ ...run, epoch: 10 }, [worker({ machines: ["b"] })]);
    await expect(states.keep({ ...run, epoch: 9 }, [worker({ machines: [] })])).rejects.toThrow(Superseded);
    await expect(states.readSecrets({ ...run, epoch: 9 }, [])).rejects.toThrow(Superseded);
    expect(await states.read(run)).toEqual([worker({ machines: ["b"] })]);
  });

  it("takes nothing of a writer that stood still while the lead changed", async () => {
    await states.keep(run, [worker({ machines: ["a"] })]);
    const paused = createShootStates({
      keys,
      gardenClient: {
        ...kube,
        replace: async (object) => {
          await states.claim({ ...run, epoch: 2 });
          return kube.replace(object);
        },
      },
    });
    await expect(paused.keep(run, [worker({ machines: [] })])).rejects.toThrow(Superseded);
    expect(await states.read(run)).toEqual([worker({ machines: ["a"] })]);
  });

  it("takes nothing of a late watch after the last look in its epoch", async () => {
    await states.keep(run, [worker({ machines: ["a"] })]);
    const late = createShootStates({
      keys,
      gardenClient: {
        ...kube,
        replace: async (object) => {
          await states.keepLast(run, () => Promise.resolve([worker({ machines: ["a", "b", "c"] })]));
          return kube.replace(object);
        },
      },
    });
    await late.keep(run, [worker({ machines: ["a", "b"] })]);
    const after = await readState();
    await states.keep(run, [worker({ machines: ["a", "b"] })]);
    await states.keepLast(run, () => Promise.resolve([worker({ machines: ["a", "b", "c"] })]));
    expect((await readState()).metadata.resourceVersion).toBe(after.metadata.resourceVersion);
    expect(await states.read(run)).toEqual([worker({ machines: ["a", "b", "c"] })]);
    await states.recordSnapshot(run, snapshot(1)); // it holds no one up but watches
    await states.claim({ ...run, epoch: 2 }); // the migration was given up
    await states.keep({ ...run, epoch: 2 }, [worker({ machines: ["d"] })]);
    expect(await states.read(run)).toContainEqual(worker({ machines: ["d"] }));
    expect((await readState()).metadata.annotations).not.toHaveProperty("perennial.dev/state-final");
  });

  it("holds what the last look has found, after all that others have written", async () => {
    await states.keep(run, [worker({ machines: ["a"] })]);
    let machines = ["a", "b"];
    const paused = createShootStates({
      keys,
      gardenClient: {
        ...kube,
        replace: async (object) => {
          if (machines.length === 2) {
            machines = ["a", "b", "c"];
            await states.keepLast(run, () => Promise.resolve([worker({ machines })]));
          }
          return kube.replace(object);
        },
      },
    });
    const found = await paused.keepLast(run, () => Promise.resolve([worker({ machines })]));
    expect(found).toEqual([worker({ machines: ["a", "b", "c"] })]);
    expect(await states.read(run)).toEqual(found);
  });

  it("loses nothing when several write at once", async () => {
    const items = Array.from({ length: 6 }, (_, index) => worker({ index }, `w-${index}`));
    await Promise.all(items.map((item) => states.keep(run, [item])));
    expect((await states.read(run))?.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))).toEqual(
      items,
    );
  });

  it("is never taken for that of another Shoot of the same name", async () => {
    await states.keep(run, [worker({ machines: ["a"] })]);
    const later = { ...run, uid: "another" };
    await expect(states.read(later)).rejects.toThrow("belongs to an earlier Shoot of this name");
    await expect(states.keep(later, [])).rejects.toMatchObject({ retryable: true });
    await states.remove(later);
    expect(await states.read(run)).toHaveLength(1);
  });

  it("is not taken away from under another seed that leads by now", async () => {
    await states.keep(run, [worker({ machines: ["a"] })]);
    await states.claim({ ...run, epoch: 2 });
    await expect(states.remove(run)).rejects.toThrow(Superseded);
    expect(await states.read(run)).toHaveLength(1);
  });

  it("goes for good, with all its parts", async () => {
    await states.keep(run, [worker(noise(600_000)), worker(noise(600_000), "x")]);
    expect(await listParts()).toHaveLength(1);
    await states.remove(run);
    expect(await kube.read(stateRef())).toBeUndefined();
    expect(await listParts()).toEqual([]);
    await states.remove(run); // again: it is gone, and that is fine
  });
});

describe("a ShootState that is too large for one object", () => {
  it("is split over several and read as one", async () => {
    const items = ["a", "b", "c", "d"].map((name) => worker(noise(700_000), name));
    await states.keep(run, items);
    expect(await listParts()).toHaveLength(3);
    expect(await states.read(run)).toEqual(items);
    expect(await activities.stateSize({ ...run, technicalID: "none" }).catch(String)).toContain("lacks Secret ca");
  });

  it("rewrites only what has changed", async () => {
    const items = ["a", "b", "c"].map((name) => worker(noise(700_000), name));
    await states.keep(run, items);
    const before = (await listParts()).map(({ name }) => name);
    await states.keep(run, [worker(noise(700_000), "b")]);
    const after = (await listParts()).map(({ name }) => name);
    expect(after.filter((name) => before.includes(name))).toHaveLength(1);
    expect(after).toHaveLength(2);
  });

  it.each([1, 2, 3, 4, 5, 6])("is as it was, or as it was to be, when its writer dies at write %i", async (limit) => {
    const old = ["a", "b", "c"].map((name) => worker(noise(700_000), name));
    await states.keep(run, old);
    const changed = ["a", "b", "c", "d"].map((name) => worker(noise(700_000), name));
    const dying = createShootStates({ gardenClient: dyingAt(limit), keys });
    await dying.keep(run, changed).catch(() => {});
    expect([old, changed]).toContainEqual(await states.read(run));
    await states.keep(run, changed);
    expect(await states.read(run)).toEqual(changed);
    expect(await listParts()).toHaveLength(3);
  });

  it("is read whole while it is being rewritten", async () => {
    const version = (round: number) => ["a", "b"].map((name) => worker({ round, ...noise(500_000) }, name));
    await states.keep(run, version(0));
    const rounds = new Set<unknown>();
    let writing = true;
    const writer = (async () => {
      for (let round = 1; round <= 5; round += 1) await states.keep(run, version(round));
      writing = false;
    })();
    while (writing) {
      const seen = ((await states.read(run)) ?? []).map(({ content }) => (content as { round: number }).round);
      expect(new Set(seen).size).toBe(1);
      rounds.add(seen[0]);
    }
    await writer;
    expect(rounds.size).toBeGreaterThan(1);
  });

  it("says so where it does not fit at all, keeps what it had, and takes the lead and snapshots still", async () => {
    await states.keep(run, [worker({ machines: ["a"] })]);
    const giant = worker(noise(1_000_000));
    await expect(states.keep(run, [giant])).rejects.toThrow(StateTooLarge);
    const problem = async () => (await readState()).metadata.annotations?.[STATE_PROBLEM_ANNOTATION];
    expect(await problem()).toMatch(/Worker w \(\d+ kB\) alone exceeds 900 kB/);
    await states.claim({ ...run, epoch: 2 });
    await states.recordSnapshot({ ...run, epoch: 2 }, snapshot(1));
    expect(await problem()).toBeDefined();
    expect(await states.read(run)).toContainEqual(worker({ machines: ["a"] }));
    await states.keep({ ...run, epoch: 2 }, [worker({ machines: ["b"] })]);
    expect(await problem()).toBeUndefined();
  });
});

describe("the latest snapshot", () => {
  it("is the one with the highest revision, until another seed leads", async () => {
    expect(await states.latestSnapshot(run)).toBeUndefined();
    await states.recordSnapshot(run, snapshot(10));
    await states.recordSnapshot(run, snapshot(5));
    expect(await states.latestSnapshot(run)).toEqual(snapshot(10));
    await states.recordSnapshot({ ...run, epoch: 2 }, snapshot(7));
    expect(await states.latestSnapshot(run)).toEqual(snapshot(7));
  });
});

describe("a Shoot's keys", () => {
  const keep = async () => {
    await ensureSecrets(kube, exampleContext({ namespace: run.technicalID }));
    await activities.persistState(run);
  };
  const secretsOf = async ({ technicalID: namespace }: ShootRun) =>
    new Map((await kube.list(Secret, { namespace })).map((one) => [one.metadata.name, one]));

  it("are the same in the other seed, and its control plane is made with them", async () => {
    await keep();
    const there = await elsewhere();
    await activities.restoreSecrets(there);
    const [before, restored] = [await secretsOf(run), await secretsOf(there)];
    expect([...restored.keys()].toSorted()).toEqual([
      "ca",
      "ca-client",
      "ca-etcd",
      "ca-etcd-peer",
      "ca-front-proxy",
      "ca-kubelet",
      "kube-apiserver-etcd-encryption-key",
      "service-account-key",
    ]);
    for (const [name, { data, metadata }] of restored) {
      expect(data).toEqual(before.get(name)?.data);
      expect(metadata.labels).toEqual(before.get(name)?.metadata.labels);
    }
    const versions = async () => [...(await secretsOf(there)).values()].map(({ metadata }) => metadata.resourceVersion);
    const first = await versions();
    await activities.restoreSecrets(there); // again, as an activity may be
    expect(await versions()).toEqual(first);
    await ensureSecrets(kube, exampleContext({ namespace: there.technicalID }));
    for (const [name] of restored) {
      expect((await secretsOf(there)).get(name)?.metadata.resourceVersion).toBe(
        restored.get(name)?.metadata.resourceVersion,
      );
    }
  });

  it("are out of reach for the old seed once the new one has begun to restore", async () => {
    await keep();
    await activities.restoreSecrets(await elsewhere());
    await expect(activities.persistState(run)).rejects.toThrow(Superseded);
  });

  it("may have changed since the first try to move", async () => {
    await keep();
    const there = await elsewhere();
    await activities.restoreSecrets({ ...there, operation: "Migrate", epoch: 1 });
    await kube.patch(secret(run, "ca-kubelet"), { data: { extra: "MQ==" } });
    await activities.persistState(run);
    await activities.persistState({ ...there, epoch: 1 }).catch(() => {}); // a copy never replaces what is kept
    await activities.restoreSecrets(there);
    expect((await secretsOf(there)).get("ca-kubelet")?.data).toMatchObject({ extra: "MQ==" });
    await kube.patch(secret(there, "ca-kubelet"), { data: { extra: "Mg==" } }); // it is the Shoot's own by now
    await activities.persistState(there);
    expect(JSON.stringify(await states.read(run))).toContain('"extra":"Mg=="');
  });

  it("never replace others that are there", async () => {
    await keep();
    const there = await elsewhere();
    await createSecret(there, "ca", {});
    await expect(activities.restoreSecrets(there)).rejects.toThrow(
      `cannot restore Secret ${there.technicalID}/ca: another one is there`,
    );
  });

  it("are all asked for before a Shoot moves", async () => {
    await expect(activities.restoreSecrets(run)).rejects.toThrow(`there is no ShootState ${garden}/${run.name}`);
    await ensureSecrets(kube, exampleContext({ namespace: run.technicalID }));
    await activities.checkState(run);
    await kube.remove(secret(run, "ca-client"));
    await expect(activities.checkState(run)).rejects.toThrow("lacks Secret ca-client");
    await expect(activities.persistState(run)).rejects.toThrow("lacks Secret ca-client");
    await expect(activities.restoreSecrets(run)).rejects.toThrow("lacks Secret ca-client");
  });
});

describe("an extension's state", () => {
  it("comes with the objects that it refers to, as they were left", async () => {
    await ensureSecrets(kube, exampleContext({ namespace: run.technicalID }));
    await createSecret(run, "ssh", { key: "b2xk" });
    const resources = [{ name: "key", resourceRef: { apiVersion: "v1", kind: "Secret", name: "ssh" } }];
    const infrastructure = await createInfrastructure({ state: { vpc: "v-1" }, resources });
    await activities.persistState(run);
    expect(await states.readExtension(run, infrastructure)).toEqual({ state: { vpc: "v-1" }, resources });
    const there = await elsewhere();
    await activities.restoreSecrets({ ...there, operation: "Migrate", epoch: 1 });
    await kube.patch(secret(run, "ssh"), { data: { key: "bmV3" } }); // by its controller, while it lets go
    await activities.persistState(run);
    await activities.restoreSecrets(there);
    expect(await activities.restoreExtensionState(there, infrastructure)).toEqual({ state: { vpc: "v-1" }, resources });
    expect(await kube.read(secret(there, "ssh"))).toMatchObject({ data: { key: "bmV3" } });
    await kube.patch(secret(there, "ssh"), { data: { key: "bGF0ZXI=" } }); // by its controller there
    await activities.restoreExtensionState(there, infrastructure); // again, as an activity may be
    expect(await kube.read(secret(there, "ssh"))).toMatchObject({ data: { key: "bGF0ZXI=" } });
  });

  it("stays kept when its object is being deleted, has lost it, or is gone", async () => {
    await ensureSecrets(kube, exampleContext({ namespace: run.technicalID }));
    const infrastructure = await createInfrastructure({ state: { vpc: "v-1" } }, ["provider/x"]);
    await activities.persistState(run);
    const kept = () => states.readExtension(run, infrastructure);
    const ref = refTo(Infrastructure, { namespace: run.technicalID, name: run.name });
    await kube.remove(ref);
    await kube.patch(ref, { status: { state: { vpc: "half gone" } } }, { subresource: "status" });
    await activities.persistState(run);
    expect(await kept()).toEqual({ state: { vpc: "v-1" } });
    await kube.patch(ref, { metadata: { finalizers: null } });
    await activities.persistState(run);
    await createInfrastructure({});
    await activities.persistState(run);
    expect(await kept()).toEqual({ state: { vpc: "v-1" } });
  });

  it("stays kept when its object goes on referring to others and says nothing else any more", async () => {
    await ensureSecrets(kube, exampleContext({ namespace: run.technicalID }));
    await createSecret(run, "ssh", { key: "c2VjcmV0" });
    const resources = [{ name: "key", resourceRef: { apiVersion: "v1", kind: "Secret", name: "ssh" } }];
    const infrastructure = await createInfrastructure({ state: { vpc: "v-1" }, resources });
    await activities.persistState(run);
    const { metadata } = infrastructure;
    const ref = refTo(Infrastructure, { namespace: metadata.namespace, name: metadata.name });
    await kube.patch(ref, { status: { state: null } }, { subresource: "status" });
    await activities.persistState(run);
    expect(await states.readExtension(run, infrastructure)).toEqual({ state: { vpc: "v-1" }, resources });
  });

  const createInfrastructure = async (status: object, finalizers: string[] = []) => {
    const object = await kube.create<Infrastructure>({
      apiVersion: "extensions.gardener.cloud/v1alpha1",
      kind: "Infrastructure",
      metadata: { namespace: run.technicalID, name: run.name, finalizers },
      spec: { type: "local", region: "local", secretRef: { name: "cloudprovider", namespace: run.technicalID } },
    });
    const { metadata } = object;
    const ref = refTo(Infrastructure, { namespace: metadata.namespace, name: metadata.name });
    return kube.patch(ref, { status }, { subresource: "status" });
  };
});

const snapshot = (revision: number): SnapshotRecord => ({
  name: `snapshot-${revision}.db`,
  revision,
  hash: 4711,
  size: 20_000,
  takenAt: "2026-11-21T10:00:00Z",
  bucket: "bucket",
});

const secret = ({ technicalID: namespace }: ShootRun, name: string) => refTo(Secret, { namespace, name });

const createSecret = ({ technicalID: namespace }: ShootRun, name: string, data: object) =>
  kube.create({ apiVersion: "v1", kind: "Secret", metadata: { namespace, name }, data });

/** The garden for a process that is killed when it is about to make this write, counted from 1. */
function dyingAt(limit: number): KubeClient {
  let writes = 0;
  const live = (): Promise<void> => {
    writes += 1;
    const killed = new KubeError("killed", { status: 0, reason: "", retryable: true });
    return writes < limit ? Promise.resolve() : Promise.reject(killed);
  };
  return {
    ...kube,
    create: (object) => live().then(() => kube.create(object)),
    replace: (object) => live().then(() => kube.replace(object)),
    patch: (ref, patch) => live().then(() => kube.patch(ref, patch)),
    remove: (ref, o) => live().then(() => kube.remove(ref, o)),
  };
}
