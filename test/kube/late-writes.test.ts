import { beforeEach, expect } from "vitest";
import { removeEarlierCluster } from "../../src/activities/control-plane/earlier-shoot.ts";
import { forgetMachineState } from "../../src/activities/machines/forgetting.ts";
import { correctEpoch } from "../../src/activities/state/epoch-correction.ts";
import { removePart } from "../../src/activities/state/parts.ts";
import { abandon } from "../../src/activities/teardown/abandonment.ts";
import { EPOCH_ANNOTATION, MACHINE_STATE_ANNOTATION, SHOOT_UID_ANNOTATION } from "../../src/api/annotations.ts";
import { Cluster, ShootState, Worker, type KubeObject } from "../../src/api/index.ts";
import { SHOOT_STATE_FINALIZER } from "../../src/api/names.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { refOf, refTo, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";
import { furtherExamples } from "../support/extension-examples.ts";
import { shootRun } from "../support/shoot-run.ts";

/*
 * What is decided by an object as it was read is written only to that version of it, or to that very object: here, somebody else is
 * faster each time.
 */
const namespace = "late-writes";
const changed = { metadata: { annotations: { "test.example.org/changed": "meanwhile" } } };
let kube: KubeClient;
let run: ShootRun;
let count = 0;

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
});
beforeEach(() => {
  count += 1;
  run = shootRun({ name: `late-${count}`, namespace, technicalID: namespace, uid: `uid-${count}` });
});

/** The client, of which the first call of a method lets others act before it returns. */
function overtaken(method: "read" | "patch", act: () => Promise<unknown>): KubeClient {
  let isDone = false;
  const call = async (...o: unknown[]) => {
    const found = await (kube[method] as (...all: unknown[]) => Promise<unknown>)(...o);
    if (!isDone) await act();
    isDone = true;
    return found;
  };
  return { ...kube, [method]: call };
}

const conflict = { status: 409 };

test("the machines of a Worker that has changed since it was read are not forgotten", async () => {
  const example = furtherExamples.find(({ kind }) => kind === Worker.kind) ?? expect.fail("no example of a Worker");
  const annotations = { [MACHINE_STATE_ANNOTATION]: "given" };
  const worker: KubeObject = await kube.create({ ...example, metadata: { name: run.name, namespace, annotations } });
  const ref = refOf(worker);
  await kube.patch(ref, { status: { state: { machines: "earlier" } } }, { subresource: "status" });
  const later = overtaken("read", () =>
    kube.patch(ref, { status: { state: { machines: "later" } } }, { subresource: "status" }),
  );
  await expect(forgetMachineState(later, run)).rejects.toMatchObject(conflict);
  expect((await kube.read(ref))?.["status"]).toMatchObject({ state: { machines: "later" } });
  await forgetMachineState(kube, run);
});

const createState = (more: Partial<ShootState["metadata"]> = {}) =>
  kube.create<ShootState>({
    ...typeMeta(ShootState),
    metadata: {
      ...{ name: run.name, namespace, finalizers: [SHOOT_STATE_FINALIZER] },
      annotations: { [SHOOT_UID_ANNOTATION]: run.uid, [EPOCH_ANNOTATION]: "9" },
      ...more,
    },
    spec: {},
  });

test("the epoch of a ShootState is not taken back where something else has been written since", async () => {
  const ref = refOf(await createState());
  const later = overtaken("read", () => kube.patch(ref, changed));
  await expect(correctEpoch(later, run, async () => 2)).rejects.toMatchObject(conflict);
  expect((await kube.read(ref))?.metadata.annotations?.[EPOCH_ANNOTATION]).toBe("9");
});

test("a part of a ShootState that has changed since it was seen is neither let go nor deleted", async () => {
  const part = await createState();
  await kube.patch(refOf(part), changed);
  await expect(removePart(kube, part)).rejects.toMatchObject(conflict);
  const { deletionTimestamp, finalizers } = (await kube.read(refOf(part)))?.metadata ?? {};
  expect([deletionTimestamp, finalizers]).toEqual([undefined, [SHOOT_STATE_FINALIZER]]);
});

test("an object is abandoned whole, also where its controller puts its finalizer back in between", async () => {
  const { metadata } = await createState();
  const ref = refTo(ShootState, { name: metadata.name, namespace });
  const held = { metadata: { finalizers: [SHOOT_STATE_FINALIZER] } };
  await abandon(
    overtaken("patch", () => kube.patch(ref, held)),
    ref,
  );
  expect(await kube.read(ref)).toBeUndefined(); // without its controller having been asked
});

test("the Cluster that a Shoot has got meanwhile is not deleted for that of an earlier one", async () => {
  const name = `shoot--late--${count}`;
  const ofShoot = (uid: string) => ({ apiVersion: "core.gardener.cloud/v1beta1", kind: "Shoot", metadata: { uid } });
  const create = (uid: string) =>
    kube.create<Cluster>({
      ...{ ...typeMeta(Cluster), metadata: { name } },
      spec: { cloudProfile: {}, seed: {}, shoot: ofShoot(uid) } as Cluster["spec"],
    });
  const ref = refOf(await create("earlier"));
  const replaced = overtaken("read", async () => {
    await kube.remove(ref);
    await create(run.uid);
  });
  await expect(removeEarlierCluster(replaced, { ...run, technicalID: name })).rejects.toMatchObject(conflict);
  expect((await kube.read(Cluster, { name }))?.spec.shoot.metadata.uid).toBe(run.uid);
});
