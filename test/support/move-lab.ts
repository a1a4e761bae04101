import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test as base } from "vitest";
import { PROJECT_NAMESPACE_ANNOTATION } from "../../src/api/annotations.ts";
import {
  BLOCK_MOVE_ANNOTATION,
  Cluster,
  ClusterEndpoint,
  DELETE_FOR_MOVE_ANNOTATION,
  MachinePool,
  ShootCluster,
  ShootControlPlane,
  ShootMachinePool,
} from "../../src/api/cluster-api/index.ts";
import { Shoot, type KubeObject } from "../../src/api/index.ts";
import { CORE_NAMESPACE, readCoreObjects } from "../../src/local/cluster-api/core-objects.ts";
import { Namespace, refTo, Secret, typeMeta } from "../../src/kube/index.ts";
import { startClusterApi, startCoreManager } from "./cluster-api.ts";
import { clusterOf, controlPlaneOf, poolOf } from "./cluster-api-objects.ts";
import { spawnChild } from "./child.ts";
import { startControlPlane, type ControlPlane } from "./control-plane.ts";
import { applyCrds } from "./crds.ts";
import { eventually } from "./eventually.ts";
import { startFaultyProxy, type FaultyProxy, type Passing } from "./faulty-proxy.ts";
import { startGarbageCollector } from "./garbage-collector.ts";
import { advertise, finish, join as joinNode } from "./played-shoot.ts";

const namespace = "garden-dev";
const key = { namespace, name: "moved" };

/** In ms: for clusterctl's own waits, and core's retries. */
const PATIENCE = 30_000;

/** A management cluster with the core manager and our process at work, and the way by which clusterctl reaches it. */
export interface Management {
  readonly cluster: ControlPlane;
  readonly proxy: FaultyProxy;
}

/** Two management clusters and a garden that is neither, with one Cluster that is in the first. */
export interface MoveLab {
  readonly managements: readonly [Management, Management];
  readonly garden: ControlPlane;
  /** Moves the Cluster by the real clusterctl, which is killed with SIGKILL at this write, and then moves it again as an operator would. Says at which write it died. */
  move(from: Management, to: Management, at?: MovePoint): Promise<string | undefined>;
}

/** Which write of clusterctl is its last: its number, or the first that matches; it reaches the API server if `moment` is `after`. */
export interface MovePoint {
  readonly write: number | RegExp;
  readonly moment: "before" | "after";
}

/** Tests with clusterctl and two management clusters. */
// eslint-disable-next-line no-empty-pattern -- vitest reads here which other fixtures are needed
export const moveTest = base.extend("lab", { scope: "file" }, async ({}, { onCleanup }): Promise<MoveLab> => {
  const stops: (() => Promise<void>)[] = [];
  onCleanup(async () => {
    for (const stop of stops.reverse()) await stop();
  });
  const folder = await mkdtemp(join(tmpdir(), "perennial-move-"));
  stops.push(() => rm(folder, { recursive: true, force: true }));
  const garden = await startControlPlane();
  stops.push(() => garden.stop());
  await applyCrds(garden.client);
  await garden.client.apply({ ...typeMeta(Namespace), metadata: { name: namespace } });
  const begin = async () => {
    const { management, stop } = await startManagement(garden, folder);
    stops.push(stop);
    return management;
  };
  const managements = [await begin(), await begin()] as const;
  const move: MoveLab["move"] = (from, to, at) => moveBy(folder, from, to, at);
  return { managements, garden, move };
});

async function startManagement(garden: ControlPlane, folder: string) {
  const cluster = await startControlPlane();
  const core = await startCoreManager(cluster);
  const { inventory } = await readCoreObjects();
  const annotations = { [PROJECT_NAMESPACE_ANNOTATION]: namespace };
  await cluster.client.apply({ ...typeMeta(Namespace), metadata: { name: namespace, annotations } });
  await cluster.client.apply({ ...typeMeta(Namespace), metadata: { name: CORE_NAMESPACE } });
  await cluster.client.apply(inventory);
  const collector = await startGarbageCollector(cluster, folder);
  const own = await startClusterApi(cluster, { garden });
  const proxy = await startFaultyProxy(cluster.tokenKubeconfig);
  return {
    management: { cluster, proxy },
    async stop() {
      await proxy.close();
      await own.stop();
      await core.kill();
      await collector.kill();
      await cluster.stop();
    },
  };
}

/** Makes the Cluster in a management cluster, with infrastructure and two pools; its Shoot runs. */
export async function makeCluster({ cluster: { client } }: Management, garden: ControlPlane): Promise<void> {
  const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: ShootCluster.kind, name: key.name };
  await client.create({ ...typeMeta(ShootCluster), metadata: key, spec: {} });
  await client.create(controlPlaneOf(key.name));
  for (const name of ["one", "two"]) {
    const { machinePool, infrastructure } = poolOf(key.name, name);
    await client.create(infrastructure);
    await client.create(machinePool);
    await joinNode(garden.client, `machine-${name}`, name);
  }
  await client.create(clusterOf(key.name, { infrastructureRef }));
  await eventually(async () => (await garden.client.read(Shoot, key)) ?? false, PATIENCE);
  await advertise(garden.client, key, garden.client.server);
  await finish(garden, key);
}

/** What must not change, wherever the Cluster is: its Shoot, and that it is that one. */
export async function shootOf({ client }: ControlPlane) {
  const all = await client.list(Shoot);
  expect(all, "Shoots in the garden").toHaveLength(1);
  return all.map(({ metadata: { uid, generation } }) => ({ uid, generation }));
}

/** The Cluster lives here, whole, and nothing of the move is left on it. */
export async function expectAtHome({ cluster: { client } }: Management): Promise<void> {
  await eventually(async () => {
    const cluster = await client.read(Cluster, key);
    expect(cluster?.spec.paused ?? false).toBe(false);
    expect(saidBy(cluster)).toMatchObject({ ControlPlaneAvailable: "True", "perennial.dev/EndpointReady": "True" });
    const controlPlane = await client.read(ShootControlPlane, key);
    expect(saidBy(controlPlane)).toMatchObject({ Available: "True", ShootSynced: "True", Paused: "False" });
    expect(controlPlane?.metadata.annotations ?? {}).not.toHaveProperty([BLOCK_MOVE_ANNOTATION]);
    for (const name of ["one", "two"]) {
      const pool = await client.read(ShootMachinePool, { namespace, name });
      expect(saidBy(pool), name).toMatchObject({ Ready: "True", Paused: "False" });
      expect(pool?.status?.replicas).toBe(1);
    }
    expect(saidBy(await client.read(ShootCluster, key))).toMatchObject({ Ready: "True" });
    const endpoints = await client.list(ClusterEndpoint, { namespace });
    expect(endpoints.map(({ metadata }) => metadata.name)).toEqual([`${key.name}-control-plane`]);
    expect(endpoints.map(saidBy)).toMatchObject([{ Surfaced: "True", Ready: "True" }]);
    const ours = await objectsIn(client, [Cluster, ShootControlPlane, ShootMachinePool, ShootCluster, ClusterEndpoint]);
    const marked = ours.filter(({ metadata }) => DELETE_FOR_MOVE_ANNOTATION in (metadata.annotations ?? {}));
    expect(marked.map(({ kind }) => kind)).toEqual([]);
  }, PATIENCE);
}

/** Nothing of the Cluster is here. */
export async function expectNothing({ cluster: { client } }: Management): Promise<void> {
  await eventually(async () => {
    const kinds = [Cluster, MachinePool, ShootControlPlane, ShootMachinePool, ShootCluster, ClusterEndpoint, Secret];
    const left = (await objectsIn(client, kinds)).filter(({ metadata }) => metadata.namespace === namespace);
    expect(left.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([]);
  }, PATIENCE);
}

/** Deletes the Cluster as users do, and lets its Shoot go as its flow does. */
export async function deleteCluster({ cluster: { client } }: Management, garden: ControlPlane): Promise<void> {
  await garden.client.patch(refTo(Shoot, key), { metadata: { finalizers: ["gardener"] } });
  await client.remove(refTo(Cluster, key));
  await eventually(async () => {
    const shoot = await garden.client.read(Shoot, key);
    expect(shoot?.metadata.deletionTimestamp).toBeDefined();
  }, PATIENCE);
  await garden.client.patch(refTo(Shoot, key), { metadata: { finalizers: null } });
  await eventually(async () => expect(await garden.client.list(Shoot)).toEqual([]), PATIENCE);
}

async function moveBy(folder: string, from: Management, to: Management, at?: MovePoint): Promise<string | undefined> {
  await eventually(() => expectMovable(from), PATIENCE);
  const died = await runClusterctl(folder, from, to, at);
  for (let attempt = 1; attempt <= 5 && (await isUnfinished(from, to)); attempt++) {
    // As an operator does it: clusterctl refuses a Cluster that is paused, and forgets one that it has moved and not resumed.
    const left = await from.cluster.client.read(Cluster, key);
    const resumed = left === undefined ? to : from;
    await resumed.cluster.client.patch(refTo(Cluster, key), { spec: { paused: null } }).catch(() => undefined);
    if (left === undefined) continue;
    await seenResumed(from);
    await runClusterctl(folder, from, to);
  }
  return died;
}

/** The processes of the source have had their time with what is left there. */
async function seenResumed({ cluster: { client } }: Management): Promise<void> {
  await eventually(async () => {
    const controlPlane = await client.read(ShootControlPlane, key);
    const isOut = controlPlane === undefined || controlPlane.metadata.deletionTimestamp !== undefined;
    expect(isOut || saidBy(controlPlane)["Paused"] === "False").toBe(true);
  });
}

async function isUnfinished(from: Management, to: Management): Promise<boolean> {
  const [left, come] = await Promise.all([from, to].map(({ cluster: { client } }) => client.read(Cluster, key)));
  return left !== undefined || come === undefined || come.spec.paused === true;
}

/** What clusterctl asks of a Cluster before it begins. */
async function expectMovable({ cluster: { client } }: Management): Promise<void> {
  const cluster = await client.read(Cluster, key);
  expect(cluster?.status?.initialization).toMatchObject({
    infrastructureProvisioned: true,
    controlPlaneInitialized: true,
  });
  const controlPlane = await client.read(ShootControlPlane, key);
  expect(controlPlane?.metadata.annotations ?? {}).not.toHaveProperty([BLOCK_MOVE_ANNOTATION]);
}

const isWrite = (line: string): boolean =>
  /^(POST|PUT|PATCH|DELETE) /.test(line) && !line.includes("authorization.k8s.io");

/** Runs clusterctl to its end, or to the write at which it dies. */
async function runClusterctl(
  folder: string,
  from: Management,
  to: Management,
  at?: MovePoint,
): Promise<string | undefined> {
  let [count, died, target] = [0, undefined as string | undefined, ""];
  const look =
    (side: string) =>
    async ({ id, line, moment }: Passing) => {
      if (at === undefined || !isWrite(line)) return true;
      if (moment === "asked") {
        count += 1;
        const isMeant = typeof at.write === "number" ? count === at.write : at.write.test(line);
        if (isMeant && target === "") target = `${side} ${id}`;
      }
      if (target !== `${side} ${id}` || moment !== (at.moment === "before" ? "asked" : "answered")) return true;
      died = `${side} ${line}`;
      await (await running).kill();
      return false;
    };
  from.proxy.watch(look("source"));
  to.proxy.watch(look("target"));
  const running = spawnChild(
    folder,
    "clusterctl",
    ["move", "-n", namespace, "--kubeconfig", from.proxy.kubeconfigFile, "--to-kubeconfig", to.proxy.kubeconfigFile],
    ["env", "CLUSTERCTL_DISABLE_VERSIONCHECK=true", `XDG_CONFIG_HOME=${folder}`],
  );
  const child = await running;
  await child.exited;
  for (const { proxy } of [from, to]) proxy.watch(() => true);
  if (at === undefined && (await isUnfinished(from, to))) console.warn(child.output().slice(-2000));
  return died;
}

type Kinds = readonly Parameters<ControlPlane["client"]["listRefs"]>[0][];

async function objectsIn(client: ControlPlane["client"], kinds: Kinds): Promise<KubeObject[]> {
  return (await Promise.all(kinds.map((kind) => client.list(kind)))).flat();
}

type Saying = {
  readonly status?:
    { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | undefined } | undefined;
};

const saidBy = (object: Saying | undefined): Record<string, string> =>
  Object.fromEntries(object?.status?.conditions?.map(({ type, status }) => [type, status]) ?? []);
