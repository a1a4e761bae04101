import { expect } from "vitest";
import { clusterRef, readGardenObjects, syncCluster } from "../../src/activities/control-plane/cluster.ts";
import { Shoot } from "../../src/api/index.ts";
import { refTo } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";

test("extensions read the Shoot with its status, and with defaults that the Shoot itself has not", async ({
  cluster,
}) => {
  const { client } = cluster;
  await applyGarden(client);
  const run = await createShoot(client, "defaulted");
  const ref = refTo(Shoot, { namespace: run.namespace, name: run.name });
  const status = {
    lastOperation: {
      type: "Delete",
      state: "Failed",
      progress: 3,
      lastUpdateTime: "2026-01-01T00:00:00Z",
      description: "",
    },
  };
  await client.patch(ref, { status }, { subresource: "status" });

  await syncCluster(client, run, await readGardenObjects(client, run));

  const { spec } = (await client.read(clusterRef(run))) ?? {};
  expect(spec?.shoot).toMatchObject({
    metadata: { name: run.name, uid: run.uid },
    spec: {
      kubernetes: { kubeAPIServer: { eventTTL: "1h" } },
      maintenance: { autoUpdate: { kubernetesVersion: false } },
    },
    status,
  });
  expect(spec?.shoot.metadata).not.toHaveProperty("managedFields");
  expect((await client.read(ref))?.spec.kubernetes).not.toHaveProperty("kubeAPIServer");
});
