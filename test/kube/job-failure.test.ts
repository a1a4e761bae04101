import { afterAll, expect } from "vitest";
import { WAIT_ANNOTATION } from "../../src/api/annotations.ts";
import { jobTarget } from "../../src/activities/backup/jobs.ts";
import { createWaits, type Completer, type Waits } from "../../src/activities/waits/waits.ts";
import { Job, Pod, refTo, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";

let kube: KubeClient;
let waits: Waits;
const failures = new Map<string, string>();
const completer: Completer = {
  complete: async () => true,
  fail: async ({ runId }, { message }) => Boolean(failures.set(runId, message)),
};

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  waits = createWaits({ client: kube, completer, log: createLogger({ name: "test", level: "silent" }) });
  waits.start();
});

afterAll(async () => await waits.stop());

test("a step whose Job failed says why, as the Job's pod said it", async () => {
  const uid = await createJob("first-snapshot");
  await createPod("first-snapshot-abcde", uid, "Error: context deadline exceeded\n");
  await createPod("another", "another-uid", "Error: somebody else's\n");
  await fail("first-snapshot");
  expect(await eventually(() => failures.get("first-snapshot") ?? false)).toBe(
    "Job default/first-snapshot is not done: it failed: too many tries: " +
      "pod first-snapshot-abcde, container save: exit code 1: Error: context deadline exceeded",
  );
});

test("a step whose Job failed without a pod says so", async () => {
  await createJob("lost");
  await fail("lost");
  expect(await eventually(() => failures.get("lost") ?? false)).toBe(
    "Job default/lost is not done: it failed: too many tries",
  );
});

const template = { spec: { restartPolicy: "Never", containers: [{ name: "save", image: "etcd" }] } };
const labels = { "gardener.cloud/role": "controlplane" };

async function createJob(name: string): Promise<string> {
  const target = jobTarget("default", name, "firstSnapshot", 60_000);
  const waiter = { workflowId: name, runId: name, activityId: target.activityId };
  const annotations = { [WAIT_ANNOTATION]: JSON.stringify({ waiter, target, since: Date.now() }) };
  const metadata = { name, namespace: "default", labels, annotations };
  const { metadata: made } = await kube.create({ apiVersion: "batch/v1", kind: "Job", metadata, spec: { template } });
  return (made as { uid?: string }).uid ?? "";
}

async function createPod(name: string, uid: string, message: string): Promise<void> {
  const metadata = { name, namespace: "default", labels: { ...labels, "batch.kubernetes.io/controller-uid": uid } };
  await kube.create({ apiVersion: "v1", kind: "Pod", metadata, spec: template.spec });
  const state = { terminated: { exitCode: 1, reason: "Error", message } };
  const containerStatuses = [
    { name: "save", image: "etcd", imageID: "", ready: false, restartCount: 0, lastState: {}, state },
  ];
  const ref = refTo(Pod, { name, namespace: "default" });
  await kube.patch(ref, { status: { phase: "Failed", containerStatuses } }, { subresource: "status" });
}

async function fail(name: string): Promise<void> {
  const time = "2026-01-01T10:00:10Z";
  const condition = {
    status: "True",
    lastTransitionTime: time,
    reason: "BackoffLimitExceeded",
    message: "too many tries",
  };
  const conditions = ["FailureTarget", "Failed"].map((type) => ({ ...condition, type }));
  const ref = refTo(Job, { name, namespace: "default" });
  await kube.patch(ref, { status: { startTime: time, conditions } }, { subresource: "status" });
}
