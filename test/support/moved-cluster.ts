import { expect } from "vitest";
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
import { INFRASTRUCTURE_ID_LABEL, ROLE_LABEL } from "../../src/api/labels.ts";
import { refTo, Secret, typeMeta } from "../../src/kube/index.ts";
import { clusterOf, controlPlaneOf, infrastructureRefOf, poolOf } from "./cluster-api-objects.ts";
import type { ControlPlane } from "./control-plane.ts";
import { eventually } from "./eventually.ts";
import { namespace, type Management } from "./move-management.ts";
import { objectsIn, saidBy, type Kinds } from "./objects-in.ts";
import { advertise, finish, join as joinNode } from "./played-shoot.ts";

/** The Cluster of a Shoot that is moved. */
export const key = { namespace, name: "moved" };

const pools = ["one", "two"];

/** A pool between whose bounds another than its owner decides: a lost annotation would change the Shoot. */
const autoscaled = {
  annotations: { [REPLICAS_MANAGED_BY_ANNOTATION]: "autoscaler" },
  spec: { minimum: 1, maximum: 3 },
};

/** Of what a move takes along, all that core or this project reconciles. */
export const movedKinds = [
  Cluster,
  MachinePool,
  Machine,
  ShootControlPlane,
  ShootMachinePool,
  ShootCluster,
  ClusterEndpoint,
  EndpointRecord,
];

/** In ms: for clusterctl's own waits, and core's retries. */
export const PATIENCE = 30_000;

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
  const marked = (await objectsIn(client, movedKinds)).filter(
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
  await eventually(async () => {
    const left = await objectsIn(client, [...movedKinds, Secret, ...more]);
    const here = left.filter((one) => one.metadata.namespace === namespace && !isOfGarden(one));
    expect(
      here.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
      when,
    ).toEqual([]);
  }, PATIENCE);
}

/** Where the management cluster is the garden: Secrets of the Shoot, which its flow publishes, and copies of credentials. */
const isOfGarden = ({ kind, metadata: { labels = {} } }: KubeObject): boolean =>
  kind === Secret.kind && (ROLE_LABEL in labels || INFRASTRUCTURE_ID_LABEL in labels);

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
