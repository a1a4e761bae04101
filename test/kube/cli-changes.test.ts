import { expect } from "vitest";
import { judge } from "../../src/cli/report/changes.ts";
import { clusterObject, components, infrastructureObject } from "../../src/components/index.ts";
import { Deployment, refOf } from "../../src/kube/index.ts";
import { apply, call, deploy } from "../../src/workflows/actions.ts";
import { exampleContext, exampleShoot } from "../support/control-plane-context.ts";
import { ownClusterTest } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";

const test = ownClusterTest({ crds: true });
const context = exampleContext();
let seed: ControlPlane;

test.beforeAll(async ({ cluster }) => {
  seed = cluster;
  for (const name of ["namespace", "etcd", "kube-apiserver"] as const)
    for (const object of components[name].objects(context)) await seed.client.apply(object);
  await seed.client.apply(infrastructureObject(context));
  await seed.client.apply(clusterObject(context));
});

const judged = (given: typeof context, action: Parameters<typeof judge>[1]) =>
  judge({ seedClient: seed.client, context: given }, action);

test("a step whose objects are all in place would look again", async () => {
  for (const action of [deploy("namespace"), deploy("etcd"), deploy("kube-apiserver"), call("syncCluster")])
    expect(await judged(context, action)).toEqual({ would: "look" });
});

test("a step would change the fields that the Shoot's spec changes, and touches nothing of them in the plan", async () => {
  const kubernetes = { ...context.shoot.spec.kubernetes, kubeAPIServer: { eventTTL: "4h" } };
  const changed = exampleContext({ shoot: exampleShoot({ kubernetes }) });
  const before = await seed.client.list(Deployment);
  expect(await judged(changed, deploy("kube-apiserver"))).toEqual({
    would: "change",
    why: "Deployment shoot--dev--example/kube-apiserver: spec.template.spec.containers",
  });
  expect(await judged(changed, call("syncCluster"))).toEqual({
    would: "change",
    why: "Cluster shoot--dev--example: shoot.spec.kubernetes.kubeAPIServer",
  });
  expect(await judged(changed, deploy("etcd"))).toEqual({ would: "look" });
  expect(await seed.client.list(Deployment)).toEqual(before);
});

test("a step would make what is missing, and repair what was changed by hand", async () => {
  expect(await judged(context, deploy("kube-scheduler"))).toMatchObject({
    would: "change",
    why: expect.stringContaining("Deployment shoot--dev--example/kube-scheduler is made"),
  });
  const etcd = components.etcd.objects(context).find(({ kind }) => kind === "StatefulSet");
  if (etcd === undefined) throw new Error("etcd has no StatefulSet");
  await seed.client.patch(refOf(etcd), { spec: { replicas: 0 } });
  expect(await judged(context, deploy("etcd"))).toMatchObject({
    would: "change",
    why: expect.stringContaining("spec.replicas"),
  });
});

test("a step asks a controller that acts on changes only where its object changed, or its last operation did not end well", async () => {
  expect(await judged(context, apply("Infrastructure"))).toEqual({
    would: "ask",
    why: "its last operation is missing",
  });
  const lastOperation = { type: "Reconcile", state: "Succeeded", progress: 100, description: "", lastUpdateTime: at };
  const stamped = { ...infrastructureObject(context) };
  const annotations = { "gardener.cloud/timestamp": at };
  await seed.client.apply({ ...stamped, metadata: { ...stamped.metadata, annotations } });
  await seed.client.patch(refOf(stamped), { status: { lastOperation } }, { subresource: "status" });
  expect(await judged(context, apply("Infrastructure"))).toEqual({ would: "look" });
  const changed = exampleContext({ shoot: exampleShoot({ region: "elsewhere" }) });
  expect(await judged(changed, apply("Infrastructure"))).toMatchObject({
    would: "change",
    why: expect.stringContaining("Infrastructure shoot--dev--example/example: spec.region"),
  });
});

test("a step whose controller is asked in every operation says so, and one of which only a run can tell says nothing", async () => {
  expect(await judged(context, apply("Worker"))).toEqual({
    would: "ask",
    why: "its controller is asked in every operation",
  });
  for (const action of [call("deploySecrets"), deploy("coredns")])
    expect(await judged(context, action)).toBeUndefined();
});

const at = "2026-11-21T10:00:00Z";
