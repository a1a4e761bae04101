import { describe, expect, test } from "vitest";
import { machineNames, planPool, poolHash, type Pool } from "../../../src/provider-local/worker/machines.ts";
import { made, namespace, pool } from "../../support/worker-pools.ts";

describe("a pool's machines", () => {
  test("have the same names each time, which are host names", () => {
    const names = machineNames(namespace, pool(), 3);
    expect(names).toEqual(machineNames(namespace, pool({ minimum: 1, maxSurge: 3 }), 3));
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(/^shoot--dev--j-small-[0-9a-f]{5}$/);
    const [long] = machineNames(
      "shoot--project123--name-of-21-characters",
      pool({ name: "a-very-long-pool-name-indeed" }),
      1,
    );
    expect(long?.length).toBeLessThanOrEqual(63);
  });

  test.each<[string, Partial<Pool>, boolean]>([
    ["another minor version", { kubernetesVersion: "1.35.0" }, true],
    ["another patch version", { kubernetesVersion: "1.34.5" }, false],
    ["another machine type", { machineType: "big" }, true],
    ["another image", { machineImage: { name: "local", version: "2" } }, true],
    ["other user data", { userDataSecretRef: { name: "osc-result-other", key: "cloud_config" } }, true],
    ["other labels", { labels: { a: "b" } }, false],
    ["another size", { minimum: 5, maximum: 9 }, false],
  ])("are replaced where they must be: %s", (_, changes, expected) => {
    expect(poolHash(pool(changes)) !== poolHash(pool())).toBe(expected);
  });

  test("hash the same whatever the order of fields", () => {
    const hash = (providerConfig: Record<string, unknown>) => poolHash(pool({ providerConfig }));
    expect(hash({ a: 1, b: { c: 2, d: 3 } })).toBe(hash({ b: { d: 3, c: 2 }, a: 1 }));
  });
});

describe("the next action for a pool", () => {
  const old = pool({ machineType: "old" });

  test("makes all that is missing at once", () => {
    expect(planPool(namespace, pool(), 2, [])).toEqual({ create: machineNames(namespace, pool(), 2) });
  });

  test("is none when all is there", () => {
    expect(planPool(namespace, pool(), 2, made(pool(), 2))).toEqual({ done: true });
  });

  test("removes what is too much, without waiting for the others", () => {
    const [, , third] = machineNames(namespace, pool(), 3);
    expect(planPool(namespace, pool(), 2, made(pool(), 3))).toEqual({ remove: [third], whenReady: [] });
  });

  test("makes one new machine before it removes an old one", () => {
    const [first, second] = made(pool(), 2);
    expect(planPool(namespace, pool(), 2, made(old, 2))).toEqual({ create: [first?.name] });
    const before = [...made(old, 2), ...(first ? [first] : [])];
    expect(planPool(namespace, pool(), 2, before)).toEqual({
      remove: [made(old, 2)[0]?.name],
      whenReady: [first?.name],
    });
    expect(planPool(namespace, pool(), 2, before.slice(1))).toEqual({ create: [second?.name] });
  });

  test("removes first where no machine may be too many", () => {
    const tight = { maxSurge: 0, maxUnavailable: 1 };
    const before = made({ ...old, ...tight }, 2);
    expect(planPool(namespace, pool(tight), 2, before)).toEqual({ remove: [before[0]?.name], whenReady: [] });
  });

  test("reads percentages as Kubernetes does: surge rounded up, unavailable down", () => {
    const percent = { maxSurge: "25%", maxUnavailable: "25%" };
    const before = made({ ...old, ...percent }, 2);
    expect(planPool(namespace, pool(percent), 2, before)).toEqual({ create: machineNames(namespace, pool(), 1) });
  });

  test("removes all when none is wanted", () => {
    expect(planPool(namespace, pool(), 0, made(old, 2))).toEqual({
      remove: made(old, 2).map(({ name }) => name),
      whenReady: [],
    });
  });
});
