import { expect } from "vitest";
import { readShootView } from "../../src/activities/shoot/view.ts";
import { Shoot } from "../../src/api/index.ts";
import { readControlPlane } from "../../src/activities/teardown/control-plane-left.ts";
import { refOf, refTo } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { shootRun } from "../support/shoot-run.ts";

const periods = { leaseSeconds: 60, dnsTtl: 120, syncPeriod: 1, seedDeadline: 1, retryDuration: 1 };
const asked = { "confirmation.gardener.cloud/force-deletion": "true" };

test.for([
  ["is being deleted, and its owner asks for it", { annotations: asked, deleted: true }, true],
  ["is being deleted, and its owner does not ask for it", { annotations: {}, deleted: true }, undefined],
  ["is not being deleted, whatever its annotation says", { annotations: asked, deleted: false }, undefined],
] as const)("a Shoot that %s", async ([, { annotations, deleted }, forced], { cluster: { client } }) => {
  await applyGarden(client);
  const { namespace, name, uid } = await createShoot(client, "forced");
  const ref = refTo(Shoot, { namespace, name });
  await client.patch(ref, { metadata: { annotations, finalizers: ["gardener"] } });
  if (deleted) await client.remove(ref);
  const view = await readShootView(client, { namespace, name, uid }, periods);
  expect(view?.deleting).toBe(deleted);
  expect(view?.run?.forced).toBe(forced);
  await client.patch(ref, { metadata: { finalizers: null } });
  await client.remove(ref);
});

test("what has never been ready is not cleaned up through", async ({ cluster: { client } }) => {
  const namespace = "shoot--dev--left";
  const run = shootRun({ technicalID: namespace, workerless: true });
  const isCleanable = async () => (await readControlPlane(client, run)).cleanable;
  const deploy = async (name: string) =>
    await client.apply({
      ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace } },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    });
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  expect(await isCleanable()).toBe(false);
  const apiServer = await deploy("kube-apiserver");
  expect(await isCleanable()).toBe(false);
  const reports = async (readyReplicas: number) =>
    await client.patch(refOf(apiServer), { status: { replicas: 1, readyReplicas } }, { subresource: "status" });
  await reports(1);
  expect(await isCleanable()).toBe(true);
  await reports(0);
  expect(await isCleanable()).toBe(false);
  await deploy("kube-controller-manager"); // which is deployed once the API server is ready
  expect(await isCleanable()).toBe(true);
});

const labels = { app: "a" };
const spec = { containers: [{ name: "a", image: "a" }] };
