import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "vitest";
import { Cluster, ClusterEndpoint } from "../../src/api/cluster-api/index.ts";
import { findBinary } from "../support/binary.ts";
import { clusterApiTest as test, startClusterApi } from "../support/cluster-api.ts";
import { conditionsOf } from "../support/cluster-conditions.ts";
import { eventually } from "../support/eventually.ts";
import { playControlPlane, playedCluster, servePlayedControlPlanes } from "../support/played-control-plane.ts";

const run = promisify(execFile);
const key = { namespace: "default", name: "gated" };
const gate = "perennial.dev/EndpointReady";

test("core counts EndpointReady into a Cluster's Available where a gate says so, and clusterctl shows it", async ({
  cluster,
  core,
}) => {
  const { client } = cluster;
  await servePlayedControlPlanes(client);
  await playControlPlane(cluster, key);
  const own = await startClusterApi(cluster);
  try {
    const made = playedCluster(key);
    await client.create({ ...made, spec: { ...made.spec, availabilityGates: [{ conditionType: gate }] } });
    const third: ClusterEndpoint = {
      ...{ apiVersion: ClusterEndpoint.apiVersion, kind: ClusterEndpoint.kind, metadata: { ...key, name: "third" } },
      spec: { cluster: key.name, host: "127.0.0.1", port: 1, type: "ExternalControlPlaneEndpoint" },
    };
    await client.create(third);
    await eventually(async () => {
      const conditions = await conditionsOf(client, key);
      expect(conditions[gate], core.output().slice(-500)).toEqual(["False", "ConnectionRefused"]);
      expect(conditions["RemoteConnectionProbe"]).toEqual(["True", "ProbeSucceeded"]);
      expect(conditions["Available"], "all but the gate is as it should be").toEqual(["False", "NotAvailable"]);
    }, 60_000);
    const refused = await describe(cluster.kubeconfigFile);
    expect(refused).toMatch(/─Available +False +NotAvailable +\S+ +\* perennial\.dev\/EndpointReady: /);
    expect(refused).toMatch(/─perennial\.dev\/EndpointReady +False +ConnectionRefused /);

    const { hostname: host, port } = new URL(client.server);
    await client.patch({ ...third, ...third.metadata }, { spec: { host, port: Number(port) } });
    await eventually(async () => {
      const conditions = await conditionsOf(client, key);
      expect(conditions[gate]).toEqual(["True", "Answers"]);
      expect(conditions["Available"]).toEqual(["True", "Available"]);
    }, 60_000);
    const shown = await describe(cluster.kubeconfigFile);
    expect(shown).toMatch(/─Available +True +Available /);
    expect(shown).toMatch(/─perennial\.dev\/EndpointReady +True +Answers /);
    expect((await client.read(Cluster, key))?.spec.availabilityGates).toEqual([{ conditionType: gate }]);
  } finally {
    await own.stop();
  }
});

/** The Cluster with all its conditions, as clusterctl shows them. */
async function describe(kubeconfigFile: string): Promise<string> {
  const where = ["--kubeconfig", kubeconfigFile, "--namespace", key.namespace];
  const shown = ["describe", "cluster", key.name, "--show-conditions", "all", ...where];
  return (await run(await findBinary("clusterctl"), shown)).stdout;
}
