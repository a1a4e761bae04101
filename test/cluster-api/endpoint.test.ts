import { afterEach, expect } from "vitest";
import { Cluster, ClusterEndpoint } from "../../src/api/cluster-api/index.ts";
import type { KubeObject } from "../../src/api/index.ts";
import { createEndpointController } from "../../src/cluster-api/endpoint/controller.ts";
import { refOf, refTo, type KubeClient, type NamespacedKey } from "../../src/kube/index.ts";
import { clusterApiTest as test, startClusterApi } from "../support/cluster-api.ts";
import { conditionOf } from "../support/cluster-conditions.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { applyEndpointKind } from "../support/endpoint-lab.ts";
import { eventually } from "../support/eventually.ts";
import {
  playControlPlane,
  playedCluster,
  playedKind,
  servePlayedControlPlanes,
} from "../support/played-control-plane.ts";

const namespace = "default";
const third = { host: "third.example.com", port: 8443 };
let own: { stop(): Promise<void> } | undefined;

test.beforeAll(async ({ cluster, core }) => {
  expect(core.output()).not.toBe("");
  await applyEndpointKind(cluster.client);
  await servePlayedControlPlanes(cluster.client);
});
afterEach(async () => {
  await own?.stop();
  own = undefined;
});

const start = async (cluster: ControlPlane) =>
  void (own = await startClusterApi(cluster, { controllers: [createEndpointController], webhooks: [] }));

const endpointOf = ({ name }: NamespacedKey, spec: { host: string; port: number }): ClusterEndpoint => ({
  ...{
    apiVersion: ClusterEndpoint.apiVersion,
    kind: ClusterEndpoint.kind,
    metadata: { namespace, name: `${name}-third` },
  },
  spec: { cluster: name, ...spec, type: "ExternalControlPlaneEndpoint" },
});

const fieldOf = async (client: KubeClient, key: NamespacedKey) =>
  (await client.read(Cluster, key))?.spec.controlPlaneEndpoint;
const own443 = ({ client }: ControlPlane) => {
  const { hostname: host, port } = new URL(client.server);
  return { host, port: Number(port) };
};

/** Core reconciles a Cluster whose metadata changes. */
async function haveCoreLook(client: KubeClient, key: NamespacedKey): Promise<void> {
  const before = (await conditionOf(client, key, "Available"))?.lastTransitionTime;
  await client.patch(refTo(Cluster, key), { metadata: { annotations: { "test/looked": String(Math.random()) } } });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(before).toBeDefined();
}

test("core's copy of a control plane's field becomes an object of the control plane, and a third party's endpoint overrules it", async ({
  cluster,
  core,
}) => {
  const { client } = cluster;
  const key = { namespace, name: "copied" };
  await start(cluster);
  await playControlPlane(cluster, key);
  await client.create(playedCluster(key));
  await eventually(
    async () => expect(await fieldOf(client, key), core.output().slice(-500)).toEqual(own443(cluster)),
    60_000,
  );
  const generated = await eventually(async () => {
    const found = await client.read(ClusterEndpoint, key);
    expect(found?.metadata.ownerReferences).toMatchObject([{ kind: playedKind.kind, name: key.name }]);
    return found as ClusterEndpoint;
  });
  expect(generated.metadata.labels?.["perennial.dev/generated"]).toBe("provider");
  await eventually(async () =>
    expect(await conditionOf(client, key, "perennial.dev/EndpointReady")).toMatchObject({
      status: "True",
      reason: "Answers",
    }),
  );
  const made = await client.create(endpointOf(key, third));
  await eventually(async () => expect(await fieldOf(client, key)).toEqual(third));
  await haveCoreLook(client, key);
  expect(await fieldOf(client, key)).toEqual(third);
  await client.patch(refOf(made), { spec: { port: 9443 } });
  await eventually(async () => expect(await fieldOf(client, key)).toEqual({ ...third, port: 9443 }));
});

test("an endpoint that comes before the control plane is initialized surfaces at once, and core leaves it", async ({
  cluster,
}) => {
  const { client } = cluster;
  const key = { namespace, name: "early" };
  await start(cluster);
  await client.create(playedCluster(key));
  await client.create(endpointOf(key, third));
  await eventually(async () => expect(await fieldOf(client, key)).toEqual(third));
  await playControlPlane(cluster, key);
  await eventually(async () => {
    const { status } = (await client.read(Cluster, key)) ?? {};
    expect(status?.initialization?.controlPlaneInitialized).toBe(true);
  }, 60_000);
  expect(await fieldOf(client, key)).toEqual(third);
});

test("a gate on EndpointReady holds a Cluster's Available until its endpoint serves", async ({ cluster, core }) => {
  const { client } = cluster;
  const key = { namespace, name: "gated" };
  await start(cluster);
  await playControlPlane(cluster, key);
  const made = playedCluster(key);
  const gated = {
    ...made,
    spec: { ...made.spec, availabilityGates: [{ conditionType: "perennial.dev/EndpointReady" }] },
  };
  await client.create(gated);
  await client.create(endpointOf(key, { host: "127.0.0.1", port: 1 }));
  await eventually(async () => {
    expect(await conditionOf(client, key, "perennial.dev/EndpointReady")).toMatchObject({
      reason: "ConnectionRefused",
    });
    const available = await conditionOf(client, key, "Available");
    expect(available?.message, core.output().slice(-500)).toContain("perennial.dev/EndpointReady");
  }, 60_000);
  await client.patch(refOf(endpointOf(key, third)), { spec: own443(cluster) });
  await eventually(async () => {
    expect(await conditionOf(client, key, "perennial.dev/EndpointReady")).toMatchObject({ status: "True" });
    expect((await conditionOf(client, key, "Available"))?.message ?? "").not.toContain("perennial.dev/EndpointReady");
  }, 60_000);
});

test("endpoints surface while the core manager is dead, and it leaves them when it is back", async ({
  cluster,
  core,
}) => {
  const { client } = cluster;
  const key = { namespace, name: "orphaned" };
  await playControlPlane(cluster, key);
  await client.create(playedCluster(key));
  await eventually(async () => expect(await fieldOf(client, key)).toEqual(own443(cluster)), 60_000);
  await core.kill();
  await start(cluster);
  // Its webhooks are registered and do not answer: a write of the Cluster waits for them.
  await client.create(endpointOf(key, third));
  await core.start();
  await eventually(async () => expect(await fieldOf(client, key)).toEqual(third), 60_000);
  await haveCoreLook(client, key);
  expect(await fieldOf(client, key)).toEqual(third);
});

test("a deleted Cluster takes its endpoints along by their owner, and none is made for it again", async ({
  cluster,
}) => {
  const { client } = cluster;
  const key = { namespace, name: "leaving" };
  await start(cluster);
  await client.create(playedCluster(key));
  const made: KubeObject = await client.create(endpointOf(key, third));
  await eventually(async () =>
    expect((await client.read(refOf(made)))?.metadata.ownerReferences).toMatchObject([
      { kind: "Cluster", name: key.name },
    ]),
  );
  await client.remove(refTo(Cluster, key));
  await eventually(async () => expect(await client.read(Cluster, key)).toBeUndefined(), 60_000);
  await client.remove(refOf(made)); // no garbage collector runs here
  await eventually(async () => expect(await client.read(refOf(made))).toBeUndefined());
  expect(await client.read(ClusterEndpoint, key)).toBeUndefined();
});
