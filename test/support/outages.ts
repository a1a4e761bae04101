import { Resolver } from "node:dns";
import { isIPv4, type LookupFunction } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { PROJECT_NAMESPACE_ANNOTATION } from "../../src/api/annotations.ts";
import {
  Cluster,
  ClusterEndpoint,
  clusterKubeconfigName,
  MachinePool,
  type ShootCluster,
  ShootControlPlane,
} from "../../src/api/cluster-api/index.ts";
import { Shoot } from "../../src/api/index.ts";
import { Namespace, refTo, Secret, typeMeta } from "../../src/kube/index.ts";
import { clusterApiTest } from "./cluster-api.ts";
import { clusterOf, controlPlaneOf, poolOf } from "./cluster-api-objects.ts";
import { clusterApiRoles } from "./cluster-api-rights.ts";
import { startControlPlane, type ControlPlane } from "./control-plane.ts";
import { applyCrds } from "./crds.ts";
import { eventually } from "./eventually.ts";
import { startFaultyProxy, type FaultyProxy } from "./faulty-proxy.ts";
import { freePorts } from "./free-ports.ts";
import { createOwnProcess } from "./own-process.ts";
import { advertise, finish } from "./played-shoot.ts";

const namespace = "garden-dev";

/** The process `cluster-api` as it is deployed, with its own rights, between a management cluster and a garden, each of which can be cut off. */
export const outageTest = clusterApiTest.extend("lab", { scope: "file" }, async ({ cluster, core }, { onCleanup }) => {
  expect(core.output()).not.toBe("");
  const stops: (() => Promise<void>)[] = [];
  onCleanup(async () => {
    for (const stop of stops.reverse()) await stop();
  });
  const garden = await startControlPlane();
  stops.push(() => garden.stop());
  await applyCrds(garden.client);
  for (const name of [namespace, "perennial"])
    await garden.client.apply({ ...typeMeta(Namespace), metadata: { name } });
  const annotations = { [PROJECT_NAMESPACE_ANNOTATION]: namespace };
  await cluster.client.apply({ ...typeMeta(Namespace), metadata: { name: namespace, annotations } });
  await cluster.client.apply({ ...typeMeta(Namespace), metadata: { name: "perennial" } });
  for (const role of await clusterApiRoles(["management"])) await cluster.client.apply(role);
  for (const role of await clusterApiRoles(["garden"])) await garden.client.apply(role);
  const proxies = {
    management: await startFaultyProxy(cluster.kubeconfigOf("cluster-api")),
    garden: await startFaultyProxy(garden.kubeconfigOf("cluster-api")),
  };
  stops.push(async () => void (await Promise.all([proxies.management.close(), proxies.garden.close()])));
  const [webhookPort = 0] = await freePorts(1);
  const own = createOwnProcess({
    folder: "cluster-api",
    env: {
      PERENNIAL_WEBHOOK_HOST: "127.0.0.1",
      PERENNIAL_WEBHOOK_PORT: String(webhookPort),
      PERENNIAL_MANAGEMENT_KUBECONFIG: proxies.management.kubeconfigFile,
      PERENNIAL_GARDEN_KUBECONFIG: proxies.garden.kubeconfigFile,
    },
  });
  await own.start();
  stops.push(() => own.kill());
  return { cluster, garden, proxies, own };
});

/** What the outage tests work with. */
export interface OutageLab {
  readonly cluster: ControlPlane;
  readonly garden: ControlPlane;
  readonly proxies: Readonly<Record<"management" | "garden", FaultyProxy>>;
}

/** Makes a Cluster whose Shoot runs, and whose endpoint serves; with a pool of machines unless told otherwise. */
export async function makeServing(
  { cluster, garden }: OutageLab,
  name: string,
  { workerless = false }: { readonly workerless?: boolean } = {},
): Promise<void> {
  const { client } = cluster;
  const key = { namespace, name };
  const { machinePool, infrastructure } = poolOf(name, `${name}-p`);
  const pool = workerless ? [] : [infrastructure, machinePool];
  for (const object of [controlPlaneOf(name, workerless ? { workerless } : {}), clusterOf(name), ...pool])
    await client.create(object);
  await eventually(async () => (await garden.client.read(Shoot, key)) ?? false, 60_000);
  await advertise(garden.client, key, garden.client.server);
  await finish(garden, key);
  await eventually(async () => {
    expect(await saidOf(client, ShootControlPlane, key, "Available")).toMatchObject({ status: "True" });
    expect(await saidOf(client, ClusterEndpoint, endpointOf(name), "Ready")).toMatchObject({ status: "True" });
  }, 60_000);
}

/** What no outage changes: where the Cluster is, and how it is reached. */
export async function constantsOf({ cluster: { client } }: OutageLab, name: string) {
  const secret = await client.read(Secret, { namespace, name: clusterKubeconfigName(name) });
  const endpoints = await client.list(ClusterEndpoint, { namespace });
  return {
    cluster: (await client.read(Cluster, { namespace, name }))?.spec.controlPlaneEndpoint,
    controlPlane: (await client.read(ShootControlPlane, { namespace, name }))?.spec.controlPlaneEndpoint,
    endpoints: endpoints.filter(({ spec }) => spec.cluster === name).map(({ metadata, spec }) => [metadata.uid, spec]),
    kubeconfig: [secret?.metadata.uid, secret?.metadata.resourceVersion],
  };
}

/** Cuts the process off from one of its clusters for so long, in ms, and looks meanwhile; then it is back. */
export async function cutOff(
  lab: OutageLab,
  from: "management" | "garden",
  ms: number,
  look: () => Promise<void>,
): Promise<void> {
  lab.proxies[from].cut();
  try {
    const end = sleep(ms);
    await look();
    await end;
  } finally {
    lab.proxies[from].mend();
  }
}

/** Has the process do something, to see that it lives: a change of replicas reaches the Shoot. */
export async function expectAtWork({ cluster, garden }: OutageLab, name: string, replicas: number): Promise<void> {
  await cluster.client.patch(refTo(MachinePool, { namespace, name: `${name}-p` }), { spec: { replicas } });
  await eventually(async () => {
    const shoot = await garden.client.read(Shoot, { namespace, name });
    expect(shoot?.spec.provider.workers?.map(({ minimum }) => minimum)).toEqual([replicas]);
  }, 120_000);
}

/** A condition of an object in the management cluster. */
export async function saidOf(
  client: ControlPlane["client"],
  kind: typeof ShootControlPlane | typeof ShootCluster | typeof ClusterEndpoint,
  key: { readonly namespace: string; readonly name: string },
  type: string,
) {
  const found = await client.read(refTo(kind as typeof ShootControlPlane, key));
  return found?.status?.conditions?.find((one) => one.type === type);
}

/** The endpoint of a Cluster's control plane. */
export const endpointOf = (name: string) => ({ namespace, name: `${name}-control-plane` });

/** Finds addresses by asking this name server, and no other. */
export function lookupBy(server: string): LookupFunction {
  const resolver = new Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([server]);
  return (name, options, done) => {
    if (isIPv4(name)) return void done(null, [{ address: name, family: 4 }]);
    resolver.resolve4(name, (error, addresses) => {
      const found = (addresses ?? []).map((address) => ({ address, family: 4 }));
      if (error) done(Object.assign(error, { code: "ENOTFOUND" }), "", 4);
      else if (options.all === true) done(null, found);
      else done(null, found[0]?.address ?? "", 4);
    });
  };
}
