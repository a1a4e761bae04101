import { expect, it } from "vitest";
import type { Shoot } from "../../../src/api/index.ts";
import type { MigrationFacts } from "../../../src/api/placement/migration.ts";
import { moveOf } from "../../../src/api/placement/move.ts";
import { describeDowntime } from "../../../src/cli/migration/downtime.ts";
import { movesFrom, planMigration } from "../../../src/cli/migration/plan.ts";
import { renderMigration, renderSummary } from "../../../src/cli/migration/report.ts";
import { readMoveRequest, type MoveRequestOptions } from "../../../src/cli/migration/request.ts";
import { phaseOf } from "../../../src/cli/report/phase.ts";
import { cleanUp } from "../../../src/workflows/clean-up.ts";
import { migrate } from "../../../src/workflows/migrate.ts";
import { restore } from "../../../src/workflows/restore.ts";
import { movableShoot, readySeed } from "../../support/migration-objects.ts";
import { shootRun } from "../../support/shoot-run.ts";
import { fakeOutput } from "./fake-terminal.ts";

const now = new Date("2026-11-21T10:10:00Z");
const tables = { migrate, restore, cleanUp };

it("the plan of a move shows every step, what it costs, and that nothing was touched", () => {
  const text = renderMigration(fakeOutput(), plan({ kept: { state: true, snapshot: true, size: 12_300_000 } }));
  expect(text).toContain(
    "Migrate Shoot garden-dev/local from Seed seed-1 to Seed seed-2\nNothing stands against it.\n",
  );
  expect(text).toContain("about 30s: etcd's last snapshot has 12.3 MB.");
  expect(text).toContain("it goes on serving for at least 4m");
  expect(text).toMatch(/^flip +run +persistState,destinationSecrets,destinationImages$/m);
  expect(text).toMatch(/^finalSnapshot +run +oldApiServer/m);
  expect(text).toMatch(/^leave +run +removeCluster/m);
  expect(text.trimEnd()).toMatch(/Nothing was touched\.$/);
});

it("the plan of a move says all that stands against it, Bastions of the old Seed too", () => {
  const shoot = { ...movableShoot(), status: { ...movableShoot().status, leadership: undefined } };
  const destination = { ...readySeed("seed-2", now), status: {} };
  const found = plan({ shoot, destination }, { bastions: ["alice"] });
  expect(found.obstacles.map(({ field }) => field)).toEqual(["status.leadership", "spec.seedName", "status.seedName"]);
  const text = renderMigration(fakeOutput(), found);
  const lines = text.trimEnd().split("\n");
  expect(lines.slice(-6)).toEqual([
    "Nothing was touched.",
    "",
    "It cannot be done:",
    expect.stringMatching(/^  status.leadership: the Shoot has no leadership record/),
    expect.stringMatching(/^  spec.seedName: /),
    "  status.seedName: Bastion alice would be left behind in the old Seed: delete it first",
  ]);
});

it("the plan of a move of a Shoot that sleeps promises no downtime, as nothing of it serves", () => {
  const [cost] = plan({}, { hibernated: true }).notes;
  expect(cost).toContain("The Shoot sleeps while it moves, so that nothing stops serving. It takes at least 4m");
  expect(plan({}, { hibernated: true }).notes.join(" ")).not.toMatch(/downtime|goes on serving/i);
});

it("the plan of a move says that it would wait for a silent Seed, and how to do without it", () => {
  const source = readySeed("seed-1", new Date(now.getTime() - 600_000));
  expect(plan({ source }).notes.at(-1)).toBe(
    "Seed seed-1 is not ready (its worker was last heard of 600 s ago): the move would wait for it; --force-takeover does without it.",
  );
});

it("the plan of a takeover says what it relies on, what it loses, and that it may be needless", () => {
  const kept = { state: true, snapshot: true, takenAt: "2026-11-21T09:50:00Z" };
  const onFence = plan({ kept }, { takeover: { sourceIsOff: false } });
  expect(onFence.notes[0]).toContain("The takeover relies on the fence of Seed seed-1");
  expect(onFence.notes[1]).toBe(
    "The Shoot's etcd goes back to its last recorded snapshot, taken 20m ago, or to a newer one, if the old Seed has left a good one in its bucket: what was written since is lost.",
  );
  expect(onFence.notes[2]).toContain("Seed seed-1 answers (its worker was last heard of 0 s ago)");
  const onWord = plan({ kept }, { takeover: { sourceIsOff: true } });
  const outdated = plan({ kept: { ...kept, problem: "the state is too large" } }, { takeover: { sourceIsOff: true } });
  expect(outdated.notes[2]).toBe("What extensions keep is not the latest there was: the state is too large");
  expect(onWord.notes[0]).toContain("The takeover relies on your word that Seed seed-1 is off");
  expect(onWord.flows[0]?.steps.filter(({ skipped }) => !skipped).map(({ step }) => step)).toEqual([
    "check",
    "destinationNamespace",
    "shareState",
    "destinationSecrets",
    "destinationImages",
    "flip",
  ]);
});

it("the plan of a takeover passes for a move under way, before the flip and after it", () => {
  const kept = { state: true, snapshot: true };
  const takeover = { sourceIsOff: false };
  expect(plan({ shoot: leaving(), kept }).obstacles).toHaveLength(1);
  expect(plan({ shoot: leaving(), kept }, { takeover })).toMatchObject({ from: "seed-1", obstacles: [] });
  expect(plan({ shoot: flipped(), kept }, { takeover })).toMatchObject({ from: "seed-1", obstacles: [] });
  for (const shoot of [movableShoot(), leaving(), flipped()]) expect(movesFrom(moveOf(shoot), "seed-2")).toBe("seed-1");
});

it("the plan of a takeover goes on to a third seed when the second has died, and says what is lost", () => {
  const kept = { state: true, snapshot: true };
  const facts = { shoot: flipped(), to: "seed-3", destination: readySeed("seed-3", now), kept };
  expect(plan(facts).obstacles).toHaveLength(1);
  const anew = plan(facts, { takeover: { sourceIsOff: true } });
  expect(anew).toMatchObject({ from: "seed-2", to: "seed-3", obstacles: [] });
  expect(anew.notes.join(" ")).toContain("Restore on Seed seed-2 is given up. Nothing is taken from Seed seed-1");
});

it("the plan of a move and of a takeover say that kubeconfigs with an address end with it, and how to get another", () => {
  const kept = { state: true, snapshot: true };
  for (const found of [plan({ kept }), plan({ kept }, { takeover: { sourceIsOff: true } })])
    expect(renderSummary(fakeOutput(), found)).toContain(
      "A kubeconfig that names the API server by an address is of no use once another Seed leads; one that names it by its DNS name stays good. After the move: perennial shoot kubeconfig garden-dev/local --file local.yaml",
    );
});

it("the plan of a move expects more downtime from a larger etcd, and says when its size is not known", () => {
  expect(describeDowntime(2_000_000_000)).toContain("about 60s: etcd's last snapshot has 2.00 GB");
  expect(describeDowntime(undefined)).toContain("how much it holds is not known here");
});

it.each<[Partial<MoveRequestOptions>, string]>([
  [{}, "say where the Shoot is to go: add --to SEED"],
  [{ cancel: true, to: "seed-2" }, "--cancel stands alone"],
  [{ to: "seed-2", plan: true, watch: true }, "--plan changes nothing that --watch could follow"],
  [{ to: "seed-2", output: "json" }, "--output says how a plan is printed: add --plan or leave it out"],
  [{ to: "seed-2", reason: "fire" }, "belong to --force-takeover"],
  [{ to: "seed-2", sourceIsOff: true }, "belong to --force-takeover"],
  [{ to: "seed-2", forceTakeover: true }, "--force-takeover has to say why: add --reason TEXT"],
  [{ to: "seed-2", forceTakeover: true, reason: " " }, "--force-takeover has to say why: add --reason TEXT"],
])("the verb migrate refuses the options %j", (options, message) => {
  expect(() => readMoveRequest({ ...nothing, ...options }, movableShoot())).toThrow(message);
});

it.each<[Partial<MoveRequestOptions>, object]>([
  [{ to: "seed-2" }, { do: "move", to: "seed-2" }],
  [{ cancel: true }, { do: "cancel" }],
  [{ forceTakeover: true, to: "seed-2", plan: true }, { takeover: { reason: "", sourceIsOff: false } }],
  [
    { forceTakeover: true, reason: "fire", sourceIsOff: true },
    { do: "move", to: "seed-2", takeover: { reason: "fire", sourceIsOff: true } },
  ],
])("the verb migrate takes %j of a Shoot on its way for %j", (options, request) => {
  expect(readMoveRequest({ ...nothing, ...options }, leaving())).toMatchObject(request);
});

it("the verb migrate takes a Shoot for ready only when it has arrived, and an unseen approval for a request", () => {
  expect(phaseOf(movableShoot())).toBe("ready");
  expect(phaseOf(leaving())).toBe("busy");
  const between = { ...flipped(), status: { ...flipped().status, lastOperation: operation("Migrate", "Succeeded") } };
  expect(phaseOf(between)).toBe("busy");
  const parked = { ...leaving(), status: { ...leaving().status, lastOperation: operation("Migrate", "Failed") } };
  expect(phaseOf(parked)).toBe("failed");
  const approval = { by: "alice", at: "2026-11-21T10:09:00Z", reason: "fire" };
  const annotations = { "perennial.dev/force-takeover": JSON.stringify(approval) };
  const approved = { ...parked, metadata: { ...parked.metadata, annotations } };
  expect(phaseOf(approved)).toBe("busy");
  expect(phaseOf({ ...approved, status: { ...approved.status, takeover: approval } })).toBe("failed");
});

const nothing: MoveRequestOptions = {
  to: undefined,
  plan: false,
  watch: false,
  cancel: false,
  forceTakeover: false,
  reason: undefined,
  sourceIsOff: false,
};

function plan(
  change: Partial<MigrationFacts> = {},
  {
    hibernated = false,
    ...more
  }: { takeover?: { sourceIsOff: boolean }; bastions?: string[]; hibernated?: boolean } = {},
) {
  const [source, destination] = [readySeed("seed-1", now), readySeed("seed-2", now)];
  const facts = { shoot: movableShoot(), to: "seed-2", source, destination, now, ...change };
  return planMigration({ facts, run: shootRun({ hibernated }), tables, ...more });
}

function leaving(): Shoot {
  return { ...movableShoot(), spec: { ...movableShoot().spec, seedName: "seed-2" } };
}

function flipped(): Shoot {
  const leadership = { record: "r", seed: "seed-2", previousSeed: "seed-1", epoch: 2, leaseSeconds: 60 };
  const lastOperation = operation("Restore", "Processing");
  return { ...leaving(), status: { ...movableShoot().status, seedName: "seed-2", leadership, lastOperation } };
}

function operation(type: "Migrate" | "Restore", state: "Processing" | "Succeeded" | "Failed") {
  return { type, state, progress: 50, description: "", lastUpdateTime: "2026-11-21T10:09:00Z" };
}
