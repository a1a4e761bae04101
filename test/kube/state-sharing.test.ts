import { beforeEach, describe, expect } from "vitest";
import { createSeal } from "../../src/activities/state/seal.ts";
import { createShootStates } from "../../src/activities/state/shoot-state.ts";
import { createStateSharing } from "../../src/activities/state/sharing.ts";
import { openRing, parseRing } from "../../src/activities/state/ring.ts";
import type { StateItem } from "../../src/activities/state/entry.ts";
import type { StateKey } from "../../src/activities/state/keys.ts";
import {
  CORRECTED_EPOCH_ANNOTATION,
  DATA_KEYS_ANNOTATION,
  EPOCH_ANNOTATION,
  STATE_FINAL_ANNOTATION,
  STATE_KEY_ANNOTATION,
} from "../../src/api/annotations.ts";
import { Seed, Shoot, ShootState, type KubeObject } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { createKubeClient, refTo, type KubeClient } from "../../src/kube/index.ts";
import { test as it } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { newKeyring, newStateKey } from "../support/state-keys.ts";

const [one, two, three, garden] = ["seed-1", "seed-2", "seed-3", "garden"].map(newStateKey) as [
  StateKey,
  StateKey,
  StateKey,
  StateKey,
];
const ca: StateItem = { section: "gardener", fields: { name: "ca", type: "secret" }, content: { data: { a: "MQ==" } } };
let kube: KubeClient;
let run: ShootRun;
let count = 0;

it.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await applyGarden(kube);
  const seed = await kube.read(Seed, { name: "seed-1" });
  if (seed === undefined) throw new Error("there is no Seed");
  for (const key of [one, two, three]) {
    const name = key.id.slice(0, 6);
    if (key !== one) await kube.apply({ ...seed, metadata: { name } });
    await publish(name, key);
  }
});
beforeEach(async () => {
  run = await createShoot(kube, `shared-${(count += 1)}`, { seedName: "seed-1" });
  await lead("seed-1", 1);
  await statesOf(one).keep(run, [ca]);
});

const publish = (name: string, { publicKey: stateKey }: StateKey) =>
  kube.patch(refTo(Seed, { name }), { status: { stateKey } }, { subresource: "status" });
const statesOf = (...own: StateKey[]) =>
  createShootStates({ gardenClient: kube, keys: newKeyring({ own, garden: [garden] }) });
const share = (asked: ShootRun = run, keys: readonly StateKey[] = [garden]) =>
  createStateSharing({ gardenClient: kube, keys: async () => keys })(asked);
const shootRef = () => refTo(Shoot, { namespace: run.namespace, name: run.name });
const send = (seedName: string) => kube.patch(shootRef(), { spec: { seedName } });
const lead = (seed: string, epoch: number, more: object = {}) =>
  kube.patch(
    shootRef(),
    { status: { seedName: seed, leadership: { record: "record", seed, epoch, leaseSeconds: 60, ...more } } },
    { subresource: "status" },
  );
const flip = async () => {
  await lead("seed-2", 2, { previousSeed: "seed-1" });
  const lastOperation = { type: "Migrate", state: "Succeeded", progress: 100, description: "", lastUpdateTime: time };
  await kube.patch(shootRef(), { status: { lastOperation } }, { subresource: "status" });
};
const time = "2026-11-21T10:05:00Z";
const stateRef = ({ namespace, name }: Pick<ShootRun, "namespace" | "name"> = run) =>
  refTo(ShootState, { namespace, name });
const readState = async () => {
  const state = await kube.read(stateRef());
  if (state === undefined) throw new Error("there is no ShootState");
  return state;
};
const annotations = async () => (await readState()).metadata.annotations ?? {};
const ringOf = (text: string | undefined) => parseRing(text) ?? {};

describe("what is kept of a Shoot", () => {
  it("opens for the seed that leads it and for no other, whatever else that one holds", async () => {
    expect(await statesOf(one).read(run)).toEqual([ca]);
    await expect(statesOf(two).read(run)).rejects.toThrow(
      /cannot open gardener\/secret\/ca .+ is not wrapped for this worker/,
    );
    expect((await annotations())[STATE_KEY_ANNOTATION]).toBe([garden.id, one.id].join(","));
  });

  it("opens for its next seed before the Shoot goes there, and goes on opening where it is", async () => {
    await send("seed-2");
    await share();
    expect(await statesOf(two).read(run)).toEqual([ca]);
    await statesOf(one).keep(run, [{ ...ca, content: { data: { a: "Mg==" } } }]);
    expect(await statesOf(two).read(run)).toMatchObject([{ content: { data: { a: "Mg==" } } }]);
    expect((await annotations())[EPOCH_ANNOTATION]).toBe("1");
  });

  it("is shared once: the next time nothing is written", async () => {
    await send("seed-2");
    await share();
    const { resourceVersion } = (await readState()).metadata;
    await share();
    expect((await readState()).metadata.resourceVersion).toBe(resourceVersion);
  });

  it("does not open for the seed that the Shoot has left, and what comes later not even with what it remembers", async () => {
    const remembered = await openRing(ringOf((await annotations())[DATA_KEYS_ANNOTATION]), run.uid, [one]);
    expect(remembered.size).toBe(1);
    await send("seed-2");
    await flip();
    await share(); // the old seed is not asked for anything: there is no worker of it
    await expect(statesOf(one).read(run)).rejects.toThrow("is not wrapped for this worker");
    await expect(statesOf(one).keep(run, [ca])).rejects.toThrow("epoch 2 leads");
    expect(await statesOf(two).read(run)).toEqual([ca]);
    await statesOf(two).keep({ ...run, epoch: 2 }, [ca]);
    const [entry] = (await readState()).spec?.gardener ?? [];
    expect(() => createSeal(remembered).open(entry?.data, `gardener/secret/ca of Shoot ${run.uid}`)).toThrow(
      "is not wrapped for this worker",
    );
    expect(await statesOf(two).read(run)).toEqual([ca]);
  });

  it("does not open any more for the seed to which the Shoot was to go, and did not", async () => {
    await send("seed-2");
    await share();
    await send("seed-1");
    await lead("seed-1", 2);
    await share();
    await expect(statesOf(two).read(run)).rejects.toThrow("is not wrapped for this worker");
    expect(await statesOf(one).read(run)).toEqual([ca]);
  });

  it("is shared with the seed that the Shoot names, whatever the caller says", async () => {
    await send("seed-2");
    const migration = { source: "seed-1", destination: "seed-3", takeover: true };
    await share({ ...run, seedName: "seed-3", migration });
    await expect(statesOf(three).read(run)).rejects.toThrow("is not wrapped for this worker");
  });

  it("is not shared under the name of another Shoot, into whose state a seed has copied it", async () => {
    const stolen = (await annotations())[DATA_KEYS_ANNOTATION] ?? "";
    run = await createShoot(kube, `shared-${(count += 1)}`, { seedName: "seed-3" });
    await lead("seed-3", 1);
    await statesOf(three).keep(run, [ca]);
    await kube.patch(stateRef(), { metadata: { annotations: { [DATA_KEYS_ANNOTATION]: stolen } } });
    await send("seed-2");
    await expect(share()).rejects.toThrow(/cannot share ShootState .+ with Seed seed-2: data key .+ is wrapped for/);
    expect((await annotations())[DATA_KEYS_ANNOTATION]).toBe(stolen);
  });

  it("waits for a seed that has published no key", async () => {
    await kube.patch(refTo(Seed, { name: "seed-2" }), { status: { stateKey: null } }, { subresource: "status" });
    await send("seed-2");
    await expect(share()).rejects.toMatchObject({
      message: expect.stringContaining("has published no key"),
      retryable: true,
    });
    await publish("seed-2", two);
    await share();
  });

  it("is shared with a garden's key that was changed since, and then needs the older one no more", async () => {
    const newer = newStateKey("garden");
    await send("seed-2");
    await expect(share(run, [newer])).rejects.toThrow(`none of the garden's keys (${newer.id}) is among them`);
    await share(run, [newer, garden]);
    expect((await annotations())[STATE_KEY_ANNOTATION]?.split(",")).toEqual([newer.id, one.id, two.id].toSorted());
  });
});

describe("the last word of an epoch", () => {
  const later = { ...ca, fields: { name: "later", type: "secret" } };

  it.for([
    ["claims the state", async () => {}],
    ["claims it after the garden has shared it", () => share()],
  ] as const)("is void before that epoch has begun: what a watch sees is kept once its flow %s", async ([, before]) => {
    await statesOf(one).keepLast(run, () => Promise.resolve([ca]));
    await send("seed-2");
    await share();
    await kube.patch(stateRef(), { metadata: { annotations: { [STATE_FINAL_ANNOTATION]: "2" } } });
    await flip();
    await before();
    await statesOf(two).claim({ ...run, epoch: 2 });
    await statesOf(two).keep({ ...run, epoch: 2 }, [later]);
    expect(await statesOf(two).read(run)).toEqual([ca, later]);
  });
});

describe("an epoch that no Shoot has reached", () => {
  const forge = () => kube.patch(stateRef(), { metadata: { annotations: { [EPOCH_ANNOTATION]: "999999999" } } });

  it("is taken back by the garden's worker before the next seed reads the state", async () => {
    await send("seed-2");
    await forge();
    await flip();
    await expect(statesOf(two).claim({ ...run, epoch: 2 })).rejects.toThrow("epoch 999999999 leads");
    await share();
    expect((await annotations())[EPOCH_ANNOTATION]).toBe("2");
    await statesOf(two).claim({ ...run, epoch: 2 });
    await statesOf(two).keep({ ...run, epoch: 2 }, [ca]);
    expect(await statesOf(two).read(run)).toEqual([ca]);
    await expect(statesOf(one).keep(run, [ca])).rejects.toThrow("epoch 2 leads");
  });

  it("is taken back by the garden's worker for the seed that goes on leading, too", async () => {
    await forge();
    await share();
    await statesOf(one).keep(run, [{ ...ca, content: { data: { a: "Mg==" } } }]);
    expect(await annotations()).toMatchObject({ [EPOCH_ANNOTATION]: "1" });
  });

  it("comes down in no other way: not without its name, and not by a seed", async ({ cluster }) => {
    await forge();
    const lower = (client: KubeClient, corrected?: string) =>
      client.patch(stateRef(), {
        metadata: { annotations: { [EPOCH_ANNOTATION]: "1", [CORRECTED_EPOCH_ANNOTATION]: corrected ?? null } },
      });
    await expect(lower(kube)).rejects.toThrow(/epoch 999999999 has begun, and this acts for epoch 1/);
    await expect(lower(kube, "2")).rejects.toThrow(/epoch 999999999 has begun/);
    const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name: "states", namespace: run.namespace } };
    const rules = [{ apiGroups: ["core.gardener.cloud"], resources: ["shootstates"], verbs: ["patch"] }];
    await kube.apply<KubeObject>({ ...rbac, kind: "Role", rules });
    await kube.apply<KubeObject>({
      ...rbac,
      kind: "RoleBinding",
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "states" },
      subjects: [{ kind: "ServiceAccount", name: "seed-1", namespace: "perennial-seeds" }],
    });
    const seed = createKubeClient({ kubeconfig: cluster.kubeconfigOf("seed-1") });
    try {
      await eventually(async () =>
        expect(lower(seed, "999999999")).rejects.toThrow(/epoch 999999999 has begun, and this acts for epoch 1/),
      );
      await lower(kube, "999999999");
    } finally {
      await seed.close();
    }
  });
});

describe("a seed's key that was lost", () => {
  it("is replaced by a new one, for which the garden wraps what only the old one opened", async () => {
    const found = newStateKey("seed-1");
    await expect(statesOf(found).read(run)).rejects.toThrow("is not wrapped for this worker");
    await publish("seed-1", found);
    await share();
    expect(await statesOf(found).read(run)).toEqual([ca]);
    await publish("seed-1", one);
  });
});

describe("a seed's own key that was changed", () => {
  it("seals what is written next, and what the older one has sealed goes on opening until then", async () => {
    const newer = newStateKey("seed-1");
    expect(await statesOf(newer, one).read(run)).toEqual([ca]);
    await statesOf(newer, one).keep(run, []);
    expect((await annotations())[STATE_KEY_ANNOTATION]).toBe([garden.id, newer.id].join(","));
    expect(await statesOf(newer).read(run)).toEqual([ca]);
    await expect(statesOf(one).read(run)).rejects.toThrow("is not wrapped for this worker");
  });
});

describe("what the key of all seeds has sealed", () => {
  const former = { sealed: "gzip+aes-256-gcm", key: "2026", wrapped: "AAAA", data: "AAAA" };
  const gone = { name: "gone", type: "secret", data: former };

  it("says what to do, and stays until the seed brings the same again", async () => {
    const spec = { gardener: [gone, { ...gone, name: "ca" }] };
    await kube.patch(stateRef(), { metadata: { annotations: { [DATA_KEYS_ANNOTATION]: null } }, spec });
    await expect(statesOf(one).read(run)).rejects.toThrow(
      /sealed by key 2026, which all seeds shared .+docs\/state-keys.md/,
    );
    await statesOf(one).keep(run, [ca]);
    expect((await readState()).spec?.gardener).toEqual([gone, expect.objectContaining({ name: "ca" })]);
    await expect(statesOf(one).read(run)).rejects.toThrow("cannot open gardener/secret/gone");
    expect((await statesOf(one).readSecrets(run, ["ca"]))[0]).toEqual(ca);
  });
});
