import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import { Cluster, ClusterEndpoint, clusterKubeconfigName } from "../../src/api/cluster-api/index.ts";
import { createEndpointController } from "../../src/cluster-api/endpoint/controller.ts";
import { probeEndpoint } from "../../src/cluster-api/endpoint/probe.ts";
import { Namespace, parseKubeconfig, renderKubeconfig, Secret, typeMeta } from "../../src/kube/index.ts";
import { clusterOf } from "../support/cluster-api-objects.ts";
import { clusterApiTest as test, startClusterApi } from "../support/cluster-api.ts";
import { eventually } from "../support/eventually.ts";
import { startNameServer } from "../support/name-server.ts";
import { endpointOf, lookupBy, saidOf } from "../support/outages.ts";

const namespace = "garden-dev";

test("while no name server answers, an endpoint says since when its name is not found, and stays the Cluster's", async ({
  cluster,
  core,
}) => {
  expect(core.output()).not.toBe("");
  const { client, tokenKubeconfig } = cluster;
  await client.apply({ ...typeMeta(Namespace), metadata: { name: namespace } });
  const names = await startNameServer();
  const own = await startClusterApi(cluster, {
    controllers: [
      (deps) =>
        createEndpointController(deps, {
          period: 1_000,
          probe: (endpoint, trust) =>
            probeEndpoint(endpoint, trust, { timeout: 2_000, lookup: lookupBy(names.endpoint) }),
        }),
    ],
    webhooks: [],
  });
  try {
    await names.update(`add api.perennial.test 1 A 127.0.0.1`);
    const at = { host: "api.perennial.test", port: Number(new URL(client.server).port) };
    const { cluster: known, user } = parseKubeconfig(tokenKubeconfig);
    const ca = known["certificate-authority-data"];
    const kubeconfig = renderKubeconfig({
      server: `https://${at.host}:${at.port}`,
      ca: Buffer.from(String(ca), "base64").toString(),
      token: String(user["token"]),
      tlsServerName: "localhost",
    });
    await client.create<Secret>({
      ...typeMeta(Secret),
      metadata: { namespace, name: clusterKubeconfigName("named") },
      type: "cluster.x-k8s.io/secret",
      data: { value: Buffer.from(kubeconfig).toString("base64") },
    });
    await client.create(clusterOf("named"));
    const spec = { cluster: "named", ...at, type: "ExternalControlPlaneEndpoint" as const };
    await client.create({ ...typeMeta(ClusterEndpoint), metadata: endpointOf("named"), spec });
    const serving = () => saidOf(client, ClusterEndpoint, endpointOf("named"), "Serving");
    await eventually(async () => expect(await serving()).toMatchObject({ status: "True" }), 60_000);
    await names.kill();
    const gone = await eventually(async () => {
      const found = await serving();
      return found?.reason === "NameNotFound" && found;
    }, 60_000);
    await setTimeout(3_000); // some more probes
    expect(await serving(), "since when stays").toMatchObject({
      status: "False",
      lastTransitionTime: gone.lastTransitionTime,
    });
    expect((await client.read(Cluster, { namespace, name: "named" }))?.spec.controlPlaneEndpoint).toEqual(at);
    await names.restart();
    await eventually(async () => expect(await serving()).toMatchObject({ status: "True" }), 60_000);
  } finally {
    await own.stop();
    await names.stop();
  }
});
