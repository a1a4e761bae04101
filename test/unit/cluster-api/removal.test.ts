import { expect, test } from "vitest";
import { CONFIRM_DELETION_ANNOTATION, PROJECT_NAMESPACE_ANNOTATION } from "../../../src/api/annotations.ts";
import {
  BLOCK_MOVE_ANNOTATION,
  CLUSTER_NAME_LABEL,
  type ShootControlPlane,
} from "../../../src/api/cluster-api/index.ts";
import { CONTROL_PLANE_ID_LABEL, PROJECT_NAMESPACE_LABEL } from "../../../src/api/labels.ts";
import type { KubeObject, Shoot } from "../../../src/api/index.ts";
import { SHOOT_FINALIZER } from "../../../src/api/names.ts";
import { removeShoot } from "../../../src/cluster-api/control-plane/deletion.ts";
import { noteShoot } from "../../../src/cluster-api/control-plane/note-shoot.ts";
import { say } from "../../../src/cluster-api/objects/say.ts";
import { refOf, type Namespace } from "../../../src/kube/index.ts";
import { controlPlaneOf, shootOf } from "../../support/cluster-api-objects.ts";
import { keepObjects } from "../../support/kept-objects.ts";

const shootIn = (namespace: string, name: string, id?: string): Shoot => ({
  ...shootOf("one"),
  metadata: { namespace, name, uid: `uid-of-${name}`, ...(id && { labels: { [CONTROL_PLANE_ID_LABEL]: id } }) },
});

/** A control plane of garden-dev that is being deleted, with labels that any user may write. */
function leaving(labels: Record<string, string>, o: Partial<ShootControlPlane> = {}): ShootControlPlane {
  const { metadata, ...kept } = controlPlaneOf("mine");
  return {
    ...kept,
    metadata: {
      ...metadata,
      uid: "my-uid",
      labels: { [CLUSTER_NAME_LABEL]: "mine", ...labels },
      finalizers: [SHOOT_FINALIZER],
      deletionTimestamp: "2026-01-01T00:00:00Z",
    },
    ...o,
  };
}

interface Surroundings {
  /** What the Namespace's annotation says, where the garden is another cluster; null for none. */
  readonly project?: string | null;
  readonly clusterName?: string;
  /** Other control planes that bear its identity. */
  readonly copies?: readonly ShootControlPlane[];
}

/** Deletes a control plane's Shoot, in a garden that is the management cluster unless `project` is what an annotation says. */
async function remove(
  controlPlane: ShootControlPlane,
  shoots: readonly Shoot[],
  { project, clusterName = "mine", copies = [] }: Surroundings = {},
) {
  const management = keepObjects(controlPlane, ...(project === undefined ? shoots : []));
  const garden = project === undefined ? management : keepObjects(...shoots);
  const namespace: Namespace = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "garden-dev", ...(project && { annotations: { [PROJECT_NAMESPACE_ANNOTATION]: project } }) },
  };
  const released: string[] = [];
  await removeShoot(
    {
      ...{ management: management.client, garden: garden.client },
      world: { namespaces: { get: () => namespace }, controlPlanesById: () => [controlPlane, ...copies] },
      writer: { release: async ({ metadata }) => void released.push(metadata.name) },
    },
    controlPlane,
    clusterName,
  );
  const left = await management.client.read(refOf(controlPlane));
  return {
    shoots: [...garden.objects.values()].filter(({ kind }) => kind === "Shoot"),
    released,
    finalizers: left?.metadata.finalizers,
    annotations: left?.metadata.annotations,
    deleting: left?.status?.conditions?.find(({ type }) => type === "Deleting"),
  };
}

const namesOf = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name);

test.each<[string, string | undefined, Record<string, string>]>([
  ["no Cluster's, and forges the project", undefined, { [PROJECT_NAMESPACE_LABEL]: "garden-victim" }],
  [
    "another control plane's, and forges the project and the id",
    "victims-uid",
    { [PROJECT_NAMESPACE_LABEL]: "garden-victim", [CONTROL_PLANE_ID_LABEL]: "victims-uid" },
  ],
  ["another control plane's, and forges the id", "victims-uid", { [CONTROL_PLANE_ID_LABEL]: "victims-uid" }],
])("a user who deletes a control plane deletes no Shoot of another project that is %s", async (_, id, labels) => {
  const prod = shootIn("garden-victim", "prod", id);
  const controlPlane = leaving(labels, { spec: { shootRef: { name: "prod" }, deletionPolicy: "Delete" } });
  const left = await remove(controlPlane, [prod]);
  expect(left.shoots).toEqual([prod]);
  expect(left.released).toEqual([]);
});

test("a user who deletes a control plane without an id deletes no Shoot without one", async () => {
  const prod = shootIn("garden-dev", "prod");
  const labels = { [PROJECT_NAMESPACE_LABEL]: "garden-dev", [CONTROL_PLANE_ID_LABEL]: "" };
  const controlPlane = leaving(labels, { spec: { shootRef: { name: "prod" }, deletionPolicy: "Delete" } });
  const left = await remove(controlPlane, [prod]);
  expect(left).toMatchObject({ shoots: [prod], finalizers: [] });
});

test.each([
  ["names another project than its Namespace", "garden-other", "ProjectChanged"],
  ["may use no project any more", null, "NoProject"],
])("a control plane that %s keeps its finalizer, and says how to go on", async (_, project, reason) => {
  const own = shootIn("garden-first", "mine", "my-uid");
  const labels = { [PROJECT_NAMESPACE_LABEL]: "garden-first", [CONTROL_PLANE_ID_LABEL]: "my-uid" };
  const left = await remove(leaving(labels), [own], { project });
  expect(left).toMatchObject({ shoots: [own], finalizers: [SHOOT_FINALIZER], deleting: { status: "True", reason } });
  expect(left.deleting?.message).toContain(SHOOT_FINALIZER);
});

const own = { [PROJECT_NAMESPACE_LABEL]: "garden-dev", [CONTROL_PLANE_ID_LABEL]: "my-uid" };

test("a control plane finds the Shoot that it made, also after a user has changed the label of its Cluster", async () => {
  const shoots = [shootIn("garden-dev", "mine", "my-uid"), shootIn("garden-dev", "other", "others-uid")];
  const left = await remove(leaving(own), shoots, { clusterName: "other" });
  expect(namesOf(left.shoots)).toEqual(["other"]);
});

test("a control plane leaves a Shoot that was made from a copy of its own's manifest, label included", async () => {
  const status = { shoot: { namespace: "garden-dev", name: "mine" } };
  const shoots = [shootIn("garden-dev", "copy", "my-uid"), shootIn("garden-dev", "mine", "my-uid")];
  expect(namesOf((await remove(leaving(own, { status }), shoots)).shoots)).toEqual(["copy"]);
  const later = await remove(leaving(own, { status }), shoots.slice(0, 1));
  expect(namesOf(later.shoots)).toEqual(["copy"]);
  expect(later.finalizers).toEqual([]);
});

const going = (shoot: Shoot, seedName: string, type: string, state: string): Shoot => ({
  ...shoot,
  spec: { ...shoot.spec, seedName: "seed-2" },
  status: {
    seedName,
    lastOperation: { type, state, progress: 1, description: "", lastUpdateTime: "2026-01-01T00:00:00Z" },
  } as NonNullable<Shoot["status"]>,
});

test.each([
  ["is about to leave its Seed", "seed-1", "Reconcile", "Succeeded"],
  ["is restored on another Seed", "seed-2", "Restore", "Processing"],
] as const)("a deleted control plane waits for its Shoot that %s", async (_, seedName, type, state) => {
  const shoot = going(shootIn("garden-dev", "mine", "my-uid"), seedName, type, state);
  const left = await remove(leaving(own), [shoot]);
  expect(left).toMatchObject({ shoots: [shoot], finalizers: [SHOOT_FINALIZER], deleting: { reason: "ShootMoving" } });
});

test("a deleted control plane deletes its Shoot once that has arrived, and lets no clusterctl take it away meanwhile", async () => {
  const shoot = going(shootIn("garden-dev", "mine", "my-uid"), "seed-2", "Restore", "Succeeded");
  const left = await remove(leaving(own), [shoot]);
  expect(left).toMatchObject({ shoots: [], deleting: { reason: "WaitingForShoot" } });
  expect(left.annotations).toHaveProperty([BLOCK_MOVE_ANNOTATION]);
});

test("a Shoot that was made anew under its name is neither confirmed nor deleted", async () => {
  const seen = shootIn("garden-dev", "mine", "my-uid");
  const anew = { ...seen, metadata: { ...seen.metadata, uid: "another" } };
  const garden = keepObjects(leaving(own), anew);
  const client = { ...garden.client, read: async () => seen } as unknown as typeof garden.client;
  const world = { namespaces: { get: () => undefined }, controlPlanesById: () => [] };
  const deps = { management: client, garden: client, world };
  await removeShoot({ ...deps, writer: { release: async () => undefined } }, leaving(own), "mine");
  const left = await garden.client.read(refOf(seen));
  expect(left?.metadata.uid).toBe("another");
  expect(left?.metadata.annotations?.[CONFIRM_DELETION_ANNOTATION]).toBeUndefined();
});

test("nothing is said of another object that has taken the name of the one that was seen", async () => {
  const seen = leaving(own);
  const anew = { ...seen, metadata: { ...seen.metadata, uid: "another" } };
  const { client, objects } = keepObjects(anew);
  const said = { type: "Paused", status: "True", reason: "Paused", message: "" } as const;
  await expect(say(client, seen, [said])).rejects.toMatchObject({ status: 409 });
  const moving = shootIn("garden-dev", "mine", "my-uid");
  const status = {
    lastOperation: { type: "Create", state: "Processing", progress: 1, description: "", lastUpdateTime: "" },
  };
  await expect(noteShoot(client, seen, { ...moving, status } as Shoot)).rejects.toMatchObject({ status: 409 });
  expect([...objects.values()]).toEqual([anew]);
});

test("a copy of a control plane, labels and all, goes without the Shoot of the one that it was copied from", async () => {
  const first = { ...controlPlaneOf("mine"), metadata: { name: "first", namespace: "garden-dev", uid: "first-uid" } };
  const shoot = shootIn("garden-dev", "mine", "first-uid");
  const { shoots, finalizers } = await remove(leaving({ [CONTROL_PLANE_ID_LABEL]: "first-uid" }), [shoot], {
    copies: [first],
  });
  expect(shoots).toEqual([shoot]);
  expect(finalizers).toEqual([]);
});

test("a copy of a control plane goes without that one's Shoot, although that one may not use the project any more", async () => {
  const away = { name: "first", namespace: "garden-other", uid: "first-uid" };
  const shoot = shootIn("garden-dev", "mine", "first-uid");
  const { shoots, finalizers } = await remove(leaving({ [CONTROL_PLANE_ID_LABEL]: "first-uid" }), [shoot], {
    copies: [{ ...controlPlaneOf("mine"), metadata: away }],
  });
  expect(shoots).toEqual([shoot]);
  expect(finalizers).toEqual([]);
});

test("a control plane deletes its Shoot although one of another project bears its identity", async () => {
  const moved = leaving({ [CONTROL_PLANE_ID_LABEL]: "uid-before-the-move" });
  const thief = {
    ...controlPlaneOf("thief"),
    metadata: { name: "thief", namespace: "garden-other", uid: "another-uid" },
  };
  const shoot = shootIn("garden-dev", "mine", "uid-before-the-move");
  const { deleting } = await remove(moved, [shoot], { copies: [thief] });
  expect(deleting).toMatchObject({ reason: "WaitingForShoot" });
});

test("a control plane that was copied deletes its Shoot all the same, since the identity is its uid", async () => {
  const copy = { ...controlPlaneOf("mine"), metadata: { name: "copy", namespace: "garden-dev", uid: "another-uid" } };
  const shoot = shootIn("garden-dev", "mine", "my-uid");
  const { deleting } = await remove(leaving({ [CONTROL_PLANE_ID_LABEL]: "my-uid" }), [shoot], { copies: [copy] });
  expect(deleting).toMatchObject({ reason: "WaitingForShoot" });
});
