import { expect, test } from "vitest";
import { BLOCK_MOVE_ANNOTATION, type ShootControlPlane } from "../../../src/api/cluster-api/index.ts";
import { CONTROL_PLANE_ID_LABEL, PROJECT_NAMESPACE_LABEL } from "../../../src/api/labels.ts";
import { unblockMove } from "../../../src/cluster-api/control-plane/unblock-move.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { controlPlaneOf } from "../../support/cluster-api-objects.ts";

const own = { [CONTROL_PLANE_ID_LABEL]: "one" };

/** What is patched on a control plane, with this Shoot in the garden. */
async function patchesWith(
  shoot: object | undefined,
  annotations: Record<string, string>,
  more: Partial<ShootControlPlane["metadata"]> = {},
): Promise<unknown[]> {
  const patches: unknown[] = [];
  const management = { patch: async (_: unknown, patch: object) => patches.push(patch) } as unknown as KubeClient;
  const garden = { read: async () => shoot } as unknown as KubeClient;
  const { metadata, ...kept } = controlPlaneOf("one");
  const labels = { ...own, [PROJECT_NAMESPACE_LABEL]: "garden-dev" };
  const controlPlane: ShootControlPlane = { ...kept, metadata: { ...metadata, ...more, labels, annotations } };
  await unblockMove({ management, garden }, controlPlane, "one");
  return patches;
}

const shootIn = (type: string, state: string, labels: object = own) => ({
  metadata: { namespace: "garden-dev", name: "one", labels },
  spec: { seedName: "seed-1" },
  status: { seedName: "seed-1", lastOperation: { type, state } },
});
const blocked = { [BLOCK_MOVE_ANNOTATION]: "true" };
const removal = { metadata: { annotations: { [BLOCK_MOVE_ANNOTATION]: null } } };

test.each([
  ["is made", shootIn("Create", "Succeeded")],
  ["has gone", undefined],
  ["is another's", shootIn("Create", "Processing", {})],
])("the controller lets clusterctl move a paused Cluster whose Shoot %s", async (_, shoot) => {
  expect(await patchesWith(shoot, blocked)).toEqual([removal]);
});

test("the controller lets clusterctl wait while the Shoot of a paused Cluster is being made", async () => {
  expect(await patchesWith(shootIn("Create", "Processing"), blocked)).toEqual([]);
});

test("the controller lets clusterctl wait while the Shoot of a paused Cluster has begun nothing yet", async () => {
  expect(await patchesWith({ ...shootIn("", ""), status: {} }, blocked)).toEqual([]);
});

test("the controller lets clusterctl wait while a paused Cluster is being deleted", async () => {
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  expect(await patchesWith(shootIn("Delete", "Processing"), blocked, { deletionTimestamp })).toEqual([]);
});

test("the controller blocks no move of a Cluster that is paused", async () => {
  expect(await patchesWith(shootIn("Create", "Processing"), {})).toEqual([]);
});
