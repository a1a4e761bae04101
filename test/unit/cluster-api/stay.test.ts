import { expect, test } from "vitest";
import { DELETE_FOR_MOVE_ANNOTATION } from "../../../src/api/cluster-api/index.ts";
import type { KubeObject } from "../../../src/api/index.ts";
import { keepWhatStays, letGoOfMoved } from "../../../src/cluster-api/objects/stay.ts";
import { refOf } from "../../../src/kube/index.ts";
import { clusterOf, controlPlaneOf } from "../../support/cluster-api-objects.ts";
import { keepObjects } from "../../support/kept-objects.ts";

const mark = { [DELETE_FOR_MOVE_ANNOTATION]: "" };

const marked = <T extends KubeObject>(object: T, more: object = {}): T => ({
  ...object,
  metadata: { ...object.metadata, uid: `uid-of-${object.kind}`, annotations: mark, ...more },
});

/** What marks are left on a Cluster and its control plane, of which the process knows other versions than there are. */
async function marksAfter(known: typeof cluster, stored: typeof cluster, controlPlane: KubeObject) {
  const { client } = keepObjects(stored, controlPlane);
  await keepWhatStays(client, known, [known, controlPlane, undefined]);
  const objects = await Promise.all([client.read(refOf(stored)), client.read(refOf(controlPlane))]);
  return objects.map((one) => DELETE_FOR_MOVE_ANNOTATION in (one?.metadata.annotations ?? {}));
}

const cluster = marked(clusterOf("one"));
const paused = { ...cluster, spec: { ...cluster.spec, paused: true } };
const deletionTimestamp = "2026-01-01T00:00:00Z";

test("the controller takes the mark of a move from what stays", async () => {
  expect(await marksAfter(cluster, cluster, marked(controlPlaneOf("one")))).toEqual([false, false]);
});

test.each([
  ["whose Cluster is paused", paused, paused, {}],
  ["whose Cluster was paused a moment ago", cluster, paused, {}],
  ["whose Cluster is being deleted", cluster, marked(clusterOf("one"), { deletionTimestamp }), {}],
  ["whose Cluster is another by now", cluster, marked(clusterOf("one"), { uid: "another" }), {}],
])("the controller leaves the mark on an object %s", async (_, known, stored, more) => {
  expect(await marksAfter(known, stored, marked(controlPlaneOf("one"), more))).toEqual([true, true]);
});

test("the controller leaves the mark on an object that is being deleted", async () => {
  expect(await marksAfter(cluster, cluster, marked(controlPlaneOf("one"), { deletionTimestamp }))).toEqual([
    false,
    true,
  ]);
});

test.each([
  [
    "lets go of an object that clusterctl has marked and deleted, once its Cluster is resumed",
    cluster,
    { deletionTimestamp },
    [],
  ],
  ["lets go of such an object of a Cluster that has gone", undefined, { deletionTimestamp }, []],
  ["leaves such an object to clusterctl while the Cluster is paused", paused, { deletionTimestamp }, ["ours"]],
  ["keeps a marked object that stays", cluster, {}, ["ours"]],
  ["keeps an object that others have deleted", cluster, { deletionTimestamp, annotations: {} }, ["ours"]],
])("the controller %s", async (_, known, more, finalizers) => {
  const object = marked(controlPlaneOf("one"), { ...more, finalizers: ["ours"] });
  const { client } = keepObjects(object);
  await letGoOfMoved(client, known, object, "ours");
  expect((await client.read(refOf(object)))?.metadata.finalizers ?? []).toEqual(finalizers);
});
