import { afterAll, expect } from "vitest";
import { Cluster, EndpointRecord, Machine } from "../../src/api/cluster-api/index.ts";
import { DNSRecord } from "../../src/api/index.ts";
import { findCondition } from "../../src/cluster-api/objects/conditions.ts";
import { createEndpointController } from "../../src/cluster-api/endpoint/controller.ts";
import { createEndpointRecordController } from "../../src/cluster-api/endpoint-record/controller.ts";
import { parseKubeconfig, renderKubeconfig, Secret, typeMeta, define } from "../../src/kube/index.ts";
import { readManifest } from "../../src/manifests.ts";
import { clusterApiTest as test, startClusterApi } from "../support/cluster-api.ts";
import { applyEndpointKind } from "../support/endpoint-lab.ts";
import { recordOf } from "../support/endpoint-record-lab.ts";
import { eventually } from "../support/eventually.ts";
import { playControlPlane, playedCluster, servePlayedControlPlanes } from "../support/played-control-plane.ts";
import { playMachine, servePlayedMachines } from "../support/played-machines.ts";

const key = { namespace: "default", name: "named" };
const host = "named.perennial.test";
let own: { stop(): Promise<void> } | undefined;

afterAll(async () => await own?.stop());

test("a name is a Cluster's endpoint before core knows a Machine, and then leads to the Machine that serves", async ({
  cluster,
  core,
}) => {
  const { client } = cluster;
  await applyEndpointKind(client);
  await define(client, await readManifest("crds/extensions.gardener.cloud_dnsrecords.yaml"));
  await servePlayedControlPlanes(client);
  await servePlayedMachines(client);
  own = await startClusterApi(cluster, {
    controllers: [createEndpointController, createEndpointRecordController],
    webhooks: [],
  });
  // The management cluster's own API server stands for the Cluster's; it has a certificate for localhost.
  const port = Number(new URL(client.server).port);
  const authority = parseKubeconfig(cluster.kubeconfig).cluster["certificate-authority-data"];
  const ca = Buffer.from(String(authority), "base64").toString();
  const kubeconfig = renderKubeconfig({
    ...{ server: `https://${host}:${port}`, ca, token: "none", tlsServerName: "localhost" },
  });
  await playControlPlane({ ...cluster, kubeconfig }, key);
  await client.apply({ ...typeMeta(Secret), metadata: { ...key, name: "dns" }, data: {} });
  await client.create(playedCluster(key));
  await client.create(recordOf(key, { port }));
  await eventually(async () =>
    expect((await client.read(Cluster, key))?.spec.controlPlaneEndpoint).toEqual({ host, port }),
  );
  expect(await client.list(Machine, { namespace: key.namespace })).toEqual([]);
  await playMachine(client, key, { name: "dead", address: "127.0.0.9" });
  await playMachine(client, key, { name: "serving", address: "127.0.0.1" });
  await eventually(async () => {
    const record = await client.read(DNSRecord, key);
    expect(record?.spec, core.output().slice(-500)).toMatchObject({ class: "garden", values: ["127.0.0.1"] });
  }, 60_000);
  await eventually(async () => {
    const { status } = (await client.read(EndpointRecord, key)) ?? {};
    expect(findCondition(status?.conditions, "Serving")).toMatchObject({ status: "True", reason: "SomeServe" });
  }, 60_000); // core may tell of the dead machine's address last
});
