import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { WaitTarget } from "../../../src/activities/index.ts";
import { judge } from "../../../src/activities/waits/judgement.ts";
import { createSettler, type Completer, type Settler } from "../../../src/activities/waits/settler.ts";
import { createSoon, lookingAMoment } from "../../../src/activities/waits/soon.ts";
import type { KubeObject } from "../../../src/api/schema/meta.ts";
import { createLogger } from "../../../src/log.ts";

const log = createLogger({ name: "test", level: "silent" });
const waiter = { workflowId: "shoot/garden-dev/one/uid/reconcile", runId: "r", activityId: "apiServerService/wait" };
const namespace = "shoot--dev--one";

/** In ms. */
const TIMEOUT = 1_000;

let seen: Map<string, KubeObject>;
let told: string[];
let settler: Settler;
let soon: ReturnType<typeof createSoon>;
/** One whose moment never ends while a test runs. */
let patient: ReturnType<typeof createSoon>;

beforeEach(() => {
  [seen, told] = [new Map(), []];
  const completer: Completer = {
    complete: async ({ activityId }) => told.push(activityId) > 0,
    fail: async ({ activityId }, { message }) => told.push(`${activityId}: ${message}`) > 0,
  };
  const client = { list: async () => [] };
  settler = createSettler({ client, completer, latest: (object) => object, judge, read: registrationOf, log });
  const isReached = (target: WaitTarget) => {
    const object = seen.get(target.name);
    return object !== undefined && judge(target, object).reached;
  };
  const createFor = (timeout: number) => createSoon({ hold: settler.hold, isReached, waiter: () => waiter, timeout });
  [soon, patient] = [createFor(TIMEOUT), createFor(3_600_000)];
});
afterEach(() => settler.stop());

/** What the watch sees. */
function see(object: KubeObject): void {
  seen.set(object.metadata.name, object);
  settler.look(object, "updated");
}

describe("an activity that has changed objects", () => {
  it("leaves nothing to wait for where all of it is reached within a moment, and Temporal is told of no wait", async () => {
    see(service("a"));
    see(service("b"));
    const answer = soon([target("a"), target("b")]);
    see(service("a", "192.0.2.1"));
    await sleep(20);
    see(service("b", "192.0.2.2"));
    expect(await answer).toEqual([]);
    see(service("b", "192.0.2.2"));
    await sleep(20);
    expect(told).toEqual([]);
  });

  it("ends as soon as that is so", async () => {
    see(service("a"));
    see(service("b", "192.0.2.2"));
    const answer = patient([target("a"), target("b")]);
    see(service("a", "192.0.2.1"));
    expect(await answer).toEqual([]);
  });

  it("leaves all of it to a wait where one is late, which Temporal is told of when that one has come", async () => {
    see(service("a", "192.0.2.1"));
    see(service("b"));
    expect(await soon([target("a"), target("b")])).toEqual([target("a"), target("b")]);
    expect(told).toEqual([]);
    see(service("b", "192.0.2.2"));
    await sleep(20);
    expect(told).toEqual(["apiServerService/wait"]);
  });

  it("leaves to a wait what has failed, at once", async () => {
    see(service("a", "192.0.2.1"));
    const job = failedJob("b");
    const answer = patient([target("a"), targetOf(job)]);
    see(job);
    expect(await answer).toHaveLength(2);
    await sleep(20);
    expect(told).toEqual([expect.stringContaining("apiServerService/wait: Job")]);
  });

  it("does not look where as many others do as may", async () => {
    let others = 25;
    const ended = Array.from({ length: 25 }, () => soon([target("a")]).finally(() => (others -= 1)));
    expect(await soon([target("a")])).toHaveLength(1);
    expect(others).toBe(25);
    await Promise.all(ended);
    const again = patient([target("a")]);
    see(service("a", "192.0.2.1"));
    see(service("b", "192.0.2.1"));
    expect(await again).toEqual([]);
  });

  it("looks only where it answers with what there is to wait for", async () => {
    const looked: number[] = [];
    const activities = lookingAMoment(
      { acts: async () => [target("a")], calls: async () => {}, reads: async () => ({ cleanable: true }) },
      async (targets) => (looked.push(targets.length), []),
    );
    expect([await activities.acts(), await activities.calls(), await activities.reads()]).toEqual([
      [],
      undefined,
      { cleanable: true },
    ]);
    expect(looked).toEqual([1]);
  });
});

const target = (name: string): WaitTarget => targetOf(service(name));

const targetOf = ({ apiVersion, kind, metadata: { name } }: KubeObject): WaitTarget => ({
  ...{ apiVersion, kind, name, namespace },
  until: kind === "Job" ? "completed" : "addressed",
  ...{ severeAfter: 0, deadline: 0 },
});

const service = (name: string, ip?: string): KubeObject => ({
  ...{ apiVersion: "v1", kind: "Service", metadata: { name, namespace, uid: name } },
  status: { loadBalancer: ip === undefined ? {} : { ingress: [{ ip }] } },
});

const failedJob = (name: string): KubeObject => ({
  ...{ apiVersion: "batch/v1", kind: "Job", metadata: { name, namespace, uid: name } },
  status: { conditions: [{ type: "Failed", status: "True" }] },
});

const since = Date.now();
const registrationOf = (object: KubeObject) => ({ waiter, target: targetOf(object), since, of: 2 });
