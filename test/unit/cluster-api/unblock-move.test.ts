import { expect, test } from "vitest";
import { PROJECT_NAMESPACE_ANNOTATION } from "../../../src/api/annotations.ts";
import { BLOCK_MOVE_ANNOTATION, type ShootControlPlane } from "../../../src/api/cluster-api/index.ts";
import { CONTROL_PLANE_ID_LABEL, PROJECT_NAMESPACE_LABEL } from "../../../src/api/labels.ts";
import { unblockMove } from "../../../src/cluster-api/control-plane/unblock-move.ts";
import type { KubeClient, Namespace } from "../../../src/kube/index.ts";
import { controlPlaneOf } from "../../support/cluster-api-objects.ts";

const own = { [CONTROL_PLANE_ID_LABEL]: "one" };

interface Surroundings {
  /** The project of the Shoot, as a label of the control plane says, which users may write. */
  readonly remembered?: string;
  /** The only project that the Namespace may use. */
  readonly allowed?: string;
}

/** What is patched on a control plane, with this Shoot in the garden, and which namespaces of the garden are read. */
async function unblock(
  shoot: object | undefined,
  metadata: Partial<ShootControlPlane["metadata"]>,
  { remembered = "garden-dev", allowed = "garden-dev" }: Surroundings = {},
) {
  const patches: unknown[] = [];
  const read: string[] = [];
  const management = { patch: async (_: unknown, patch: object) => patches.push(patch) } as unknown as KubeClient;
  const garden = {
    read: async (_: unknown, key: { namespace: string }) => {
      read.push(key.namespace);
      return shoot;
    },
  } as unknown as KubeClient;
  const namespace: Namespace = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "clusters", annotations: { [PROJECT_NAMESPACE_ANNOTATION]: allowed } },
  };
  const world = { namespaces: { get: () => namespace } };
  const { metadata: base, ...kept } = controlPlaneOf("one");
  const labels = { ...own, [PROJECT_NAMESPACE_LABEL]: remembered };
  await unblockMove({ management, garden, world }, { ...kept, metadata: { ...base, labels, ...metadata } }, "one");
  return { patches, read };
}

const patchesWith = async (
  shoot: object | undefined,
  annotations: Record<string, string>,
  more: Partial<ShootControlPlane["metadata"]> = {},
): Promise<unknown[]> => (await unblock(shoot, { annotations, ...more })).patches;

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

test("the controller asks for no Shoot of a project that only a label of the control plane names, and keeps the move waiting", async () => {
  const asked = await unblock(
    shootIn("Create", "Processing"),
    { annotations: blocked },
    { remembered: "garden-other", allowed: "garden-dev" },
  );
  expect(asked).toEqual({ patches: [], read: [] });
});

test("the controller lets clusterctl move a paused Cluster that never had a project", async () => {
  const asked = await unblock(shootIn("Create", "Processing"), { annotations: blocked, labels: {} });
  expect(asked).toEqual({ patches: [removal], read: [] });
});
