import { expect } from "vitest";
import { createManagedResources } from "../../src/activities/managed-resources/managed-resources.ts";
import { findManagedResources } from "../../src/activities/teardown/pod-makers.ts";
import { IGNORE_RESOURCE_ANNOTATION, STOPPED_ANNOTATION } from "../../src/api/annotations.ts";
import { ManagedResource } from "../../src/api/index.ts";
import { refOf, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";
import { notedWaits } from "../support/noted-waits.ts";
import { shootRun } from "../support/shoot-run.ts";

const namespace = "shoot--dev--ignored";
const run = shootRun({ technicalID: namespace });
let client: KubeClient;

test.beforeAll(async ({ cluster }) => {
  client = cluster.client;
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
});

const manage = (name: string, annotations: Record<string, string> = {}) =>
  client.apply<ManagedResource>({
    ...{ ...typeMeta(ManagedResource), metadata: { namespace, name, annotations } },
    spec: { secretRefs: [{ name }] },
  });
const annotationsOf = async (name: string) =>
  (await client.read(ManagedResource, { namespace, name }))?.metadata.annotations ?? {};

test("the fence has resource managers ignore what runs, and a flow takes back that much and no more", async () => {
  await manage("runs");
  await manage("ignored-by-its-owner", { [IGNORE_RESOURCE_ANNOTATION]: "true" });
  const stops = await findManagedResources(client, namespace);
  expect(stops.map(({ object }) => object.metadata.name)).toEqual(["runs"]);
  for (const { object, change } of stops) await client.patch(refOf(object), change);
  expect(await annotationsOf("runs")).toMatchObject({
    ...{ [IGNORE_RESOURCE_ANNOTATION]: "true", [STOPPED_ANNOTATION]: "true" },
  });
  expect(await annotationsOf("ignored-by-its-owner")).toEqual({ [IGNORE_RESOURCE_ANNOTATION]: "true" });
  expect(await findManagedResources(client, namespace)).toEqual([]);

  await createManagedResources({ seedClient: client, waits: notedWaits }).release(run);
  expect(await annotationsOf("runs")).toEqual({});
  expect(await annotationsOf("ignored-by-its-owner")).toEqual({ [IGNORE_RESOURCE_ANNOTATION]: "true" });
});
