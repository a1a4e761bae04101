import { beforeEach, expect } from "vitest";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import { createEventRecorder, createKubeClient, Event, type EventRecorder } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";

const log = createLogger({ name: "test", level: "silent" });
const failed = {
  type: "Warning",
  reason: "ReconcileError",
  action: "Reconcile",
  note: "cannot reach the cloud",
} as const;
let controlPlane: ControlPlane;
let recorder: EventRecorder;
let regarding: KubeObject;

test.beforeAll(({ cluster }) => void (controlPlane = cluster));

beforeEach(async () => {
  const { client } = controlPlane;
  await client.removeAll(Event, { namespace: "default" });
  regarding = await client.apply({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "default", name: "it" },
  });
  recorder = createEventRecorder({ client, controller: "perennial.dev/test", instance: "test-1", log });
});

function events(): Promise<KubeObject[]> {
  return controlPlane.client.list(Event, { namespace: "default" });
}

test("what happens once is one Event without a series", async () => {
  recorder.record({ regarding, reason: "Reconciled", action: "Reconcile", note: "everything is fine" });
  await recorder.settled();
  const [event, ...more] = await events();
  expect(more).toEqual([]);
  expect(event).toMatchObject({
    type: "Normal",
    reason: "Reconciled",
    note: "everything is fine",
    regarding: { kind: "ConfigMap", name: "it", namespace: "default", uid: regarding.metadata.uid },
    reportingController: "perennial.dev/test",
    reportingInstance: "test-1",
  });
  expect(event).not.toHaveProperty("series");
});

test("an Event has the times that kubectl sorts by, also when it happens again", async () => {
  const core = async () =>
    ((await controlPlane.client.get("/api/v1/namespaces/default/events")) as { items: Record<string, unknown>[] })
      .items;
  recorder.record({ regarding, ...failed });
  await recorder.settled();
  const [first] = await core();
  expect(first).toMatchObject({ count: 1, firstTimestamp: first?.["lastTimestamp"], message: failed.note });
  expect(Date.parse(String(first?.["lastTimestamp"]))).toBeGreaterThan(Date.now() - 60_000);
  await eventually(async () => {
    recorder.record({ regarding, ...failed });
    await recorder.settled();
    const [again] = await core();
    expect(again).toMatchObject({ firstTimestamp: first?.["firstTimestamp"], series: { count: again?.["count"] } });
    expect(again?.["lastTimestamp"]).not.toBe(first?.["lastTimestamp"]);
  });
});

test("what happens again counts up one series, however fast it comes", async () => {
  recorder.record({ regarding, ...failed });
  await recorder.settled();
  for (let i = 0; i < 50; i++) recorder.record({ regarding, ...failed });
  await recorder.settled();
  expect(await events()).toEqual([expect.objectContaining({ series: expect.objectContaining({ count: 51 }) })]);
});

test("another reason, another object or another note is another Event", async () => {
  recorder.record({ regarding, ...failed });
  recorder.record({ regarding, ...failed, reason: "DeleteError" });
  recorder.record({ regarding, ...failed, note: "the cloud says no" });
  recorder.record({ regarding: { apiVersion: "v1", kind: "Node", metadata: { name: "it" } }, ...failed });
  await recorder.settled();
  expect((await events()).map(({ reason, note }) => `${String(reason)}: ${String(note)}`).toSorted()).toEqual([
    "DeleteError: cannot reach the cloud",
    "ReconcileError: cannot reach the cloud",
    "ReconcileError: cannot reach the cloud",
    "ReconcileError: the cloud says no",
  ]);
});

test("a series goes on in a new Event when the API server has forgotten the old one", async () => {
  recorder.record({ regarding, ...failed });
  await recorder.settled();
  await controlPlane.client.removeAll(Event, { namespace: "default" });
  recorder.record({ regarding, ...failed });
  await recorder.settled();
  expect(await events()).toEqual([expect.objectContaining({ series: expect.objectContaining({ count: 2 }) })]);
});

test("recording an Event does not fail when the API server is down", async () => {
  const client = createKubeClient({ kubeconfig: controlPlane.kubeconfig.replace(/127.0.0.1:\d+/, "127.0.0.1:1") });
  recorder = createEventRecorder({ client, controller: "perennial.dev/test", instance: "test-1", log });
  recorder.record({ regarding, ...failed });
  await recorder.settled();
});
