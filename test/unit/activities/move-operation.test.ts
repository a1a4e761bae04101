import { describe, expect, it } from "vitest";
import { epochOf, nextOperation } from "../../../src/activities/shoot/move-operation.ts";
import type { Shoot } from "../../../src/api/index.ts";
import { moveOf } from "../../../src/api/placement/move.ts";

type Status = NonNullable<Shoot["status"]>;

const leadership = { record: "local.dev.leadership.example.com", seed: "seed-1", epoch: 1, leaseSeconds: 60 };
const last = (type: string, state: string) =>
  ({ type, state, progress: 50, description: "", lastUpdateTime: "2026-01-01T12:00:00Z" }) as Status["lastOperation"];

const shoot = (seedName: string, status: Status, annotations: Record<string, string> = {}) =>
  ({
    metadata: { name: "local", namespace: "garden-dev", annotations },
    spec: { seedName },
    status,
  }) as unknown as Shoot;

const nextOf = (shoot: Shoot) => nextOperation(moveOf(shoot));
const epochFor = (shoot: Shoot) => epochOf(shoot, moveOf(shoot));

const cancel = { "perennial.dev/cancel-migration": "true" };
const approval = { "perennial.dev/force-takeover": JSON.stringify({ reason: "fire" }) };

describe("a Shoot between seeds", () => {
  it("does not move while spec and status name the same seed", () => {
    const status = { seedName: "seed-1", leadership, lastOperation: last("Reconcile", "Error") };
    expect(nextOf(shoot("seed-1", status))).toBeUndefined();
    expect(nextOf(shoot("seed-1", {}))).toBeUndefined();
  });
  it("migrates when another seed is wanted", () => {
    const status = { seedName: "seed-1", leadership, lastOperation: last("Reconcile", "Succeeded") };
    expect(nextOf(shoot("seed-2", status))).toEqual({
      operation: "Migrate",
      migration: { source: "seed-1", destination: "seed-2", takeover: false },
    });
    expect(nextOf(shoot("seed-2", status, approval))?.migration.takeover).toBe(true);
  });
  it.each(["Processing", "Error", "Succeeded"])("restores after the flip, with Migrate %s", (state) => {
    const flipped = {
      ...leadership,
      seed: "seed-2",
      epoch: 2,
      previousSeed: "seed-1",
      leaving: 1,
      since: "2026-01-01T12:00:00Z",
    };
    const status = { seedName: "seed-2", leadership: flipped, lastOperation: last("Migrate", state) };
    expect(nextOf(shoot("seed-2", status))).toEqual({
      operation: "Restore",
      migration: { source: "seed-1", destination: "seed-2", takeover: false, since: "2026-01-01T12:00:00Z" },
    });
  });
  it("goes back when the move is cancelled before the flip, even if it had moved before", () => {
    const before = { ...leadership, epoch: 4, previousSeed: "seed-3", leaving: 4 };
    const status = { seedName: "seed-1", leadership: before, lastOperation: last("Migrate", "Error") };
    expect(nextOf(shoot("seed-1", status))).toEqual({
      operation: "Restore",
      migration: { source: "seed-1", destination: "seed-1", takeover: false, returning: true },
    });
  });
  it("goes back under a new epoch, which it has only once", () => {
    const given = { seedName: "seed-1", lastOperation: last("Migrate", "Error") };
    expect(epochFor(shoot("seed-2", { ...given, leadership: { ...leadership, leaving: 1 } }))).toBe(1);
    expect(epochFor(shoot("seed-1", { ...given, leadership: { ...leadership, leaving: 1 } }))).toBe(2);
    const begun = {
      ...given,
      lastOperation: last("Restore", "Error"),
      leadership: { ...leadership, epoch: 2, leaving: 1 },
    };
    expect(epochFor(shoot("seed-1", begun))).toBe(2);
    expect(nextOf(shoot("seed-1", begun))?.migration).toMatchObject({ destination: "seed-1", returning: true });
  });
  it("flips once more when a Restore is to go on without its old seed", () => {
    const flipped = { ...leadership, seed: "seed-2", epoch: 2, previousSeed: "seed-1", leaving: 1 };
    const status = { seedName: "seed-2", leadership: flipped, lastOperation: last("Restore", "Error") };
    expect(nextOf(shoot("seed-2", status, approval))).toEqual({
      operation: "Migrate",
      migration: { source: "seed-1", destination: "seed-2", takeover: true },
    });
    const leaving = { ...flipped, leaving: 2 };
    const begun = { ...status, leadership: leaving, lastOperation: last("Migrate", "Processing") };
    expect(nextOf(shoot("seed-2", begun, approval))?.operation).toBe("Migrate");
    const again = { ...begun, leadership: { ...leaving, epoch: 3, takeover: true } };
    expect(nextOf(shoot("seed-2", again, approval))).toMatchObject({
      operation: "Restore",
      migration: { takeover: true },
    });
  });
  it("is not called back across a flip by the cancellation of an earlier migration", () => {
    const flipped = { ...leadership, seed: "seed-2", epoch: 2, previousSeed: "seed-1", leaving: 1 };
    const status = { seedName: "seed-2", leadership: flipped, lastOperation: last("Migrate", "Succeeded") };
    expect(nextOf(shoot("seed-2", status, cancel))).toMatchObject({
      operation: "Restore",
      migration: { source: "seed-1", destination: "seed-2" },
    });
    expect(nextOf(shoot("seed-2", status, { ...cancel, ...approval }))).toMatchObject({
      operation: "Migrate",
      migration: { source: "seed-1", destination: "seed-2", takeover: true },
    });
  });
  it("goes back from a takeover that was cancelled, whichever seed led before", () => {
    const before = { ...leadership, epoch: 4, previousSeed: "seed-3", leaving: 4 };
    const status = { seedName: "seed-1", leadership: before, lastOperation: last("Migrate", "Error") };
    const back = { source: "seed-1", destination: "seed-1", returning: true };
    expect(nextOf(shoot("seed-1", status, { ...approval, ...cancel }))?.migration).toMatchObject(back);
    const forced = { ...status, leadership: { ...before, takeover: true } };
    expect(nextOf(shoot("seed-1", forced, approval))?.migration).toMatchObject(back);
  });
  it("is not taken over on an approval that cannot be read", () => {
    const status = { seedName: "seed-1", leadership, lastOperation: last("Reconcile", "Succeeded") };
    for (const text of ["", "true", "{}", '{"reason": " "}'])
      expect(nextOf(shoot("seed-2", status, { "perennial.dev/force-takeover": text }))?.migration.takeover).toBe(false);
  });
  it("is where its leadership says, should the status say otherwise", () => {
    const flipped = { ...leadership, seed: "seed-2", epoch: 2, previousSeed: "seed-1", leaving: 1 };
    const status = { seedName: "seed-1", leadership: flipped, lastOperation: last("Migrate", "Succeeded") };
    expect(nextOf(shoot("seed-2", status))).toMatchObject({
      operation: "Restore",
      migration: { source: "seed-1", destination: "seed-2" },
    });
  });
  it("has arrived when Restore has succeeded", () => {
    const flipped = { ...leadership, seed: "seed-2", epoch: 2, previousSeed: "seed-1", leaving: 1 };
    const status = { seedName: "seed-2", leadership: flipped, lastOperation: last("Restore", "Succeeded") };
    expect(nextOf(shoot("seed-2", status))).toBeUndefined();
  });
  it("does not move any more once its deletion has begun", () => {
    const status = { seedName: "seed-1", leadership, lastOperation: last("Delete", "Processing") };
    expect(nextOf(shoot("seed-2", status))).toBeUndefined();
  });
});
