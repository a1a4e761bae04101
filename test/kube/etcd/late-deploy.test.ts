import { beforeEach, expect } from "vitest";
import { createComponents } from "../../../src/activities/control-plane/components.ts";
import { createShootClients } from "../../../src/activities/shoot/clients.ts";
import { ETCD_DIRECTORIES_ANNOTATION } from "../../../src/api/annotations.ts";
import type { ShootRun } from "../../../src/api/shoot/run.ts";
import { PersistentVolumeClaim, refTo, StatefulSet, type KubeClient } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { test } from "../../support/cluster-test.ts";
import { applyGarden, createShoot } from "../../support/garden-objects.ts";
import { notedWaits } from "../../support/noted-waits.ts";

const log = createLogger({ name: "test", level: "silent" });
let kube: KubeClient;
let run: ShootRun;
let count = 0;

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await applyGarden(kube);
});
beforeEach(async () => {
  run = await createShoot(kube, `late-${(count += 1)}`);
  const { namespace, name } = claim();
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  await kube.apply({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name, namespace }, spec } as never);
});

const claim = () => refTo(PersistentVolumeClaim, { namespace: run.technicalID, name: "main-etcd-etcd-main-0" });
const etcd = () => refTo(StatefulSet, { namespace: run.technicalID, name: "etcd-main" });
const deploy = (seedClient: KubeClient = kube) =>
  createComponents({
    gardenClient: kube,
    seedClient,
    shootClients: createShootClients(kube, log),
    waits: notedWaits,
  }).deploy(run, "etcd", "etcd");
const isSwitched = async () => JSON.stringify(await kube.read(etcd())).includes("--data-dir=/var/etcd/data/restored-1");
const switchData = () =>
  kube.patch(claim(), { metadata: { annotations: { [ETCD_DIRECTORIES_ANNOTATION]: "restored-1,new.etcd" } } });

test("a deployment that a paused worker goes on with late does not bring back data that were replaced", async () => {
  await deploy();
  const [pausing, pause] = paused();
  const late = deploy(pausing);
  await pause.reached;
  await switchData();
  await deploy();
  expect(await isSwitched()).toBe(true);
  pause.goOn();
  await late;
  expect(await isSwitched()).toBe(true);
});

test("an etcd whose status changes while it is deployed is deployed all the same", async () => {
  await deploy();
  await switchData();
  const [pausing, pause] = paused();
  const deployed = deploy(pausing);
  await pause.reached;
  await kube.patch(etcd(), { status: { replicas: 1, readyReplicas: 1 } }, { subresource: "status" });
  pause.goOn();
  await deployed;
  expect(await isSwitched()).toBe(true);
});

/** A client that waits before it applies etcd-main, and says when it does. */
function paused(): [KubeClient, { readonly reached: Promise<void>; readonly goOn: () => void }] {
  const [arrival, start] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const apply: KubeClient["apply"] = async (object, o) => {
    if (object.kind === "StatefulSet" && object.metadata.name === "etcd-main") {
      arrival.resolve();
      await start.promise;
    }
    return await kube.apply(object, o);
  };
  return [
    { ...kube, apply },
    { reached: arrival.promise, goOn: () => start.resolve() },
  ];
}
