import { describe, expect, it } from "vitest";
import type { ShootRun } from "../../../src/api/shoot/run.ts";
import { planFlow } from "../../../src/flow/plan.ts";
import type { ShootFlow } from "../../../src/workflows/actions.ts";
import { reconcile } from "../../../src/workflows/reconcile.ts";
import { restore } from "../../../src/workflows/restore.ts";
import { before, repairing } from "../../support/flow-tables.ts";
import { shootRun } from "../../support/shoot-run.ts";

describe("the rows that replace an etcd's data", () => {
  const doneBy = (change: Partial<ShootRun>) =>
    planFlow(reconcile, shootRun(change)).flatMap(({ step, skipped }) =>
      repairing.includes(step) && !skipped ? [step] : [],
    );
  it("do nothing unless data are damaged, and stop nothing where nothing can be restored", () => {
    expect(doneBy({ hasBackup: true })).toEqual([]);
    expect(doneBy({ hasBackup: true, etcdDamaged: true, hibernated: true })).toEqual([]);
    expect(doneBy({ hasBackup: false, etcdDamaged: true })).toEqual(["etcdDamage", "etcdData"]);
    expect(doneBy({ hasBackup: true, etcdDamaged: true })).toEqual(repairing);
  });
  it("stop what runs only once a good snapshot is known, and restore before etcd starts", () => {
    expect([...before(reconcile, "damagedApiServer")]).toEqual(
      expect.arrayContaining(["leadership", "leader", "etcdDamage", "newestSnapshot"]),
    );
    expect([...before(reconcile, "etcdData")]).toContain("damagedEtcd");
    expect([...before(reconcile, "etcd")]).toContain("etcdData");
  });
});

describe("the rows of the tunnel", () => {
  const rows = ["tunnelAgent", "tunnel", "staleTunnelAgent", "routes"];
  const doneBy = (flow: ShootFlow, change: Partial<ShootRun>) =>
    planFlow(flow, shootRun(change)).flatMap(({ step, skipped }) => (rows.includes(step) && !skipped ? [step] : []));
  it.each([reconcile, restore])(
    "of $title put agents where there is a tunnel, take them away where not, and see either way that pods are reached",
    (flow) => {
      expect(doneBy(flow, { tunnel: true })).toEqual(["tunnelAgent", "tunnel"]);
      expect(doneBy(flow, {})).toEqual(["staleTunnelAgent", "routes"]);
      expect(doneBy(flow, { workerless: true })).toEqual([]);
      expect(doneBy(flow, { tunnel: true, hibernated: true })).toEqual([]);
    },
  );
  it("wait for agents with the nodes, and for the tunnel after them", () => {
    for (const flow of [reconcile, restore]) {
      expect([...before(flow, "nodesReady")], flow.title).toContain("tunnelAgent");
      for (const row of ["tunnel", "routes"]) expect([...before(flow, row)], flow.title).toContain("nodesReady");
    }
  });
});
