import { describe, expect, it } from "vitest";
import { lifetimeCauses, needsQuota, quotaCauses } from "../../../src/admission/shoot/quota.ts";
import type { CloudProfile, Quota, Shoot } from "../../../src/api/index.ts";
import { movableShoot } from "../../support/migration-objects.ts";

type Pool = NonNullable<Shoot["spec"]["provider"]["workers"]>[number];

const now = new Date("2026-11-25T10:00:00Z");
const expires = "shoot.gardener.cloud/expiration-timestamp";

const disk = (name: string, type: string, size: string) => ({ name, type, size });

describe("a Shoot needs of its Quota", () => {
  type Case = [string, Quota["spec"]["metrics"], Partial<Pool>, string];
  it.each<Case>([
    ["processors", { cpu: 7 }, {}, "need 4 cpu, and Quota garden-dev/trial has 7 of which 4 are taken"],
    ["graphics processors", { gpu: "1" }, { machine: { type: "gpu" } }, "need 2 gpu"],
    ["memory", { memory: "31Gi" }, {}, "need 16Gi memory, and Quota garden-dev/trial has 31Gi of which 16Gi are taken"],
    [
      "storage",
      { "storage.standard": "30Gi" },
      { volume: { type: "slow", size: "20Gi" } },
      "need 40Gi storage.standard",
    ],
    [
      "more storage than there is",
      { "storage.standard": "30Gi" },
      { volume: { type: "slow", size: "1e100" } },
      "storage.standard, and Quota garden-dev/trial has 30Gi",
    ],
    [
      "fast storage",
      { "storage.premium": "1Ti" },
      { volume: { type: "fast", size: "600Gi" } },
      "need 1200Gi storage.premium",
    ],
    [
      "storage of its machines",
      { "storage.standard": "50Gi" },
      { machine: { type: "gpu" } },
      "need 100Gi storage.standard",
    ],
    [
      "its data volumes",
      { "storage.premium": "100Gi" },
      { dataVolumes: [disk("a", "fast", "30Gi"), disk("b", "fast", "40Gi")] },
      "need 140Gi storage.premium",
    ],
    [
      "a volume of another type than its machine's own",
      { "storage.premium": "10Gi" },
      { machine: { type: "gpu" }, volume: { type: "fast", size: "20Gi" } },
      "need 40Gi storage.premium",
    ],
    ...[{ size: "20Gi" }, { type: "unknown", size: "20Gi" }, { type: "odd", size: "20Gi" }].flatMap((volume) =>
      (["storage.standard", "storage.premium"] as const).map((metric): Case => [
        `${metric} for a volume of ${volume.type ?? "no"} type, whose class nothing says`,
        { [metric]: "30Gi" },
        { volume },
        `need 40Gi ${metric}`,
      ]),
    ),
    [
      "a load balancer",
      { loadbalancer: 1 },
      {},
      "need 1 loadbalancer, and Quota garden-dev/trial has 1 of which 1 are",
    ],
  ])("%s, as much as its pools can grow to", (_, metrics, change, message) => {
    const causes = quotaCauses(consumer(pool(change)), [use(metrics, shoot(pool()))]);
    expect(causes.map((cause) => cause.message)).toEqual([expect.stringContaining(message)]);
    expect(causes[0]?.forbidden).toBe(true);
  });

  it("no more than is there, to the last of it", () => {
    const metrics = { cpu: "8", memory: "32Gi", gpu: 0, "storage.standard": 0, "storage.premium": 0, loadbalancer: 2 };
    expect(quotaCauses(consumer(pool()), [use(metrics, shoot(pool()))])).toEqual([]);
  });

  it("of a Shoot of which several versions may be stored, the most that any of them needs of each", () => {
    const { quota } = use({ cpu: 9 });
    const version = (change: Partial<Pool>) => ({ shoot: shoot(pool(change)), profile: profile() });
    const causesAfter = (...versions: readonly Partial<Pool>[]) =>
      quotaCauses(consumer(pool()), [{ quota, others: [versions.map(version)] }]).map(({ message }) => message);
    expect(causesAfter({ maximum: 2 }, { maximum: 1 })).toEqual([]);
    const tooMuch = [expect.stringContaining("need 4 cpu, and Quota garden-dev/trial has 9 of which 6") as string];
    expect(causesAfter({ maximum: 3 }, { maximum: 1 })).toEqual(tooMuch);
    expect(causesAfter({ maximum: 1 }, { maximum: 3 })).toEqual(tooMuch);
  });

  it("room in each of several Quotas", () => {
    expect(quotaCauses(consumer(pool()), [use({ cpu: 100 }), use({ cpu: 1 }), use({ memory: 1 })])).toHaveLength(2);
  });

  it("nothing for machines that are not offered any more", () => {
    expect(quotaCauses(consumer(pool()), [use({ cpu: 4 }, shoot(pool({ machine: { type: "gone" } })))])).toEqual([]);
  });
});

it.each<[string, boolean, readonly Pool[]]>([
  ["as it was", false, [pool()]],
  ["a larger maximum", true, [pool({ maximum: 3 })]],
  ["another machine", true, [pool({ machine: { type: "gpu" } })]],
  ["another volume", true, [pool({ volume: { size: "1Gi" } })]],
  ["another data volume", true, [pool({ dataVolumes: [disk("a", "fast", "1Gi")] })]],
  ["another image", false, [pool({ machine: { type: "large", image: { name: "x" } } })]],
  ["one pool more", true, [pool(), pool({ name: "b" })]],
  ["no pool", false, []],
])("a Shoot with %s is measured anew: %s", (_, expected, pools) => {
  expect(needsQuota(shoot(...pools), shoot(pool()))).toBe(expected);
  expect(needsQuota(shoot(...pools), undefined)).toBe(true);
});

describe("a Quota ends the lives of its Shoots", () => {
  const limited = [use({}, undefined, 14), use({}, undefined, 7), use({})].map(({ quota }) => quota);
  it.each([
    ["2026-12-02T10:00:00Z", undefined],
    ["2026-12-02T10:00:01Z", "must be within 7 days from now"],
    ["tomorrow", "must be a time"],
  ])("and lets them be put off to %s: %s", (time, message) => {
    const causes = lifetimeCauses(withLife(time), withLife("2026-11-26T00:00:00Z"), limited, now);
    expect(causes.map((cause) => cause.message)).toEqual(
      message === undefined ? [] : [expect.stringContaining(message)],
    );
  });

  it("but does not judge again what stays", () => {
    expect(lifetimeCauses(withLife("2027-01-01T00:00:00Z"), withLife("2027-01-01T00:00:00Z"), limited, now)).toEqual(
      [],
    );
    expect(lifetimeCauses(withLife("2027-01-01T00:00:00Z"), undefined, [], now)).toEqual([]);
  });
});

function pool(change: Partial<Pool> = {}): Pool {
  return { name: "a", minimum: 1, maximum: 2, machine: { type: "large" }, ...change };
}

function shoot(...workers: readonly Pool[]): Shoot {
  const { spec, ...rest } = movableShoot();
  return { ...rest, spec: { ...spec, provider: { type: "local", workers: [...workers] } } };
}

function withLife(time: string): Shoot {
  const { metadata, ...rest } = shoot(pool());
  return { ...rest, metadata: { ...metadata, annotations: { [expires]: time } } };
}

const consumer = (...pools: readonly Pool[]) => ({ shoot: shoot(...pools), profile: profile() });

function use(metrics: Quota["spec"]["metrics"], other?: Shoot, clusterLifetimeDays?: number) {
  const quota: Quota = {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "Quota",
    metadata: { namespace: "garden-dev", name: "trial" },
    spec: { metrics, scope: { kind: "Project" }, ...(clusterLifetimeDays !== undefined && { clusterLifetimeDays }) },
  };
  return { quota, others: other ? [[{ shoot: other, profile: profile() }]] : [] };
}

function profile(): CloudProfile {
  return {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "CloudProfile",
    metadata: { name: "local" },
    spec: {
      ...{ type: "local", kubernetes: {}, machineImages: [], regions: [] },
      machineTypes: [
        { name: "large", cpu: "2", memory: "8Gi", gpu: 0 },
        { name: "gpu", cpu: "1", memory: "1Gi", gpu: 1, storage: { class: "standard", type: "disk", size: "50Gi" } },
      ],
      volumeTypes: [
        { name: "slow", class: "standard" },
        { name: "fast", class: "premium" },
        { name: "odd", class: "archive" },
      ],
    },
  };
}
