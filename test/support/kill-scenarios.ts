import { expect } from "vitest";
import { CONFIRM_DELETION_ANNOTATION } from "../../src/api/annotations.ts";
import {
  BLOCK_MOVE_ANNOTATION,
  Cluster,
  ClusterEndpoint,
  clusterKubeconfigName,
  MachinePool,
  ShootControlPlane,
  ShootMachinePool,
} from "../../src/api/cluster-api/index.ts";
import { Shoot } from "../../src/api/index.ts";
import { ENDPOINT_READY_CONDITION } from "../../src/api/names.ts";
import { refTo, Secret, type ObjectRef } from "../../src/kube/index.ts";
import { clusterOf, controlPlaneOf, poolOf } from "./cluster-api-objects.ts";
import { eventually } from "./eventually.ts";
import type { KillLab, KillScenario } from "./kill-lab.ts";
import { advertise, finish, join, providerIDOf } from "./played-shoot.ts";

const namespace = "garden-dev";

/** In ms: for a process that was killed to start anew, and for the core manager's own retries. */
const PATIENCE = 90_000;

/** Scenario 1, from the objects that a user applies to a Cluster that is available. */
export const creation: KillScenario = {
  title: "a Cluster is made",
  async run(lab, name) {
    const { client } = lab.cluster;
    const key = { namespace, name };
    const { machinePool, infrastructure } = poolOf(name, `${name}-p`);
    for (const object of [controlPlaneOf(name), clusterOf(name), infrastructure, machinePool])
      await client.create(object);
    const shoot = await eventually(async () => (await client.read(Shoot, key)) ?? false, PATIENCE);
    await advertise(client, key, client.server);
    await eventually(async () => (await client.read(ClusterEndpoint, endpointOf(name))) ?? false, PATIENCE);
    await finish(lab.cluster, key);
    const row = shoot.spec.provider.workers?.[0]?.name ?? "";
    await join(client, `${name}-machine`, row);
    await eventually(() => expectWhole(lab, name), PATIENCE);
  },
};

/** The same Cluster's deletion, until nothing of it is left. */
export const deletion: KillScenario = {
  title: "a Cluster is deleted",
  async begin(lab, name) {
    await creation.run(lab, name);
    await lab.cluster.client.patch(refTo(Shoot, { namespace, name }), { metadata: { finalizers: ["gardener"] } });
  },
  async run({ cluster: { client } }, name) {
    const key = { namespace, name };
    await client.remove(refTo(Cluster, key));
    await eventually(async () => {
      const { deletionTimestamp, annotations = {} } = (await client.read(Shoot, key))?.metadata ?? {};
      expect(deletionTimestamp).toBeDefined();
      expect(annotations[CONFIRM_DELETION_ANNOTATION]).toBe("true");
    }, PATIENCE);
    expect(await client.read(ShootControlPlane, key), "while its Shoot is there").toBeDefined();
    await client.patch(refTo(Shoot, key), { metadata: { finalizers: null } });
    await eventually(async () => {
      const pool = { namespace, name: `${name}-p` };
      const refs: readonly ObjectRef[] = [
        ...[refTo(Cluster, key), refTo(ShootControlPlane, key), refTo(Shoot, key)],
        ...[refTo(MachinePool, pool), refTo(ShootMachinePool, pool), refTo(ClusterEndpoint, endpointOf(name))],
        refTo(Secret, { namespace, name: clusterKubeconfigName(name) }),
      ];
      for (const ref of refs) expect(await client.read(ref), ref.kind).toBeUndefined();
    }, PATIENCE);
  },
};

/** What the process does for a Cluster of scenario 1, from the first write to the last. */
export const killScenarios: readonly KillScenario[] = [creation, deletion];

const endpointOf = (name: string) => ({ namespace, name: `${name}-control-plane` });

/** What each object says at the end, as a Cluster that was made without a kill says it. */
async function expectWhole(lab: KillLab, name: string): Promise<void> {
  await expectControlPlane(lab, name);
  await expectEndpoint(lab, name);
  await expectMachines(lab, name);
}

/** Where the stood-in API server of each Shoot answers. */
function addressOf({ cluster: { client } }: KillLab) {
  const { hostname: host, port } = new URL(client.server);
  return { host, port: Number(port) };
}

async function expectControlPlane(lab: KillLab, name: string): Promise<void> {
  const { client } = lab.cluster;
  const key = { namespace, name };
  const shoot = await client.read(Shoot, key);
  expect(shoot?.spec.provider.workers).toMatchObject([{ minimum: 1, maximum: 1 }]);
  const controlPlane = await client.read(ShootControlPlane, key);
  expect(controlPlane?.spec.controlPlaneEndpoint).toEqual(addressOf(lab));
  expect(controlPlane?.metadata.annotations ?? {}, "nothing is under way").not.toHaveProperty([BLOCK_MOVE_ANNOTATION]);
  expect(controlPlane?.status).toMatchObject({
    initialization: { controlPlaneInitialized: true },
    versions: [{ version: "v1.34.4" }],
    externalManagedControlPlane: true,
    shoot: { namespace, name, uid: shoot?.metadata.uid },
  });
  expectSaid(controlPlane, { Available: "True", ShootSynced: "True", EndpointPublished: "True", RollingOut: "False" });
}

async function expectEndpoint(lab: KillLab, name: string): Promise<void> {
  const { client, tokenKubeconfig } = lab.cluster;
  const at = addressOf(lab);
  const endpoint = await client.read(ClusterEndpoint, endpointOf(name));
  expect(endpoint?.spec).toMatchObject({ cluster: name, ...at });
  expectSaid(endpoint, { Surfaced: "True", Serving: "True", Ready: "True" });
  const secret = await client.read(Secret, { namespace, name: clusterKubeconfigName(name) });
  expect(Buffer.from(secret?.data?.["value"] ?? "", "base64").toString()).toBe(tokenKubeconfig);
  const cluster = await client.read(Cluster, { namespace, name });
  expect(cluster?.spec.controlPlaneEndpoint).toEqual(at);
  expectSaid(cluster, { Available: "True", InfrastructureReady: "True", [ENDPOINT_READY_CONDITION]: "True" });
}

async function expectMachines({ cluster: { client } }: KillLab, name: string): Promise<void> {
  const pool = { namespace, name: `${name}-p` };
  const machines = await client.read(ShootMachinePool, pool);
  expect(machines?.spec.providerIDList).toEqual([providerIDOf(`${name}-machine`)]);
  expect(machines?.status).toMatchObject({ ready: true, replicas: 1, initialization: { provisioned: true } });
  expectSaid(machines, { Ready: "True" });
}

type Saying = {
  readonly status?:
    { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | undefined } | undefined;
};

function expectSaid(object: Saying | undefined, wanted: Readonly<Record<string, string>>): void {
  const said = Object.fromEntries(object?.status?.conditions?.map(({ type, status }) => [type, status]) ?? []);
  expect(said).toMatchObject(wanted);
}
