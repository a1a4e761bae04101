import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { Cluster, ClusterClass, ShootCluster, ShootClusterTemplate } from "../../src/api/cluster-api/index.ts";
import { EMPTY_TEMPLATE } from "../../src/cluster-api/optional-infrastructure/empty-template.ts";
import { define } from "../../src/kube/index.ts";
import { clusterApiTest as test, startClusterApi } from "../support/cluster-api.ts";
import { conditionsOf } from "../support/cluster-conditions.ts";
import { contractKind } from "../support/contract-kind.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import {
  playControlPlane,
  playedCluster,
  playedKind,
  servePlayedControlPlanes,
} from "../support/played-control-plane.ts";

const namespace = "default";

test("without our webhooks core never calls a Cluster without infrastructure available", async ({ cluster, core }) => {
  await servePlayedControlPlanes(cluster.client);
  const key = { namespace, name: "alone" };
  await playControlPlane(cluster, key);
  await cluster.client.create(playedCluster(key));
  await eventually(async () => {
    const conditions = await conditionsOf(cluster.client, key);
    // The day this fails upstream has mended it, and the webhook can go.
    expect(conditions["InfrastructureReady"], core.output().slice(-500)).toEqual(["Unknown", "InternalError"]);
    expect(conditions["RemoteConnectionProbe"]).toEqual(["True", "ProbeSucceeded"]);
    expect(conditions["ControlPlaneAvailable"]).toEqual(["True", "Available"]);
    expect(conditions["Available"]).toEqual(["Unknown", "AvailableUnknown"]);
  }, 60_000);
});

test("without our webhooks core's schema refuses a ClusterClass without infrastructure", async ({ cluster, core }) => {
  expect(core.output()).not.toBe("");
  await expect(cluster.client.create(classWithoutInfrastructure("refused"))).rejects.toThrow(
    "spec.infrastructure: Required value",
  );
});

test("with our webhooks a Cluster without infrastructure becomes available, also one that was there before", async ({
  cluster,
  core,
}) => {
  await servePlayedControlPlanes(cluster.client);
  for (const name of ["before", "after"]) await playControlPlane(cluster, { namespace, name });
  await cluster.client.create(playedCluster({ namespace, name: "before" }));
  await eventually(async () => {
    expect((await conditionsOf(cluster.client, { namespace, name: "before" }))["RemoteConnectionProbe"]).toEqual([
      "True",
      "ProbeSucceeded",
    ]);
    expect((await conditionsOf(cluster.client, { namespace, name: "before" }))["Available"]?.[0]).toBe("Unknown");
  }, 60_000);
  const own = await startClusterApi(cluster);
  try {
    await cluster.client.create(playedCluster({ namespace, name: "after" }));
    for (const name of ["before", "after"])
      await eventually(async () => {
        const conditions = await conditionsOf(cluster.client, { namespace, name });
        expect(conditions["InfrastructureReady"], core.output().slice(-500)).toEqual(["True", "NotRequired"]);
        expect(conditions["Available"]).toEqual(["True", "Available"]);
      }, 60_000);
    // Core's last words on a new Cluster come in a few writes; a fight would not end.
    await eventually(async () => await quiet(cluster, 3_000, storedClusters), 30_000);
    // Core reconciles each Cluster once more, and has its status written: what our webhook says stays, since when as well.
    await eventually(async () => {
      const before = await mendedConditions(cluster);
      for (const name of ["before", "after"])
        await cluster.client.patch(
          { ...Cluster, name, namespace },
          { metadata: { annotations: { "test/touched": new Date().toISOString() } } },
        );
      expect(await quiet(cluster, 5_000, mendedConditions)).toEqual(before);
    }, 60_000);
    await eventually(async () => await quiet(cluster, 3_000, storedClusters), 30_000);
  } finally {
    await own.stop();
  }
});

test("a Cluster that core wrote while our webhooks were away heals when they are back", async ({ cluster, core }) => {
  const name = "healing";
  await servePlayedControlPlanes(cluster.client);
  await playControlPlane(cluster, { namespace, name });
  const first = await startClusterApi(cluster);
  await first.stop();
  await cluster.client.create(playedCluster({ namespace, name })); // configurations are there, and no server behind them
  await eventually(async () => {
    expect((await conditionsOf(cluster.client, { namespace, name }))["Available"]?.[0], core.output().slice(-500)).toBe(
      "Unknown",
    );
  }, 45_000);
  const second = await startClusterApi(cluster);
  try {
    await eventually(
      async () =>
        expect((await conditionsOf(cluster.client, { namespace, name }))["Available"]).toEqual(["True", "Available"]),
      45_000,
    );
  } finally {
    await second.stop();
  }
});

test("with our webhooks a ClusterClass may leave infrastructure out, and a topology of it is reconciled", async ({
  cluster,
  core,
}) => {
  const { client } = cluster;
  await servePlayedControlPlanes(client);
  await define(client, [contractKind("controlplane", "PlayedControlPlaneTemplate")]);
  const own = await startClusterApi(cluster);
  try {
    await client.apply({
      ...{ apiVersion: `${playedKind.apiGroup}/v1alpha1`, kind: "PlayedControlPlaneTemplate" },
      metadata: { namespace, name: "played" },
      spec: { template: { spec: {} } },
    });
    const patched = withPatch(classWithoutInfrastructure("patched"));
    await expect(client.create(patched)).rejects.toThrow("selects the infrastructure, and the class has none");
    await client.apply(classWithoutInfrastructure("bare")); // server-side apply
    await client.apply(classWithoutInfrastructure("bare"));
    await expect(
      client.patch(
        { ...ClusterClass, namespace, name: "bare" },
        { spec: withPatch(classWithoutInfrastructure("bare")).spec },
      ),
    ).rejects.toThrow("selects the infrastructure");
    const topology = { classRef: { name: "bare" }, version: "v1.34.4" };
    const made = { ...playedCluster({ namespace, name: "of-class" }), spec: { topology } };
    // Core's cache may not know the class yet.
    await eventually(() => client.create(made));
    await eventually(async () => {
      const conditions = await conditionsOf(cluster.client, { namespace, name: "of-class" });
      expect(conditions["TopologyReconciled"], core.output().slice(-500)).toEqual(["True", "ReconcileSucceeded"]);
      const { spec } = (await client.read(Cluster, { namespace, name: "of-class" })) ?? {};
      expect(spec?.infrastructureRef?.kind).toBe("ShootCluster");
    }, 60_000);
    const ofClass = await client.read(Cluster, { namespace, name: "of-class" });
    const infrastructure = { namespace, name: ofClass?.spec.infrastructureRef?.name ?? "" };
    expect((await client.read(ShootCluster, infrastructure))?.spec ?? {}, "it asks for nothing").toEqual({});
    const template = await client.read(ShootClusterTemplate, { namespace, name: EMPTY_TEMPLATE.name });
    expect(template?.metadata.ownerReferences).toMatchObject([{ kind: "ClusterClass", name: "bare" }]);
    const { spec } = (await client.read(ClusterClass, { namespace, name: "bare" })) ?? {};
    expect(spec?.infrastructure?.templateRef).toEqual(EMPTY_TEMPLATE);
  } finally {
    await own.stop();
  }
});

const classWithoutInfrastructure = (name: string): ClusterClass => ({
  ...{ apiVersion: ClusterClass.apiVersion, kind: ClusterClass.kind, metadata: { namespace, name } },
  spec: {
    controlPlane: {
      templateRef: {
        ...{ apiVersion: `${playedKind.apiGroup}/v1alpha1`, kind: "PlayedControlPlaneTemplate", name: "played" },
      },
    },
  },
});

/** The class with a patch of the infrastructure that it does not have. */
function withPatch(clusterClass: ClusterClass): ClusterClass {
  const { apiVersion, kind } = EMPTY_TEMPLATE;
  const selector = { apiVersion, kind, matchResources: { infrastructureCluster: true } };
  const jsonPatches = [{ op: "add", path: "/spec/template/spec/region", value: "north" }];
  const definitions = [{ selector, jsonPatches }];
  return { ...clusterClass, spec: { ...clusterClass.spec, patches: [{ name: "region", definitions }] } };
}

/** The two Clusters as they are stored, by name. */
async function storedClusters({ client }: ControlPlane): Promise<Record<string, Cluster>> {
  const clusters = await client.list(Cluster, { namespace });
  return Object.fromEntries(
    clusters.filter(({ metadata: { name } }) => /before|after/.test(name)).map((it) => [it.metadata.name, it]),
  );
}

/** The conditions that our webhook mends, of the two Clusters, with the time since when each holds. */
async function mendedConditions(cluster: ControlPlane): Promise<Record<string, unknown>> {
  const stored = Object.entries(await storedClusters(cluster));
  const mended = ({ type }: { readonly type: string }) => ["InfrastructureReady", "Available"].includes(type);
  return Object.fromEntries(stored.map(([name, { status }]) => [name, status?.conditions?.filter(mended)]));
}

/** What is seen; fails, with what has changed, when it changes within so many ms: core answers a change within one second. */
async function quiet<T>(cluster: ControlPlane, time: number, see: (cluster: ControlPlane) => Promise<T>): Promise<T> {
  const seen = await see(cluster);
  for (const end = Date.now() + time; Date.now() < end; await sleep(250)) expect(await see(cluster)).toEqual(seen);
  return seen;
}
