import { describe, expect, it } from "vitest";
import { nodesReady } from "../../../src/activities/waits/node-readiness.ts";
import type { Worker } from "../../../src/api/index.ts";

const pools = [
  { name: "a", minimum: 3, maximum: 5 },
  { name: "b", minimum: 1, maximum: 1 },
  { name: "spare", minimum: 0, maximum: 5 },
] as Worker["spec"]["pools"];
const node = (name: string, pool: string, status = "True") => ({
  ...{ apiVersion: "v1", kind: "Node", status: { conditions: [{ type: "Ready", status }] } },
  metadata: { name, labels: { "worker.gardener.cloud/pool": pool } },
});
const full = [node("a1", "a"), node("a2", "a"), node("a3", "a"), node("b1", "b")];
const broken = [...full.slice(1), node("a1", "a", "Unknown")];

describe("the nodes of a Shoot", () => {
  it.each(["Create", "Restore", "Reconcile"] as const)(
    "are enough for %s when each pool has its minimum",
    (operation) => {
      expect(nodesReady(full, pools, operation)).toEqual({ reached: true });
    },
  );

  it.each(["Create", "Restore", "Reconcile"] as const)("are enough for %s with broken ones beyond it", (operation) => {
    expect(nodesReady([...full, node("a4", "a", "False"), node("s1", "spare", "False")], pools, operation)).toEqual({
      reached: true,
    });
  });

  it("are enough for Reconcile when one is ready: the others are a condition, not the end of an operation", () => {
    expect(nodesReady(broken, pools, "Reconcile")).toEqual({ reached: true });
    expect(nodesReady([node("b1", "b")], pools, "Reconcile")).toEqual({ reached: true });
  });

  it.each(["Create", "Restore"] as const)("are too few for %s where a pool lacks one, which is named", (operation) => {
    expect(nodesReady([...broken.slice(0, 2), node("a1", "a", "Unknown")], pools, operation)).toEqual({
      reached: false,
      message: "pool a has 2 of 3 ready nodes (not ready: a1); pool b has 0 of 1 ready nodes",
    });
  });

  it("are named where they are not ready, and counted where they are many", () => {
    const nodes = Array.from({ length: 10_000 }, (_, index) => node(`b${10_000 + index}`, "b", "False"));
    const readiness = nodesReady(nodes, pools.slice(1), "Create");
    expect(readiness).toMatchObject({ message: expect.stringMatching(/not ready: b10000, .* and 9990 more\)$/) });
  });

  it("are too few for Reconcile when none is ready, as after waking up", () => {
    expect(nodesReady([], pools, "Reconcile").reached).toBe(false);
    expect(nodesReady([node("s1", "spare")], pools, "Reconcile").reached).toBe(false);
    expect(nodesReady([], pools.slice(2), "Reconcile")).toEqual({ reached: true });
  });
});
