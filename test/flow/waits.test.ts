import { setTimeout as sleep } from "node:timers/promises";
import { ApplicationFailure } from "@temporalio/common";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Registration } from "../../src/activities/waits/registration.ts";
import { stepOfActivity } from "../../src/api/activity-ids.ts";
import { WAIT_ANNOTATION } from "../../src/api/annotations.ts";
import { OperatingSystemConfig } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { refTo } from "../../src/kube/index.ts";
import { flowWorkflowId, gardenQueue, progressQuery } from "../../src/workflows/contract.ts";
import { eventually } from "../support/eventually.ts";
import { createShoot } from "../support/garden-objects.ts";
import { answer, answerFor, infrastructureOf, startWaitingLab, type WaitingLab } from "../support/waiting-lab.ts";

let lab: WaitingLab;
let count = 0;
beforeAll(async () => void (lab = await startWaitingLab()));
afterAll(() => lab.stop());
beforeEach(
  () => void Object.assign(lab.knobs, { severeAfter: 600_000, losing: false, applied: nothing, completing: nothing }),
);

const nothing = async () => {};
const newShoot = () => createShoot(lab.kube, `wait-${(count += 1)}`);

async function start(run: ShootRun, type = "waitUntilReady", workflowExecutionTimeout: "100s" | "100 years" = "100s") {
  const isAll = type.startsWith("waitUntilAll");
  const o = {
    workflowId: flowWorkflowId(run, type.endsWith("Gone") ? "delete" : "reconcile"),
    taskQueue: gardenQueue,
    args: [run],
    workflowExecutionTimeout,
  } as const;
  const handle = await lab.client.workflow.start(type, o);
  const pending = async () => (await handle.describe()).raw.pendingActivities ?? [];
  const step = async () => (await handle.query(progressQuery)).steps[0];
  const waiting = () =>
    eventually(async () =>
      expect((await pending()).map(({ activityId }) => activityId)).toEqual([
        isAll ? "configs/wait" : "infrastructure/wait",
      ]),
    );
  /** The activities of steps, in the order in which they began. */
  const activities = async () => {
    const { events } = await handle.fetchHistory();
    const ids = events?.flatMap(({ activityTaskScheduledEventAttributes: it }) => it?.activityId ?? []) ?? [];
    return ids.filter((id) => stepOfActivity(id) !== undefined);
  };
  return { result: () => handle.result(), waiting, pending, step, activities };
}

async function stillWaits({ waiting }: Awaited<ReturnType<typeof start>>): Promise<void> {
  await sleep(1_000);
  await waiting();
}

describe("a wait", () => {
  it("ends for a hundred Shoots at once when their Infrastructures are ready, and holds no slot meanwhile", async () => {
    const runs = await Promise.all(Array.from({ length: 100 }, newShoot));
    const flows = await Promise.all(runs.map((run) => start(run)));
    for (const flow of flows) await flow.waiting(); // a hundred, where the worker has fifty slots
    await Promise.all(runs.map((run) => answer(lab.kube, run)));
    const answered = performance.now();
    expect(new Set(await Promise.all(flows.map((flow) => flow.result())))).toEqual(new Set(["succeeded"]));
    // Each wait is re-checked after a minute, which is later.
    expect(performance.now() - answered).toBeLessThan(30_000);
  });

  it("never begins for an object that is ready at once, which is seen by the activity that has asked for it", async () => {
    const run = await newShoot();
    const flow = await start(run);
    await eventually(async () => expect(await lab.kube.read(infrastructureOf(run))).toBeDefined(), 10_000);
    await answer(lab.kube, run);
    expect(await flow.result()).toBe("succeeded");
    expect(await flow.activities()).toEqual(["infrastructure/apply"]);
    const { annotations } = (await lab.kube.read(infrastructureOf(run)))?.metadata ?? {};
    expect(annotations?.[WAIT_ANNOTATION]).toContain("infrastructure/wait"); // had the worker died, the next would know
  });

  it("begins, although the seed's worker has failed before it and asked for the next attempt in 68 years", async () => {
    let fails = true;
    lab.knobs.applied = async () => {
      if (fails) throw ApplicationFailure.create({ message: "later", nextRetryDelay: 2 ** 31 * 1_000 });
    };
    const run = await newShoot();
    const flow = await start(run, "waitUntilReady", "100 years"); // operations have no end of their own
    await eventually(async () => expect((await flow.step())?.state).toBe("retrying"));
    fails = false;
    await flow.waiting();
    await answer(lab.kube, run);
    expect(await flow.result()).toBe("succeeded");
  });

  it("does not take an older answer, or the answer to another request, for its own", async () => {
    const run = await newShoot();
    const flow = await start(run);
    await flow.waiting();
    await answer(lab.kube, run, { lastUpdateTime: new Date(Date.now() - 60_000).toISOString() });
    await stillWaits(flow);

    const ref = infrastructureOf(run);
    const stamp = (await lab.kube.read(ref))?.metadata.annotations?.["gardener.cloud/timestamp"] ?? "";
    const stampWith = (value: string) =>
      lab.kube.patch(ref, { metadata: { annotations: { "gardener.cloud/timestamp": value } } });
    await stampWith(new Date(Date.parse(stamp) - 1_000).toISOString());
    await answer(lab.kube, run);
    await stillWaits(flow);

    await stampWith(stamp);
    expect(await flow.result()).toBe("succeeded");
  });

  it("ends with an error and its codes only when the error outlasts what may pass by itself", async () => {
    lab.knobs.severeAfter = 4_000;
    const run = await newShoot();
    const flow = await start(run);
    await flow.waiting();
    await answer(lab.kube, run, {
      state: "Error",
      lastError: { description: "quota is used up", codes: ["ERR_INFRA_QUOTA_EXCEEDED"] },
    });
    await stillWaits(flow);
    await eventually(async () => expect((await flow.step())?.state).toBe("parked"));
    expect(await flow.step()).toMatchObject({
      error: {
        message: `Infrastructure ${run.technicalID}/${run.name} is not ready: quota is used up`,
        codes: ["ERR_INFRA_QUOTA_EXCEEDED"],
      },
    });
  });

  it("outlives an error that passes", async () => {
    lab.knobs.severeAfter = 3_000;
    const run = await newShoot();
    const flow = await start(run);
    await flow.waiting();
    await answer(lab.kube, run, { state: "Error", lastError: { description: "rate limit" } });
    await sleep(1_000);
    await answer(lab.kube, run, { state: "Processing" });
    await sleep(3_000);
    await flow.waiting();
    await answer(lab.kube, run);
    expect(await flow.result()).toBe("succeeded");
  });

  it("is found again by a new process", async () => {
    const run = await newShoot();
    const flow = await start(run);
    await flow.waiting();
    await lab.forget();
    await answer(lab.kube, run); // nobody sees it
    await stillWaits(flow);
    await lab.watch();
    expect(await flow.result()).toBe("succeeded");
  });

  it("ends when the object is gone", async () => {
    const run = await newShoot();
    const ref = infrastructureOf(run);
    const finalizers = ["extensions.gardener.cloud/infrastructure"];
    await lab.kube.apply({
      ...infrastructure(run),
      metadata: { name: run.name, namespace: run.technicalID, finalizers },
    });
    const flow = await start(run, "waitUntilGone");
    await flow.waiting();
    await stillWaits(flow);
    await lab.kube.patch(ref, { metadata: { finalizers: null } });
    expect(await flow.result()).toBe("succeeded");
    expect(await lab.kube.read(ref)).toBeUndefined();
  });

  it("is not lost when the object was ready before it was registered", async () => {
    const run = await newShoot();
    lab.knobs.applied = async () => {
      await answer(lab.kube, run);
      await sleep(500); // the watch sees it, and finds nobody to wake
    };
    expect(await (await start(run)).result()).toBe("succeeded");
  });

  it("is not lost when the object was ready before, and the worker loses the task", async () => {
    const run = await newShoot();
    lab.knobs.losing = true;
    lab.knobs.applied = async () => {
      await answer(lab.kube, run);
      await sleep(500);
    };
    expect(await (await start(run)).result()).toBe("succeeded"); // long before the re-check
  });

  it("is not lost when the object had failed before it was registered", async () => {
    lab.knobs.severeAfter = 200;
    const run = await newShoot();
    lab.knobs.applied = async () => {
      await answer(lab.kube, run, {
        state: "Error",
        lastError: { description: "no", codes: ["ERR_CONFIGURATION_PROBLEM"] },
      });
      await sleep(1_000);
    };
    const flow = await start(run);
    await eventually(async () => expect((await flow.step())?.state).toBe("parked"));
  });

  it("is not lost when Temporal could not be told at first", async () => {
    const run = await newShoot();
    const flow = await start(run);
    await flow.waiting();
    let refusals = 2;
    lab.knobs.completing = async () => {
      if ((refusals -= 1) >= 0) throw new Error("unavailable");
    };
    await answer(lab.kube, run);
    expect(await flow.result()).toBe("succeeded");
  });

  it("is not disturbed by annotations that are no registrations", async () => {
    const [run, other] = [await newShoot(), await newShoot()];
    const flow = await start(run);
    await flow.waiting();
    const ref = infrastructureOf(run);
    const own = (await lab.kube.read(ref))?.metadata.annotations?.[WAIT_ANNOTATION] ?? "";
    const registration = JSON.parse(own) as { target: object };
    const severe = { ...registration, target: { ...registration.target, severeAfter: 1e15 } };
    const garbage = [
      "",
      "null",
      "[]",
      "{",
      "{}",
      '{"waiter":{},"target":{},"since":"now"}',
      JSON.stringify({ ...registration, since: "x" }),
      JSON.stringify(severe),
    ];
    await lab.kube.apply({ ...infrastructure(other), metadata: { name: other.name, namespace: other.technicalID } });
    for (const text of garbage) {
      for (const one of [run, other])
        await lab.kube.patch(infrastructureOf(one), { metadata: { annotations: { [WAIT_ANNOTATION]: text } } });
      await answer(lab.kube, run, { state: "Error", lastError: { description: text } });
      await answer(lab.kube, other);
    }
    // Not even the right words in the wrong place wake anybody.
    await lab.kube.patch(infrastructureOf(other), { metadata: { annotations: { [WAIT_ANNOTATION]: own } } });
    await stillWaits(flow);
    await answer(lab.kube, run);
    await lab.kube.patch(ref, { metadata: { annotations: { [WAIT_ANNOTATION]: own } } });
    expect(await flow.result()).toBe("succeeded");
  });

  it("is completed by no other object, activity or Shoot than it was registered for, whatever is written there", async () => {
    const [run, other] = [await newShoot(), await newShoot()];
    const [flow, forged] = [await start(run), await start(other)];
    await Promise.all([flow.waiting(), forged.waiting()]);
    const textOf = async (one: ShootRun) =>
      (await lab.kube.read(infrastructureOf(one)))?.metadata.annotations?.[WAIT_ANNOTATION] ?? "";
    const [own, others] = [await textOf(run), await textOf(other)].map(parse) as [Signed, Signed];
    const { target } = own;
    // What a controller of an extension can write into an object of its own Shoot:
    const attempts: [string, string][] = [
      ["the waiter of another Shoot", JSON.stringify({ ...own, waiter: others.waiter })],
      [
        "the same with that one's signature",
        JSON.stringify({ ...own, waiter: others.waiter, signature: others.signature }),
      ],
      ["another activity of its own", JSON.stringify({ ...own, waiter: { ...own.waiter, activityId: "etcd/wait" } })],
      ["less to wait for", JSON.stringify({ ...own, target: { ...target, until: "addressed" } })],
      ["no signature", JSON.stringify({ ...own, signature: undefined })],
      // And what could come of a key that was lost:
      ["a signed one of another Shoot", lab.sign({ ...own, waiter: others.waiter })],
      ["a signed one of an earlier object", lab.sign({ ...own, uid: "earlier" })],
      ["a signed one of another object", lab.sign({ ...own, target: { ...target, name: "another" } })],
      ["a signed one of no operation", lab.sign({ ...own, waiter: { ...own.waiter, workflowId: `x/${run.uid}` } })],
    ];
    for (const [what, text] of attempts) {
      const before = lab.warnings.length;
      await lab.kube.patch(infrastructureOf(run), { metadata: { annotations: { [WAIT_ANNOTATION]: text } } });
      await answer(lab.kube, run);
      await eventually(async () =>
        expect({ what, warned: lab.warnings.length > before }).toEqual({ what, warned: true }),
      );
      expect(lab.warnings.at(-1)).toContain(run.name);
    }
    await Promise.all([stillWaits(flow), stillWaits(forged)]);
    await lab.kube.patch(infrastructureOf(run), {
      metadata: { annotations: { [WAIT_ANNOTATION]: JSON.stringify(own) } },
    });
    expect(await flow.result()).toBe("succeeded");
    await answer(lab.kube, other);
    expect(await forged.result()).toBe("succeeded");
  });
});

describe("a wait for several objects", () => {
  const names = ["a", "b", "c"];
  const refOf = ({ technicalID: namespace }: ShootRun, name: string) =>
    refTo(OperatingSystemConfig, { namespace, name });
  const create = async (run: ShootRun, metadata: { finalizers?: string[] } = {}) => {
    for (const name of names)
      await lab.kube.apply({
        ...refOf(run, name),
        metadata: { ...metadata, name, namespace: run.technicalID },
        spec: { type: "local", purpose: "reconcile" },
      });
    const flow = await start(run, metadata.finalizers ? "waitUntilAllGone" : "waitUntilAllMigrated");
    await flow.waiting();
    return flow;
  };
  const migrated = (run: ShootRun, name: string, status = {}) =>
    answerFor(lab.kube, refOf(run, name), { type: "Migrate", ...status });

  it("is one activity, which ends with the last of them", async () => {
    const run = await newShoot();
    const flow = await create(run);
    await migrated(run, "c");
    await migrated(run, "a");
    await stillWaits(flow);
    await migrated(run, "b");
    expect(await flow.result()).toBe("succeeded");
  });

  it("is found again by a new process, which has not seen the first of them come to an end", async () => {
    const run = await newShoot();
    const flow = await create(run);
    await migrated(run, "a");
    await lab.forget();
    await migrated(run, "b");
    await lab.watch();
    await stillWaits(flow);
    await migrated(run, "c");
    expect(await flow.result()).toBe("succeeded");
  });

  it("fails once each has come to an end, and says which have failed", async () => {
    lab.knobs.severeAfter = 200;
    const run = await newShoot();
    const flow = await create(run);
    const lastError = { description: "no such image", codes: ["ERR_CONFIGURATION_PROBLEM"] };
    await migrated(run, "a", { state: "Error", lastError });
    await migrated(run, "b");
    await stillWaits(flow);
    await migrated(run, "c", { state: "Error", lastError: { description: "out of quota" } });
    await eventually(async () => expect((await flow.step())?.state).toBe("parked"));
    expect((await flow.step())?.error).toMatchObject({
      message: `OperatingSystemConfig ${run.technicalID}/a is not ready: no such image; OperatingSystemConfig ${run.technicalID}/c is not ready: out of quota`,
      codes: ["ERR_CONFIGURATION_PROBLEM"],
    });
  });

  it("does not hold against them an error that has passed until the last has come to an end", async () => {
    lab.knobs.severeAfter = 200;
    const run = await newShoot();
    const flow = await create(run);
    await migrated(run, "a", { state: "Error", lastError: { description: "rate limit" } });
    await migrated(run, "b");
    await stillWaits(flow);
    await migrated(run, "a");
    await migrated(run, "c");
    expect(await flow.result()).toBe("succeeded");
  });

  it("ends when all are gone, also those that a new process has never seen", async () => {
    const run = await newShoot();
    const flow = await create(run, { finalizers: ["extensions.gardener.cloud/osc"] });
    const release = (name: string) => lab.kube.patch(refOf(run, name), { metadata: { finalizers: null } });
    await release("a");
    await stillWaits(flow);
    await lab.forget();
    await release("b");
    await lab.watch();
    await stillWaits(flow);
    await release("c");
    expect(await flow.result()).toBe("succeeded"); // at the latest by the next look at what is left
  });

  it("is not ended by what an earlier call has registered", async () => {
    const run = await newShoot();
    const flow = await create(run);
    const text = (await lab.kube.read(refOf(run, "a")))?.metadata.annotations?.[WAIT_ANNOTATION] ?? "";
    const { signature: _, ...own } = parse(text);
    const earlier = lab.sign({ ...own, since: own.since - 1, of: 1 });
    await lab.kube.patch(refOf(run, "a"), { metadata: { annotations: { [WAIT_ANNOTATION]: earlier } } });
    for (const name of names) await migrated(run, name);
    await stillWaits(flow);
    await lab.kube.patch(refOf(run, "a"), { metadata: { annotations: { [WAIT_ANNOTATION]: text } } });
    expect(await flow.result()).toBe("succeeded");
  });
});

type Signed = Registration & { readonly signature: string };
const parse = (text: string) => JSON.parse(text) as Signed;

const infrastructure = (run: ShootRun) => {
  const { apiVersion, kind } = infrastructureOf(run);
  return {
    apiVersion,
    kind,
    spec: { type: "local", region: "local", secretRef: { name: "cloudprovider", namespace: run.technicalID } },
  };
};
