import { expect, it } from "vitest";
import type { Shoot } from "../../../src/api/index.ts";
import type { FlowProgress, StepProgress } from "../../../src/api/shoot/run.ts";
import { blockingFromStatus, findBlocking } from "../../../src/cli/report/blocking.ts";
import { reportCleanUp } from "../../../src/cli/report/clean-ups.ts";
import { health, lastOperation } from "../../../src/cli/report/columns.ts";
import { describeShoot, renderDescription } from "../../../src/cli/report/description.ts";
import { phaseOf } from "../../../src/cli/report/phase.ts";
import { extensionOf } from "../../../src/cli/report/step-owner.ts";
import { placeOf } from "../../../src/cli/report/step-place.ts";
import type { ShootFlow } from "../../../src/workflows/actions.ts";
import { cleanUp } from "../../../src/workflows/clean-up.ts";
import { deleteShoot } from "../../../src/workflows/delete.ts";
import { forceDelete } from "../../../src/workflows/force-delete.ts";
import { migrate } from "../../../src/workflows/migrate.ts";
import { reconcile } from "../../../src/workflows/reconcile.ts";
import { restore } from "../../../src/workflows/restore.ts";
import { movableShoot } from "../../support/migration-objects.ts";
import { fakeOutput } from "./fake-terminal.ts";

const now = Date.parse("2026-11-21T10:10:00Z");

it("the blocking step is one that waits for an operator, else one that retries, else one at work", () => {
  const steps: StepProgress[] = [
    { name: "etcd", state: "running", since: "2026-11-21T10:00:00Z" },
    { name: "externalDns", state: "retrying", since: "2026-11-21T10:02:00Z" },
    { name: "infrastructure", state: "parked", since: "2026-11-21T10:05:00Z" },
  ];
  expect(findBlocking(progress(steps))?.step).toBe("infrastructure");
  expect(findBlocking(progress(steps.slice(0, 2)))?.step).toBe("externalDns");
  expect(findBlocking(progress(steps.slice(0, 1)))?.step).toBe("etcd");
});

it("the blocking step is the one that has been at work for longest among equals", () => {
  const steps: StepProgress[] = [
    { name: "etcd", state: "running", since: "2026-11-21T10:04:00Z" },
    { name: "secrets", state: "running", since: "2026-11-21T10:03:00Z" },
  ];
  expect(findBlocking(progress(steps))?.step).toBe("secrets");
});

it("the blocking step is one in trouble among those at work", () => {
  const error = { message: "container etcd: CrashLoopBackOff", codes: [] };
  const steps: StepProgress[] = [
    { name: "etcd", state: "running", since: "2026-11-21T10:04:00Z", error },
    { name: "secrets", state: "running", since: "2026-11-21T10:03:00Z" },
  ];
  expect(findBlocking(progress(steps))).toMatchObject({ step: "etcd", error });
});

it("a flow that has ended has no blocking step", () => {
  expect(
    findBlocking({ ...progress([{ name: "etcd", state: "done" }]), finishedAt: "2026-11-21T10:09:00Z" }),
  ).toBeUndefined();
});

it("a description falls back on the Shoot's own errors where no worker answers", () => {
  expect(blockingFromStatus(failed())).toEqual({
    step: "infrastructure",
    state: "parked",
    since: "2026-11-21T10:05:00Z",
    error: { message: "quota exceeded", codes: ["ERR_INFRA_QUOTA_EXCEEDED"] },
  });
});

it("a description shows the one step in the way with its owner, since when, and the remedy", () => {
  const blocking = {
    step: "infrastructure",
    state: "parked" as const,
    since: "2026-11-21T10:05:00Z",
    error: { message: "quota exceeded", codes: ["ERR_INFRA_QUOTA_EXCEEDED"] },
    owner: "extension controller provider-local",
    kind: "Infrastructure" as const,
    object: "local",
    type: "local",
  };
  const described = { ...describeShoot(failed()), progress: undefined, cleanUps: [], unanswered: undefined, blocking };
  const text = renderDescription(fakeOutput(), described, now);
  expect(text).toContain(
    [
      "Blocked by step infrastructure: parked for 5m (since 2026-11-21T10:05:00Z)",
      "  Owner:   extension controller provider-local",
      "  Object:  Infrastructure shoot--dev--local/local of type local",
      "  Error:   quota exceeded",
      "  Codes:   ERR_INFRA_QUOTA_EXCEEDED",
      "  Remedy:  mend the cause, then: perennial shoot retry garden-dev/local --step infrastructure",
    ].join("\n"),
  );
});

it("a description knows the object behind every step that acts through an extension", () => {
  for (const { steps } of [reconcile, deleteShoot, forceDelete, migrate, restore, cleanUp])
    for (const [step, { do: action }] of steps)
      if ("kind" in action) expect(extensionOf(action), step).toMatchObject({ kind: action.kind });
  const kindOf = (flow: ShootFlow, step: string) => {
    const action = flow.steps.get(step)?.do;
    return action && extensionOf(action)?.kind;
  };
  expect(kindOf(reconcile, "nodesReady")).toBeUndefined(); // the Worker's word is that of one who is done
  expect(kindOf(migrate, "lowerTtl")).toBe("DNSRecord");
  expect(kindOf(restore, "copiedBackups")).toBe("BackupEntry");
  expect(kindOf(cleanUp, "workloads")).toBeUndefined();
});

it("a description knows the place of every step of a move", () => {
  const places = (flow: ShootFlow, shoot: Shoot, ...steps: string[]) =>
    steps
      .map((step) => placeOf(flow.steps.get(step)?.do, shoot))
      .map((place) => (place.in === "seed" ? place.seed : place.in));
  const leaving = { ...movableShoot(), spec: { ...movableShoot().spec, seedName: "seed-2" } };
  const steps = ["check", "destinationSecrets", "firstSnapshot", "oldAddressForgotten", "flip"];
  expect(places(migrate, leaving, ...steps)).toEqual(["garden", "seed-2", "seed-1", "time", "garden"]);
  expect(places(restore, restoring(), "leases", "fence", "finalSnapshot", "etcdVolume")).toEqual([
    "time",
    "seed-1",
    "seed-1",
    "seed-2",
  ]);
});

it("a description shows which seed leads, what is left where, and who approved a takeover", () => {
  const described = {
    ...describeShoot(restoring()),
    progress: undefined,
    cleanUps: [],
    unanswered: undefined,
    blocking: undefined,
  };
  const text = renderDescription(fakeOutput(), described, now);
  expect(text).toContain("Moving:          from seed-1 to seed-2; only forward from here");
  expect(text).toContain(
    "Leadership:      seed-2, epoch 2, for 5m (since 2026-11-21T10:05:00Z), lease 60s, record local.dev.leadership.perennial.test",
  );
  expect(text).toContain("Leftovers on:    seed-1");
  expect(text).toContain(
    "Taken over:      approved by alice, 8m ago (2026-11-21T10:02:00Z), relying on the word that the old seed is off: seed-1 burnt down",
  );
});

it("a description says whether a Shoot sleeps, and how to wake it up", () => {
  const shown = (enabled: boolean, hibernated: boolean) => {
    const { spec, status, ...rest } = ready();
    const sleeper = { ...rest, spec: { ...spec, hibernation: { enabled } }, status: { ...status, hibernated } };
    const described = { progress: undefined, cleanUps: [], unanswered: undefined, blocking: undefined };
    const text = renderDescription(fakeOutput(), { ...describeShoot(sleeper), ...described }, now);
    return /^Hibernation: +(.*)$/m.exec(text)?.[1];
  };
  const wake = `kubectl -n garden-dev patch shoot local --type merge -p '{"spec":{"hibernation":{"enabled":false}}}'`;
  expect(shown(true, true)).toBe(`Hibernated; to wake it up: ${wake}`);
  expect(shown(true, false)).toBe(`Hibernating; to wake it up: ${wake}`);
  expect(shown(false, true)).toBe("Waking Up");
  expect(shown(false, false)).toBeUndefined();
});

it("a description says why no operation runs, and which local processes do nothing, also in a narrow window", () => {
  const idle = "no workflow has taken it up: the manager begins one, see that it runs";
  const ailing = ["Dead: manager. What is missing is started by: perennial local up"];
  const shown = {
    ...describeShoot(shoot()),
    cleanUps: [],
    progress: undefined,
    unanswered: undefined,
    blocking: undefined,
  };
  expect(renderDescription(fakeOutput(), { ...shown, idle, ailing }, now)).toContain(
    `Last operation:  <none>\n\nNo operation runs: ${idle}\n\n${ailing[0]}\n`,
  );
  expect(renderDescription(fakeOutput({ live: true, width: 40 }), { ...shown, idle, ailing }, now)).toContain(
    "Dead: manager. What is missing is\nstarted by: perennial local up\n",
  );
});

it("a description does not take the seed that a Shoot goes to for one that it has left", () => {
  const { spec, status, ...shoot } = movableShoot();
  const seeds = ["seed-1", "seed-2", "seed-3"];
  const leaving = { ...shoot, spec: { ...spec, seedName: "seed-2" }, status: { ...status, seeds } };
  expect(describeShoot(leaving).leftovers).toEqual(["seed-3"]);
});

it("a description shows what a clean-up waits for, for how long, and what can be done", () => {
  const steps: StepProgress[] = [
    { name: "fence", state: "done" },
    {
      ...{ name: "workloads", state: "retrying", since: "2026-11-21T09:10:00Z", attempt: 7 },
      error: { message: "Pod shoot--dev--local/etcd-main-0 is not gone", codes: [] },
    },
  ];
  const workflow = "shoot/garden-dev/local/5f0c/clean-up/seed-1";
  const cleanUps = [
    reportCleanUp({ seed: "seed-1", workflow }, progress(steps), false),
    reportCleanUp({ seed: "seed-3", workflow }, undefined, true),
    reportCleanUp({ seed: "seed-4", workflow }, { ...progress([]), finishedAt: "2026-11-21T10:09:00Z" }, false),
  ];
  const shown = { ...describeShoot(movableShoot()), cleanUps, progress: undefined, unanswered: undefined };
  expect(renderDescription(fakeOutput(), { ...shown, blocking: undefined }, now)).toContain(
    [
      "",
      "Clean-up of seed seed-1 waits for step workloads: retrying for 60m (since 2026-11-21T09:10:00Z)",
      "  Owner:    Perennial's worker for seed seed-1",
      "  Attempt:  7",
      "  Error:    Pod shoot--dev--local/etcd-main-0 is not gone",
      "  Remedy:   mend the cause; it is tried again by itself, or at once: perennial shoot retry garden-dev/local --step workloads",
      `  Steps:    perennial flow show ${workflow}`,
      "",
      "Clean-up of seed seed-3 begins once the Shoot has arrived",
      "",
      "Clean-up of seed seed-4 has ended; its name is about to leave status.seeds",
    ].join("\n"),
  );
  const parked = [{ ...steps[1], name: "leave", state: "parked" } as StepProgress];
  expect(reportCleanUp({ seed: "seed-1", workflow }, progress(parked), false).blocking?.owner).toContain("garden");
});

it("a description composes the last operation in Gardener's words", () => {
  expect(lastOperation(failed())).toBe("Create Failed (40%)");
  expect(lastOperation(shoot())).toBe("<pending>");
});

it("a description judges a Shoot's health by Gardener's label, else by its status", () => {
  expect(health(failed())).toBe("unhealthy");
  expect(health(shoot())).toBe("unknown");
  const labelled = {
    ...failed(),
    metadata: { ...failed().metadata, labels: { "shoot.gardener.cloud/status": "progressing" } },
  };
  expect(health(labelled)).toBe("progressing");
});

it("a description takes a Shoot for busy until it has seen the newest generation and every request", () => {
  expect(phaseOf(ready())).toBe("ready");
  expect(phaseOf({ ...ready(), metadata: { ...ready().metadata, generation: 2 } })).toBe("busy");
  const asked = { ...ready().metadata, annotations: { "gardener.cloud/operation": "reconcile" } };
  expect(phaseOf({ ...ready(), metadata: asked })).toBe("busy");
  expect(phaseOf({ ...ready(), metadata: { ...ready().metadata, deletionTimestamp: "2026-11-21T10:09:00Z" } })).toBe(
    "busy",
  );
  expect(phaseOf(failed())).toBe("failed");
});

function progress(steps: StepProgress[]): FlowProgress {
  return { operation: "Create", title: "Reconcile Shoot", percent: 0, steps, startedAt: "2026-11-21T10:00:00Z" };
}

function shoot(): Shoot {
  return {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "Shoot",
    metadata: {
      name: "local",
      namespace: "garden-dev",
      uid: "5f0c",
      generation: 1,
      creationTimestamp: "2026-11-21T10:00:00Z",
    },
    spec: {
      cloudProfile: { kind: "CloudProfile", name: "local" },
      region: "local",
      seedName: "seed-1",
      kubernetes: { version: "1.34.4" },
      networking: { type: "local" },
      provider: { type: "local", workers: [] },
    },
  };
}

function restoring(): Shoot {
  const moving = movableShoot();
  const record = "local.dev.leadership.perennial.test";
  const since = "2026-11-21T10:05:00Z";
  return {
    ...moving,
    spec: { ...moving.spec, seedName: "seed-2" },
    status: {
      ...moving.status,
      seedName: "seed-2",
      seeds: ["seed-1", "seed-2"],
      leadership: { record, seed: "seed-2", previousSeed: "seed-1", epoch: 2, leaving: 1, leaseSeconds: 60, since },
      lastOperation: { type: "Restore", state: "Processing", progress: 10, description: "", lastUpdateTime: since },
      takeover: { by: "alice", reason: "seed-1 burnt down", at: "2026-11-21T10:02:00Z", sourceIsOff: true },
    },
  };
}

function ready(): Shoot {
  return {
    ...shoot(),
    status: {
      observedGeneration: 1,
      technicalID: "shoot--dev--local",
      seedName: "seed-1",
      lastOperation: {
        type: "Create",
        state: "Succeeded",
        progress: 100,
        description: "Reconcile Shoot finished",
        lastUpdateTime: "2026-11-21T10:05:00Z",
      },
    },
  };
}

function failed(): Shoot {
  return {
    ...shoot(),
    status: {
      ...ready().status,
      lastOperation: {
        type: "Create",
        state: "Failed",
        progress: 40,
        description: "waiting for a retry of infrastructure",
        lastUpdateTime: "2026-11-21T10:05:00Z",
      },
      lastErrors: [
        {
          taskID: "infrastructure",
          description: "quota exceeded",
          codes: ["ERR_INFRA_QUOTA_EXCEEDED"],
          lastUpdateTime: "2026-11-21T10:05:00Z",
        },
      ],
    },
  };
}
