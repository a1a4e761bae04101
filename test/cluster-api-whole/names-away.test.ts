import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import { Cluster, ClusterEndpoint, clusterKubeconfigName } from "../../src/api/cluster-api/index.ts";
import { createEndpointController } from "../../src/cluster-api/endpoint/controller.ts";
import { probeEndpoint } from "../../src/cluster-api/endpoint/probe.ts";
import {
  Namespace,
  parseKubeconfig,
  renderKubeconfig,
  Secret,
  typeMeta,
  type KubeClient,
} from "../../src/kube/index.ts";
import { clusterOf } from "../support/cluster-api-objects.ts";
import { clusterApiTest as test, startClusterApi } from "../support/cluster-api.ts";
import { eventually } from "../support/eventually.ts";
import { startNameServer } from "../support/name-server.ts";
import { endpointOf, lookupBy, saidOf } from "../support/outages.ts";

const namespace = "garden-dev";

test("while no name server answers for a minute, an endpoint says since when, and neither it nor its Cluster nor the kubeconfig changes", async ({
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
    const before = await constants(client);
    const killed = Math.floor(Date.now() / 1_000) * 1_000;
    await names.kill();
    const end = Date.now() + 60_000;
    const gone = await eventually(async () => {
      const found = await serving();
      return found?.reason === "NameNotFound" && found;
    }, 30_000);
    expect(Date.parse(gone.lastTransitionTime)).toBeGreaterThanOrEqual(killed);
    while (Date.now() < end) {
      await setTimeout(2_000);
      expect(await serving(), "since when stays").toEqual(gone);
      expect(await constants(client)).toEqual(before);
    }
    await names.restart();
    await eventually(async () => expect(await serving()).toMatchObject({ status: "True" }), 60_000);
    expect(await constants(client)).toEqual(before);
  } finally {
    await own.stop();
    await names.stop();
  }
});

/** What no outage changes: where the Cluster is, and how it is reached. */
async function constants(client: KubeClient): Promise<unknown> {
  const endpoint = await client.read(ClusterEndpoint, endpointOf("named"));
  const secret = await client.read(Secret, { namespace, name: clusterKubeconfigName("named") });
  return {
    cluster: (await client.read(Cluster, { namespace, name: "named" }))?.spec.controlPlaneEndpoint,
    endpoint: [endpoint?.metadata.uid, endpoint?.spec],
    kubeconfig: [secret?.metadata.uid, secret?.metadata.resourceVersion],
  };
}
