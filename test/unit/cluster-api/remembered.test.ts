import { expect, test } from "vitest";
import {
  DELETE_FOR_MOVE_ANNOTATION,
  MANAGED_BY_ANNOTATION,
  PAUSED_ANNOTATION,
  REPLICAS_MANAGED_BY_ANNOTATION,
} from "../../../src/api/cluster-api/index.ts";
import { MANAGED_ELSEWHERE_LABEL, REPLICAS_MANAGED_BY_LABEL } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/index.ts";
import { isManagedElsewhere } from "../../../src/cluster-api/objects/paused.ts";
import { rememberAnnotations } from "../../../src/cluster-api/objects/remembered.ts";
import { keepWhatStays } from "../../../src/cluster-api/objects/stay.ts";
import { autoscalerBoundsOf } from "../../../src/cluster-api/shoot/row.ts";
import { refOf } from "../../../src/kube/index.ts";
import { clusterOf, poolOf } from "../../support/cluster-api-objects.ts";
import { keepObjects } from "../../support/kept-objects.ts";

const pool = poolOf("one", "a", {
  annotations: { [REPLICAS_MANAGED_BY_ANNOTATION]: "autoscaler" },
  spec: { minimum: 2, maximum: 9 },
});

const withMeta = <T extends KubeObject>(object: T, metadata: object): T => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
});

/** What an object bears once the controller has remembered it. */
async function remembered<T extends KubeObject>(object: T): Promise<T> {
  const { client } = keepObjects(object);
  await rememberAnnotations(client, [object, undefined]);
  return (await client.read(refOf(object))) as T;
}

/** What `clusterctl move` makes of an object that it is about to delete. */
const mark = <T extends KubeObject>(object: T): T =>
  withMeta(object, { annotations: { [DELETE_FOR_MOVE_ANNOTATION]: "" } });

test("what a mark takes from an object comes back with the end of the mark, value and all", async () => {
  const cluster = withMeta(clusterOf("one"), { uid: "cluster" });
  const managed = withMeta(pool.infrastructure, { annotations: { [MANAGED_BY_ANNOTATION]: "others" } });
  const marked = [mark(await remembered(pool.machinePool)), mark(await remembered(managed))];
  const { client } = keepObjects(cluster, ...marked);
  await keepWhatStays(client, cluster, marked);
  const left = await Promise.all(marked.map((one) => client.read(refOf(one))));
  expect(left.map((one) => one?.metadata.annotations)).toEqual([
    { [REPLICAS_MANAGED_BY_ANNOTATION]: "autoscaler" },
    { [MANAGED_BY_ANNOTATION]: "others" },
  ]);
});

test("while an object is marked, what it was annotated with still counts", async () => {
  const machinePool = mark(await remembered(pool.machinePool));
  expect(autoscalerBoundsOf({ ...pool, machinePool })).toEqual({ minimum: 2, maximum: 9 });
  const managed = withMeta(pool.infrastructure, { annotations: { [MANAGED_BY_ANNOTATION]: "" } });
  expect(isManagedElsewhere(mark(await remembered(managed)))).toBe(true);
  expect(isManagedElsewhere(mark(pool.infrastructure))).toBe(false);
});

test("what a user has taken away is forgotten, and does not count any more", async () => {
  const known = await remembered(pool.machinePool);
  const machinePool = withMeta(known, { annotations: {} });
  expect(autoscalerBoundsOf({ ...pool, machinePool })).toBeUndefined();
  expect((await remembered(machinePool)).metadata.labels).toEqual({});
});

test.each([
  ["autoscaler", "autoscaler"],
  ["", ""],
  ["false", "false"],
  ["an autoscaler of the team's", "true"],
  ["x".repeat(64), "true"],
])("value %j is remembered as %j, which a label can hold", async (value, label) => {
  const annotated = withMeta(pool.machinePool, { annotations: { [REPLICAS_MANAGED_BY_ANNOTATION]: value } });
  expect((await remembered(annotated)).metadata.labels).toEqual({ [REPLICAS_MANAGED_BY_LABEL]: label });
});

test.each([
  ["nothing to remember", {}],
  [
    "what it remembers already",
    { annotations: { [MANAGED_BY_ANNOTATION]: "others" }, labels: { [MANAGED_ELSEWHERE_LABEL]: "others" } },
  ],
  ["a mark", { annotations: { [DELETE_FOR_MOVE_ANNOTATION]: "" }, labels: { [MANAGED_ELSEWHERE_LABEL]: "others" } }],
  ["a pause", { annotations: { [PAUSED_ANNOTATION]: "", [MANAGED_BY_ANNOTATION]: "others" } }],
  ["a deletion", { annotations: { [MANAGED_BY_ANNOTATION]: "others" }, deletionTimestamp: "2026-01-01T00:00:00Z" }],
])("an object with %s stays as it is", async (_, metadata) => {
  const object = withMeta(pool.infrastructure, metadata);
  expect(await remembered(object)).toBe(object);
});
