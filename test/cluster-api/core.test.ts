import { expect } from "vitest";
import { Cluster } from "../../src/api/cluster-api/index.ts";
import { clusterApiTest as test } from "../support/cluster-api.ts";
import { eventually } from "../support/eventually.ts";
import { playControlPlane, playedCluster, servePlayedControlPlanes } from "../support/played-control-plane.ts";

const key = { namespace: "default", name: "judged" };

test("core's own webhooks judge a Cluster, and core brings an admitted one up", async ({ cluster, core }) => {
  const { client } = cluster;
  await servePlayedControlPlanes(client);
  const empty = { ...playedCluster(key), spec: { paused: true } };
  await expect(client.create(empty)).rejects.toThrow(/at least one of|must be set/);
  await playControlPlane(cluster, key);
  await client.create(playedCluster(key));
  await eventually(async () => {
    const { status, spec } = (await client.read(Cluster, key)) ?? {};
    expect(status?.phase, core.output().slice(-500)).toBe("Provisioned");
    expect(spec?.controlPlaneEndpoint?.host).toBe("127.0.0.1");
  }, 60_000);
});
