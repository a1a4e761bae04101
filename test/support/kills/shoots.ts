import { expect } from "vitest";
import { CONFIRM_DELETION_ANNOTATION } from "../../../src/api/annotations.ts";
import {
  BLOCK_MOVE_ANNOTATION,
  Cluster,
  ClusterEndpoint,
  clusterKubeconfigName,
  MachinePool,
  ShootCluster,
  ShootControlPlane,
  ShootMachinePool,
} from "../../../src/api/cluster-api/index.ts";
import { Shoot } from "../../../src/api/index.ts";
import { refTo, Secret, type ObjectRef } from "../../../src/kube/index.ts";
import { poolOf } from "../cluster-api-objects.ts";
import { eventually } from "../eventually.ts";
import { advertise, finish, join, providerIDOf } from "../played-shoot.ts";
import type { KillLab } from "./lab.ts";
import { PATIENCE } from "./life.ts";

/** Where all objects of these Clusters are, in a cluster that is the garden, too. */
export const namespace = "garden-dev";

/** The only pool of a Cluster, of one machine. */
const poolName = (name: string): string => `${name}-p`;

/** Creates both halves of the Cluster's pool. */
export async function createPool({ cluster: { client } }: KillLab, name: string): Promise<void> {
  const { machinePool, infrastructure } = poolOf(name, poolName(name));
  for (const object of [infrastructure, machinePool]) await client.create(object);
}

/** Does what a Shoot's flow does, as soon as there is one: it advertises an address, and then its API server answers and its machine joins. */
export async function playFlow({ cluster }: KillLab, name: string, address: string): Promise<void> {
  const { client } = cluster;
  const key = { namespace, name };
  const shoot = await eventually(async () => (await client.read(Shoot, key)) ?? false, PATIENCE);
  await client.patch(refTo(Shoot, key), { metadata: { finalizers: ["gardener"] } });
  await advertise(client, key, address);
  await eventually(async () => (await endpointsOf(cluster, name)).length > 0, PATIENCE);
  await finish(cluster, key);
  await join(client, `${name}-machine`, shoot.spec.provider.workers?.[0]?.name ?? "");
}

const endpointsOf = async ({ client }: KillLab["cluster"], name: string) =>
  (await client.list(ClusterEndpoint, { namespace })).filter(({ spec }) => spec.cluster === name);

/** Throws unless the control plane says that it is all there, and its machine is known. */
export async function expectShootCluster({ cluster: { client } }: KillLab, name: string): Promise<void> {
  const key = { namespace, name };
  const shoot = await client.read(Shoot, key);
  expect(shoot?.spec.provider.workers).toMatchObject([{ minimum: 1, maximum: 1 }]);
  const controlPlane = await client.read(ShootControlPlane, key);
  expect(controlPlane?.metadata.annotations ?? {}, "nothing is under way").not.toHaveProperty([BLOCK_MOVE_ANNOTATION]);
  expect(controlPlane?.status).toMatchObject({
    initialization: { controlPlaneInitialized: true },
    versions: [{ version: "v1.34.4" }],
    externalManagedControlPlane: true,
    shoot: { namespace, name, uid: shoot?.metadata.uid },
  });
  expectSaid(controlPlane, { Available: "True", ShootSynced: "True", RollingOut: "False" });
  const pool = await client.read(ShootMachinePool, { namespace, name: poolName(name) });
  expect(pool?.spec.providerIDList).toEqual([providerIDOf(`${name}-machine`)]);
  expect(pool?.status).toMatchObject({ ready: true, replicas: 1, initialization: { provisioned: true } });
  expectSaid(pool, { Ready: "True" });
}

/** Throws unless the core manager says that the Cluster is available. */
export async function expectAvailable({ cluster: { client } }: KillLab, name: string): Promise<void> {
  const cluster = await client.read(Cluster, { namespace, name });
  expectSaid(cluster, { Available: "True", InfrastructureReady: "True" });
}

/** The kubeconfig by which core and users reach the Cluster. */
export async function readKubeconfig({ cluster: { client } }: KillLab, name: string): Promise<string> {
  const secret = await client.read(Secret, { namespace, name: clusterKubeconfigName(name) });
  return Buffer.from(secret?.data?.["value"] ?? "", "base64").toString();
}

/** Deletes a Cluster and plays its Shoot's flow, which lets the Shoot go once its deletion is confirmed. */
export async function removeShootCluster({ cluster: { client } }: KillLab, name: string): Promise<void> {
  const key = { namespace, name };
  await client.remove(refTo(Cluster, key));
  await eventually(async () => {
    const { deletionTimestamp, annotations = {} } = (await client.read(Shoot, key))?.metadata ?? {};
    expect(deletionTimestamp).toBeDefined();
    expect(annotations[CONFIRM_DELETION_ANNOTATION]).toBe("true");
  }, PATIENCE);
  expect(await client.read(ShootControlPlane, key), "while its Shoot is there").toBeDefined();
  await client.patch(refTo(Shoot, key), { metadata: { finalizers: null } });
}

/** Throws while there is something left of a Cluster and its Shoot. */
export async function expectShootClusterGone({ cluster }: KillLab, name: string): Promise<void> {
  const { client } = cluster;
  const [key, pool] = [
    { namespace, name },
    { namespace, name: poolName(name) },
  ];
  const refs: readonly ObjectRef[] = [
    ...[refTo(Cluster, key), refTo(ShootControlPlane, key), refTo(ShootCluster, key), refTo(Shoot, key)],
    ...[refTo(MachinePool, pool), refTo(ShootMachinePool, pool)],
    refTo(Secret, { namespace, name: clusterKubeconfigName(name) }),
  ];
  for (const ref of refs) expect(await client.read(ref), ref.kind).toBeUndefined();
  expect(await endpointsOf(cluster, name)).toEqual([]);
}

interface Saying {
  readonly status?:
    { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | undefined } | undefined;
}

/** Throws unless an object says these conditions. */
export function expectSaid(object: Saying | undefined, wanted: Readonly<Record<string, string>>): void {
  const said = Object.fromEntries(object?.status?.conditions?.map(({ type, status }) => [type, status]) ?? []);
  expect(said).toMatchObject(wanted);
}
