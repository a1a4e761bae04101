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
  EndpointRecord,
  Machine,
  MachinePool,
  REPLICAS_MANAGED_BY_ANNOTATION,
  ShootCluster,
  ShootControlPlane,
  ShootMachinePool,
} from "../../src/api/cluster-api/index.ts";
import { Shoot, type KubeObject } from "../../src/api/index.ts";
import { CORE_NAMESPACE, readCoreObjects } from "../../src/local/cluster-api/core-objects.ts";
import { Namespace, refOf, refTo, Secret, typeMeta, unlessGone } from "../../src/kube/index.ts";
import { startClusterApi, startCoreManager } from "./cluster-api.ts";
import { clusterOf, controlPlaneOf, infrastructureRefOf, poolOf } from "./cluster-api-objects.ts";
import { spawnChild } from "./child.ts";
import { startControlPlane, type ControlPlane } from "./control-plane.ts";
import { applyCrds } from "./crds.ts";
import { eventually } from "./eventually.ts";
import { startFaultyProxy, type FaultyProxy, type Passing } from "./faulty-proxy.ts";
import { startGarbageCollector } from "./garbage-collector.ts";
import { advertise, finish, join as joinNode } from "./played-shoot.ts";

/** Where all is that is moved. */
export const namespace = "garden-dev";

/** The Cluster of a Shoot that is moved. */
export const key = { namespace, name: "moved" };

const pools = ["one", "two"];

/** A pool between whose bounds another than its owner decides: a lost annotation would change the Shoot. */
const autoscaled = {
  annotations: { [REPLICAS_MANAGED_BY_ANNOTATION]: "autoscaler" },
  spec: { minimum: 1, maximum: 3 },
};

/** In ms: for clusterctl's own waits, and core's retries. */
export const PATIENCE = 30_000;

/** A management cluster with the core manager and our process at work, and the way by which clusterctl reaches it. */
export interface Management {
  readonly cluster: ControlPlane;
  readonly proxy: FaultyProxy;
}

/** Two management clusters and a garden that is neither, with one Cluster that is in the first. */
export interface MoveLab {
  readonly managements: readonly [Management, Management];
  readonly garden: ControlPlane;
  /**
   * Moves the Cluster by the real clusterctl, which is killed with SIGKILL at this write, and then moves it again as an operator
   * would. Says at which write it died.
   */
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

/** What of the Cluster is to be other than usual. */
export interface ClusterOptions {
  readonly infrastructure?: ShootCluster["spec"];
  readonly controlPlane?: Partial<ShootControlPlane["spec"]>;
  /** Where its API server is said to be; in truth it is the garden's. */
  readonly address?: string;
}

/** Makes the Cluster in a management cluster, with infrastructure and two pools; its Shoot runs. */
export async function makeCluster(
  { cluster: { client } }: Management,
  garden: ControlPlane,
  { infrastructure: spec = {}, controlPlane = {}, address = garden.client.server }: ClusterOptions = {},
): Promise<void> {
  const infrastructureRef = infrastructureRefOf(key.name);
  await client.create({ ...typeMeta(ShootCluster), metadata: key, spec });
  await client.create(controlPlaneOf(key.name, controlPlane));
  for (const name of pools) {
    const { machinePool, infrastructure } = poolOf(key.name, name, name === "two" ? autoscaled : {});
    await client.create(infrastructure);
    await client.create(machinePool);
    await joinNode(garden.client, `machine-${name}`, name);
  }
  await client.create(clusterOf(key.name, { infrastructureRef }));
  await eventually(async () => (await garden.client.read(Shoot, key)) ?? false, PATIENCE);
  await advertise(garden.client, key, address);
  await finish(garden, key);
}

/** What must not change, wherever the Cluster is: its Shoot, and that it is that one. */
export async function shootOf({ client }: ControlPlane) {
  const all = await client.list(Shoot);
  expect(all, "Shoots in the garden").toHaveLength(1);
  return all.map(({ metadata: { uid, generation } }) => ({ uid, generation }));
}

/** The Cluster lives here, whole, and nothing of the move is left on it; `when` is what a failure says. */
export async function expectAtHome(management: Management, when?: string): Promise<void> {
  const { client } = management.cluster;
  await eventually(async () => {
    await expectShootCluster(management, when);
    expect(saidBy(await client.read(Cluster, key))).toMatchObject({ "perennial.dev/EndpointReady": "True" });
    const endpoints = await client.list(ClusterEndpoint, { namespace });
    expect(
      endpoints.map(({ metadata }) => metadata.name),
      when,
    ).toEqual([`${key.name}-control-plane`]);
    expect(endpoints.map(saidBy)).toMatchObject([{ Surfaced: "True", Ready: "True" }]);
  }, PATIENCE);
}

/** The Cluster of a Shoot and what belongs to it are here, at work, and nothing bears the mark of a move; once, with no waiting. */
export async function expectShootCluster({ cluster: { client } }: Management, when?: string): Promise<void> {
  const cluster = await client.read(Cluster, key);
  expect(cluster?.spec.paused ?? false, when).toBe(false);
  expect(saidBy(cluster)).toMatchObject({ ControlPlaneAvailable: "True" });
  const controlPlane = await client.read(ShootControlPlane, key);
  expect(saidBy(controlPlane)).toMatchObject({ Available: "True", ShootSynced: "True", Paused: "False" });
  expect(controlPlane?.metadata.annotations ?? {}).not.toHaveProperty([BLOCK_MOVE_ANNOTATION]);
  for (const name of pools) {
    const pool = await client.read(ShootMachinePool, { namespace, name });
    expect(saidBy(pool), name).toMatchObject({ Ready: "True", Paused: "False" });
    expect(pool?.status?.replicas).toBe(1);
  }
  const autoscaledPool = await client.read(MachinePool, { namespace, name: "two" });
  expect(autoscaledPool?.metadata.annotations, when).toMatchObject(autoscaled.annotations);
  expect(saidBy(await client.read(ShootCluster, key))).toMatchObject({ Ready: "True" });
  const kinds = [
    Cluster,
    MachinePool,
    ShootControlPlane,
    ShootMachinePool,
    ShootCluster,
    ClusterEndpoint,
    EndpointRecord,
  ];
  const marked = (await objectsIn(client, kinds)).filter(
    ({ metadata }) => DELETE_FOR_MOVE_ANNOTATION in (metadata.annotations ?? {}),
  );
  expect(marked.map(({ kind }) => kind)).toEqual([]);
}

/** Nothing of the Cluster is here, nor of these kinds; `when` is what a failure says. */
export async function expectNothing(
  { cluster: { client } }: Management,
  when?: string,
  more: Kinds = [],
): Promise<void> {
  const own = [
    Cluster,
    MachinePool,
    ShootControlPlane,
    ShootMachinePool,
    ShootCluster,
    ClusterEndpoint,
    EndpointRecord,
  ];
  await eventually(async () => {
    const kinds = [...own, Secret, Machine, ...more];
    const left = (await objectsIn(client, kinds)).filter(({ metadata }) => metadata.namespace === namespace);
    expect(
      left.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
      when,
    ).toEqual([]);
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
    const isLeft = (await clustersOf(from)).length > 0;
    await resume(isLeft ? from : to);
    if (!isLeft) continue;
    await seenResumed(from);
    await runClusterctl(folder, from, to);
  }
  return died;
}

const clustersOf = ({ cluster: { client } }: Management): Promise<Cluster[]> => client.list(Cluster, { namespace });

async function resume(management: Management): Promise<void> {
  for (const one of await clustersOf(management))
    await unlessGone(management.cluster.client.patch(refOf(one), { spec: { paused: null } }));
}

/** The processes of the source have had their time with what is left there. */
async function seenResumed({ cluster: { client } }: Management): Promise<void> {
  await eventually(async () => {
    const left = await objectsIn(client, [ShootControlPlane, EndpointRecord]);
    const staying = left.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    expect(staying.map((one) => saidBy(one)["Paused"])).toEqual(staying.map(() => "False"));
  });
}

async function isUnfinished(from: Management, to: Management): Promise<boolean> {
  const [left, come] = await Promise.all([from, to].map(clustersOf));
  return left?.length !== 0 || come?.length === 0 || come?.some(({ spec }) => spec.paused === true) === true;
}

/** What clusterctl asks of Clusters and Machines before it begins. */
async function expectMovable(management: Management): Promise<void> {
  const { client } = management.cluster;
  const initialized = { infrastructureProvisioned: true, controlPlaneInitialized: true };
  for (const { metadata, status } of await clustersOf(management))
    expect(status?.initialization, metadata.name).toMatchObject(initialized);
  for (const { metadata, status } of await client.list(Machine, { namespace }))
    expect(status, `Machine ${metadata.name}`).toMatchObject({ nodeRef: {} });
  const blocking = (await objectsIn(client, [ShootControlPlane])).filter(
    ({ metadata }) => BLOCK_MOVE_ANNOTATION in (metadata.annotations ?? {}),
  );
  expect(blocking.map(({ metadata }) => metadata.name)).toEqual([]);
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

/** Kinds of which all objects are listed. */
export type Kinds = readonly Parameters<ControlPlane["client"]["listRefs"]>[0][];

/** All objects of these kinds. */
export async function objectsIn(client: ControlPlane["client"], kinds: Kinds): Promise<KubeObject[]> {
  return (await Promise.all(kinds.map((kind) => client.list(kind)))).flat();
}

type Saying = {
  readonly status?:
    { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | undefined } | undefined;
};

/** What an object's conditions say, by their types. */
export function saidBy(object: KubeObject | undefined): Record<string, string> {
  const { status } = (object ?? {}) as Saying;
  return Object.fromEntries(status?.conditions?.map(({ type, status: is }) => [type, is]) ?? []);
}
