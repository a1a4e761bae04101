import { expect } from "vitest";
import { Cluster, ClusterEndpoint } from "../../src/api/cluster-api/index.ts";
import { DNSRecord, Shoot } from "../../src/api/index.ts";
import { Namespace, parseKubeconfig, renderKubeconfig, Secret, typeMeta } from "../../src/kube/index.ts";
import { clusterApiTest as test, startClusterApi } from "../support/cluster-api.ts";
import { conditionsOf } from "../support/cluster-conditions.ts";
import { clusterOf, controlPlaneOf } from "../support/cluster-api-objects.ts";
import { applyCrds } from "../support/crds.ts";
import { recordOf } from "../support/endpoint-record-lab.ts";
import { eventually } from "../support/eventually.ts";
import { playControlPlane, playedCluster, servePlayedControlPlanes } from "../support/played-control-plane.ts";
import { playMachine, servePlayedMachines } from "../support/played-machines.ts";
import { advertise, finish } from "../support/played-shoot.ts";

const namespace = "garden-dev";

test("one management cluster keeps a Cluster that is a Shoot beside one of machines: each gets an endpoint of its own", async ({
  cluster,
  core,
}) => {
  const { client } = cluster;
  const [managed, unmanaged] = ["managed", "unmanaged"].map((name) => ({ namespace, name })) as [Key, Key];
  await applyCrds(client);
  await servePlayedControlPlanes(client);
  await servePlayedMachines(client);
  await client.apply({ ...typeMeta(Namespace), metadata: { name: namespace } });
  const own = await startClusterApi(cluster);
  try {
    await client.create(controlPlaneOf("managed", { workerless: true }));
    await client.create(clusterOf("managed"));
    // The management cluster's own API server stands for that of the machines, by another name.
    const server = new URL(client.server);
    const record = recordOf(unmanaged, { port: Number(server.port) });
    const ca = Buffer.from(String(parseKubeconfig(cluster.kubeconfig).cluster["certificate-authority-data"]), "base64");
    const text = renderKubeconfig({
      ...{ server: `https://${record.spec.name}:${server.port}`, ca: ca.toString(), token: "none" },
      tlsServerName: "localhost",
    });
    await playControlPlane({ ...cluster, kubeconfig: text }, unmanaged);
    await client.apply({ ...typeMeta(Secret), metadata: { ...unmanaged, name: "dns" }, data: {} });
    await client.create(playedCluster(unmanaged));
    await client.create(record);
    await playMachine(client, unmanaged, { name: "machine", address: "127.0.0.1" });

    await eventually(async () => expect(await client.read(Shoot, managed)).toBeDefined(), 60_000);
    await advertise(client, managed, client.server);
    await finish(cluster, managed);
    await eventually(async () => {
      const said = await conditionsOf(client, managed);
      expect(said["Available"], core.output().slice(-500)).toEqual(["True", "Available"]);
      expect((await client.read(DNSRecord, unmanaged))?.spec).toMatchObject({ values: ["127.0.0.1"] });
    }, 60_000);
    const endpoints = (await client.list(ClusterEndpoint, { namespace })).map(({ metadata, spec }) => ({
      ...{ name: metadata.name, cluster: spec.cluster, host: spec.host },
    }));
    expect(endpoints).toEqual([
      { name: "managed-control-plane", cluster: "managed", host: server.hostname },
      { name: "unmanaged", cluster: "unmanaged", host: record.spec.name },
    ]);
    expect((await client.read(Cluster, managed))?.spec.controlPlaneEndpoint?.host).toBe(server.hostname);
    expect((await client.read(Cluster, unmanaged))?.spec.controlPlaneEndpoint?.host).toBe(record.spec.name);
    expect((await client.list(Shoot)).map(({ metadata }) => metadata.name)).toEqual(["managed"]);
  } finally {
    await own.stop();
  }
});

interface Key {
  readonly namespace: string;
  readonly name: string;
}
