import { describe, expect, it } from "vitest";
import { examine, hibernatedCondition, nextCondition, THRESHOLD } from "../../../src/activities/shoot/health.ts";
import type { Readiness } from "../../../src/activities/waits/readiness.ts";
import type { Condition } from "../../../src/api/index.ts";
import type { KubeClient } from "../../../src/kube/index.ts";

const start = new Date("2026-01-01T00:00:00Z");
const later = (ms: number) => new Date(start.getTime() + ms);
const sick = { reached: false, message: "etcd-main is down" } as const;
const well = { reached: true } as const;
const next = (before: Condition | undefined, readiness: typeof sick | typeof well, now: Date) =>
  nextCondition("ControlPlaneHealthy", before, readiness, now);

describe("a condition", () => {
  it("is True as soon as all is well", () => {
    expect(next(undefined, well, start)).toMatchObject({ status: "True", reason: "Healthy" });
  });
  it("is Progressing before it is False", () => {
    const healthy = next(undefined, well, start);
    const first = next(healthy, sick, later(1_000));
    expect(first).toMatchObject({ status: "Progressing", message: "etcd-main is down" });
    expect(next(first, sick, later(THRESHOLD)).status).toBe("Progressing");
    expect(next(first, sick, later(1_000 + THRESHOLD + 1)).status).toBe("False");
  });
  it("does not change, not even in its times, while nothing does", () => {
    const healthy = next(undefined, well, start);
    expect(next(healthy, well, later(60_000))).toBe(healthy);
  });
  it("recovers at once, and says since when", () => {
    const bad = next(next(undefined, sick, start), sick, later(THRESHOLD + 1_000));
    expect(bad.status).toBe("False");
    expect(next(bad, well, later(THRESHOLD + 2_000))).toMatchObject({
      status: "True",
      lastTransitionTime: "2026-01-01T00:01:02Z",
    });
  });
});

describe("a condition of a Shoot that hibernates", () => {
  const asleep = (before: Condition | undefined, now: Date) => hibernatedCondition("APIServerAvailable", before, now);

  it("says that nothing was looked at, whatever was seen before", () => {
    const bad = nextCondition("APIServerAvailable", undefined, sick, start);
    for (const before of [undefined, bad])
      expect(asleep(before, later(1_000))).toMatchObject({
        ...{ status: "True", reason: "ConditionNotChecked", message: "The Shoot is hibernated." },
        lastTransitionTime: "2026-01-01T00:00:01Z",
      });
  });
  it("does not change while the Shoot sleeps, and is looked at again when it has woken up", () => {
    const before = asleep(undefined, start);
    expect(asleep(before, later(60_000))).toBe(before);
    expect(nextCondition("APIServerAvailable", before, well, later(60_000))).toMatchObject({ reason: "Healthy" });
    expect(nextCondition("APIServerAvailable", before, sick, later(60_000))).toMatchObject({ status: "Progressing" });
  });
});

describe("a control plane", () => {
  it("without any component is not healthy, as where a move is stuck before there is one", async () => {
    const seed: Pick<KubeClient, "list"> = { list: async () => [] };
    expect(await examine({ seed, shoot: undefined }, "shoot--dev--local")).toMatchObject({
      APIServerAvailable: { reached: false, message: "The Shoot's API server cannot be reached." },
      ControlPlaneHealthy: { reached: false, message: "No component is there." },
    });
  });

  it("is not healthy when its etcd was not backed up as it should have been", async () => {
    const etcd = { spec: { replicas: 0 }, status: {}, metadata: { name: "etcd-main" } };
    const seed = { list: async () => [etcd] } as unknown as KubeClient;
    const look = async (snapshots?: typeof sick) =>
      (await examine({ seed, shoot: undefined, snapshots }, "shoot--dev--local")).ControlPlaneHealthy;
    expect(await look()).toEqual(well);
    expect(await look(sick)).toEqual(sick);
  });
});

describe("a control plane whose etcd is in trouble", () => {
  const set = { spec: { replicas: 0 }, status: {}, metadata: { name: "etcd-main" } };
  const seed = { list: async () => [set] } as unknown as KubeClient;
  const look = async (etcds: Readiness) => (await examine({ seed, shoot: undefined, etcds }, "s")).ControlPlaneHealthy;

  it("has the reason and the words of that, before others", async () => {
    const damaged = {
      reached: false,
      reason: "EtcdDataDamaged",
      message: "The data of etcd-main are damaged",
    } as const;
    expect(await look(damaged)).toEqual(damaged);
    const condition = nextCondition("ControlPlaneHealthy", undefined, await look(damaged), start);
    expect(condition).toMatchObject({ status: "Progressing", reason: "EtcdDataDamaged" });
  });
  it("says what it was restored from, once all is well", async () => {
    const readiness = await look({ reached: true, note: "etcd-main was restored from a.db." });
    expect(nextCondition("ControlPlaneHealthy", undefined, readiness, start)).toMatchObject({
      ...{ status: "True", reason: "Healthy" },
      message: "All control plane components are healthy. etcd-main was restored from a.db.",
    });
  });
});

describe("nodes", () => {
  const node = (name: string, pool: string, status = "True") => ({
    ...{ kind: "Node", metadata: { name, labels: { "worker.gardener.cloud/pool": pool } } },
    status: { conditions: [{ type: "Ready", status }] },
  });
  const look = async (nodes: readonly object[], pools: readonly { name: string; minimum: number }[]) => {
    const list = async ({ kind }: { kind: string }) => (kind === "Node" ? nodes : []);
    const shoot = { list, get: async () => "ok" } as unknown as KubeClient;
    return (await examine({ seed: shoot, shoot, pools }, "shoot--dev--local")).EveryNodeReady;
  };

  it("are as many as their pools have at least, and ready", async () => {
    const pools = [
      { name: "a", minimum: 2 },
      { name: "b", minimum: 0 },
    ];
    expect(await look([node("a-1", "a"), node("a-2", "a"), node("c-1", "c")], pools)).toEqual(well);
    expect(await look([], pools)).toEqual({ reached: false, message: "Pool a has 0 nodes of at least 2" });
    expect(await look([node("a-1", "a", "False"), node("b-1", "b")], pools)).toEqual({
      reached: false,
      message: "Pool a has 1 node of at least 2; Not ready: a-1",
    });
  });
});

describe("what extensions have applied", () => {
  const managed = (name: string, ofClass: string | undefined, annotations = {}) => ({
    kind: "ManagedResource",
    metadata: { name, generation: 1, annotations },
    spec: { class: ofClass },
    status: {
      observedGeneration: 1,
      conditions: [{ type: "ResourcesApplied", status: "False", message: "no such kind" }],
    },
  });
  const etcd = { spec: { replicas: 0 }, status: {}, metadata: { name: "etcd-main" } };
  const look = async (...found: object[]) => {
    const objects: Record<string, object[]> = { ManagedResource: found, Node: [] };
    const list = async ({ kind }: { kind: string }) => objects[kind] ?? [etcd];
    const shoot = { list, get: async () => "ok" } as unknown as KubeClient;
    const { ControlPlaneHealthy, SystemComponentsHealthy } = await examine({ seed: shoot, shoot }, "shoot--dev--local");
    return [ControlPlaneHealthy, SystemComponentsHealthy];
  };
  const bad = (name: string) => ({
    reached: false,
    message: `ManagedResource ${name}: ResourcesApplied is False: no such kind`,
  });

  it("beside the control plane is part of it", async () => {
    expect(await look(managed("ccm", "seed"))).toEqual([bad("ccm"), well]);
  });
  it("in the Shoot is a system component", async () => {
    expect(await look(managed("calico", undefined))).toEqual([well, bad("calico")]);
  });
  it("is not judged where the resource manager was told to leave it alone", async () => {
    expect(await look(managed("calico", undefined, { "resources.gardener.cloud/ignore": "true" }))).toEqual([
      well,
      well,
    ]);
  });
});
