import { expect } from "vitest";
import { Cluster, ClusterEndpoint } from "../../src/api/cluster-api/index.ts";
import { Event, Namespace, refTo, typeMeta, type NamespacedKey } from "../../src/kube/index.ts";
import { clusterApiTest } from "../support/cluster-api.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { applyEndpointKind } from "../support/endpoint-lab.ts";
import { serveProvider, startCounted, tryHistory } from "../support/endpoint-trial.ts";
import { eventually } from "../support/eventually.ts";
import { createOwnProcess, type OwnProcess } from "../support/own-process.ts";
import { playControlPlane, playedCluster, servePlayedControlPlanes } from "../support/played-control-plane.ts";

const namespace = "default";
const third = { host: "third.example.com", port: 8443 };
const other = { host: "other.example.com", port: 443 };

const test = clusterApiTest.extend("served", { scope: "file" }, async ({ cluster, core }) => {
  expect(core.output()).not.toBe("");
  await applyEndpointKind(cluster.client);
  await servePlayedControlPlanes(cluster.client);
  await cluster.client.apply({ ...typeMeta(Namespace), metadata: { name: "perennial" } });
  return cluster;
});

/** Process `cluster-api` as it is started everywhere, without webhooks. */
const processOf = ({ kubeconfigFile }: ControlPlane, env: Record<string, string> = {}): OwnProcess =>
  createOwnProcess({ folder: "cluster-api", env: { PERENNIAL_GARDEN_KUBECONFIG: kubeconfigFile, ...env } });

const endpointOf = ({ name }: NamespacedKey, value: typeof third): ClusterEndpoint => ({
  ...{ apiVersion: ClusterEndpoint.apiVersion, kind: ClusterEndpoint.kind },
  metadata: { namespace, name: `${name}-third` },
  spec: { cluster: name, ...value, type: "ExternalControlPlaneEndpoint" },
});

const leads = (one: OwnProcess) => one.output().includes('"leading"');

test("of two processes one leads; when it is killed the other takes over, and puts a foreign edit right with an Event", async ({
  served: cluster,
}) => {
  const { client } = cluster;
  const key = { namespace, name: "led" };
  const thirdRef = refTo(ClusterEndpoint, { namespace, name: "led-third" });
  const fieldIs = (value: object) =>
    eventually(async () => expect((await client.read(Cluster, key))?.spec.controlPlaneEndpoint).toEqual(value), 60_000);
  const generation = async () => (await client.read(Cluster, key))?.metadata.generation ?? 0;
  const [first, second] = [processOf(cluster), processOf(cluster)];
  try {
    await first.start();
    await eventually(() => leads(first));
    await second.start();
    await playControlPlane(cluster, key);
    await client.create(playedCluster(key));
    await client.create(endpointOf(key, third));
    await fieldIs(third);
    await first.kill();
    expect(leads(second)).toBe(false);
    await client.patch(thirdRef, { spec: other });
    await eventually(() => leads(second), 60_000);
    await fieldIs(other);
    await eventually(async () =>
      expect((await client.read(thirdRef))?.status?.conditions).toContainEqual(
        expect.objectContaining({ type: "Surfaced", status: "True", observedGeneration: 2 }),
      ),
    );
    const before = await generation();
    const edit = { spec: { controlPlaneEndpoint: third } };
    await client.patch(refTo(Cluster, key), edit, { fieldManager: "gitops" });
    await fieldIs(other);
    const told = await eventually(async () => {
      const all = (await client.list(Event, { namespace })).filter((event) => event["reason"] === "EndpointPutRight");
      return all.length > 0 && all.map((event) => event["note"]);
    });
    expect(told).toEqual([expect.stringContaining("field manager gitops had changed")]);
    expect(await generation()).toBe(before + 2);
  } finally {
    await Promise.all([first.kill(), second.kill()]);
  }
});

test("a process that is told to generate no endpoints leaves Clusters without one, and surfaces those of others", async ({
  served: cluster,
}) => {
  const { client } = cluster;
  const keyOf = (name: string): NamespacedKey => ({ namespace, name });
  const withField = (key: NamespacedKey): Cluster => {
    const made = playedCluster(key);
    return { ...made, spec: { ...made.spec, controlPlaneEndpoint: other } };
  };
  const [bare, given] = [keyOf("bare"), keyOf("given")];
  const own = processOf(cluster, { PERENNIAL_GENERATE_CLUSTER_ENDPOINTS: "false" });
  await own.start();
  try {
    await client.create(withField(bare));
    await client.create(withField(given));
    await client.create(endpointOf(given, third));
    await eventually(
      async () => expect((await client.read(Cluster, given))?.spec.controlPlaneEndpoint).toEqual(third),
      60_000,
    );
    expect((await client.read(Cluster, bare))?.spec.controlPlaneEndpoint).toEqual(other);
    const made = (await client.list(ClusterEndpoint, { namespace })).filter(({ spec }) => spec.cluster === "bare");
    expect(made).toEqual([]);
  } finally {
    await own.kill();
  }
});

test("histories end the same while the core manager is killed in their middle", async ({ served: cluster, core }) => {
  await serveProvider(cluster);
  const own = startCounted(cluster);
  try {
    const all = Promise.all([101, 102, 103, 104].map((seed) => tryHistory(cluster, own, seed)));
    for (let times = 0; times < 3; times++) {
      await core.kill();
      await core.start();
    }
    await all;
  } finally {
    await own.stop();
  }
});
