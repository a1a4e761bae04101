import { expect } from "vitest";
import { readShootView } from "../../src/activities/shoot/view.ts";
import { Shoot } from "../../src/api/index.ts";
import { refTo } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";

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
