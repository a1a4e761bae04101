import { afterAll, expect } from "vitest";
import { SHOOT_UID_ANNOTATION, WAIT_ANNOTATION } from "../../src/api/annotations.ts";
import { ROLE_LABEL } from "../../src/api/labels.ts";
import { jobTarget } from "../../src/activities/backup/jobs.ts";
import { formatRegistration } from "../../src/activities/waits/registration.ts";
import { createSigner } from "../../src/activities/waits/signature.ts";
import { createWaits, type Completer, type Waits } from "../../src/activities/waits/waits.ts";
import { Job, Pod, refTo, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { newStateKey } from "../support/state-keys.ts";
import { waitId } from "../../src/api/activity-ids.ts";

let kube: KubeClient;
let waits: Waits;
const signer = createSigner([newStateKey("seed-1")]);
const namespace = "shoot--dev--jobs";
const shootUid = "uid-of-jobs";
const failures = new Map<string, string>();
const completed = new Set<string>();
const completer: Completer = {
  complete: async ({ runId }) => Boolean(completed.add(runId)),
  fail: async ({ runId }, { message }) => Boolean(failures.set(runId, message)),
};

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  const log = createLogger({ name: "test", level: "silent" });
  waits = createWaits({ client: kube, completer, signer, log });
  waits.start();
  const metadata = {
    name: namespace,
    labels: { [ROLE_LABEL]: "shoot" },
    annotations: { [SHOOT_UID_ANNOTATION]: shootUid },
  };
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata });
});

afterAll(async () => await waits.stop());

test("a step whose Job failed says why, as the Job's pod said it", async () => {
  const uid = await createJob("first-snapshot");
  await createPod("first-snapshot-abcde", uid, failed("Error: context deadline exceeded\n"));
  await createPod("another", "another-uid", failed("Error: somebody else's\n"));
  await fail("first-snapshot");
  expect(await eventually(() => failures.get("first-snapshot") ?? false)).toBe(
    "Job shoot--dev--jobs/first-snapshot is not done: it failed: too many tries: " +
      "pod first-snapshot-abcde, container save: exit code 1: Error: context deadline exceeded",
  );
});

test("a step whose Job failed without a pod says so", async () => {
  await createJob("lost");
  await fail("lost");
  expect(await eventually(() => failures.get("lost") ?? false)).toBe(
    "Job shoot--dev--jobs/lost is not done: it failed: too many tries",
  );
});

test("a step waits for a Job until its pod has succeeded, not until its controller has counted that", async () => {
  const uid = await createJob("quick");
  await createPod("another-quick", "another-uid", { phase: "Succeeded" });
  await createPod("quick-abcde", uid, { phase: "Running" });
  await eventually(() => expect(waits.readiness(jobTarget(namespace, "quick", 0))).toMatchObject({ reached: false }));
  await end("quick-abcde", { phase: "Succeeded" });
  expect(await eventually(() => completed.has("quick"))).toBe(true);
  expect(waits.readiness(jobTarget(namespace, "quick", 0))).toEqual({ reached: true });
});

test("a step waits for a Job until every container of its pod has succeeded, not until the pod is said to have", async () => {
  const uid = await createJob("quicker");
  const ended = (exitCode: number) => ({ terminated: { exitCode, reason: exitCode === 0 ? "Completed" : "Error" } });
  const says = (save: object, verify: object) => ({
    phase: "Running",
    containerStatuses: [
      { name: "save", image: "etcd", imageID: "", ready: false, restartCount: 0, state: save },
      { name: "verify", image: "etcd", imageID: "", ready: false, restartCount: 0, state: verify },
    ],
  });
  const container = (name: string) => ({ name, image: "etcd" });
  const spec = { restartPolicy: "Never", containers: [container("save"), container("verify")] };
  await createPod("quicker-abcde", uid, says(ended(0), { running: {} }), spec);
  const readiness = () => waits.readiness(jobTarget(namespace, "quicker", 0));
  await eventually(() => expect(readiness()).toMatchObject({ reached: false }));
  await end("quicker-abcde", says(ended(0), ended(1)));
  await end("quicker-abcde", says(ended(1), ended(0)));
  expect(completed.has("quicker")).toBe(false);
  await end("quicker-abcde", says(ended(0), ended(0)));
  expect(await eventually(() => completed.has("quicker"))).toBe(true);
});

const template = { spec: { restartPolicy: "Never", containers: [{ name: "save", image: "etcd" }] } };
const labels = { "gardener.cloud/role": "controlplane" };

async function createJob(name: string): Promise<string> {
  const target = jobTarget(namespace, name, 60_000);
  const workflowId = `shoot/garden-dev/jobs/${shootUid}/migrate`;
  const waiter = { workflowId, runId: name, activityId: waitId("firstSnapshot") };
  const annotations = { [WAIT_ANNOTATION]: formatRegistration({ waiter, target, since: Date.now(), of: 1 }, signer) };
  const metadata = { name, namespace, labels, annotations };
  const { metadata: made } = await kube.create({ apiVersion: "batch/v1", kind: "Job", metadata, spec: { template } });
  return (made as { uid?: string }).uid ?? "";
}

async function createPod(name: string, uid: string, status: object, spec: object = template.spec): Promise<void> {
  const metadata = { name, namespace, labels: { ...labels, "batch.kubernetes.io/controller-uid": uid } };
  await kube.create({ apiVersion: "v1", kind: "Pod", metadata, spec });
  await end(name, status);
}

async function end(pod: string, status: object): Promise<void> {
  await kube.patch(refTo(Pod, { name: pod, namespace }), { status }, { subresource: "status" });
}

function failed(message: string) {
  const state = { terminated: { exitCode: 1, reason: "Error", message } };
  const container = { name: "save", image: "etcd", imageID: "", ready: false, restartCount: 0, lastState: {}, state };
  return { phase: "Failed", containerStatuses: [container] };
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
  const ref = refTo(Job, { name, namespace });
  await kube.patch(ref, { status: { startTime: time, conditions } }, { subresource: "status" });
}
