import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { upstreamCrdFiles } from "../../../scripts/upstream-crds.ts";
import { applyUpstreamCrds } from "../../../src/local/cluster/manifests.ts";
import { ownClusterTest } from "../../support/cluster-test.ts";
import { eventually } from "../../support/eventually.ts";

const test = ownClusterTest();

test("the definitions of others in deploy/seed/crds are those that their modules publish", async () => {
  const files = await upstreamCrdFiles();
  for (const [name, content] of files) {
    const kept = await readFile(new URL(`../../../deploy/seed/crds/${name}`, import.meta.url), "utf8");
    expect(kept, `${name}: run npm run generate:upstream`).toBe(content);
  }
});

test("a seed's API server serves the kinds that extensions look for when they start", async ({ cluster }) => {
  await applyUpstreamCrds(cluster.client);
  const served = async () => (await cluster.client.types()).map(({ apiVersion, kind }) => `${apiVersion}/${kind}`);
  // A definition is established a moment before the API server lists its kind.
  await eventually(async () =>
    expect(await served()).toEqual(
      expect.arrayContaining([
        "resources.gardener.cloud/v1alpha1/ManagedResource",
        "autoscaling.k8s.io/v1/VerticalPodAutoscaler",
        "autoscaling.gardener.cloud/v1alpha1/PersistentVolumeClaimAutoscaler",
        "druid.gardener.cloud/v1alpha1/Etcd",
        "machine.sapcloud.io/v1alpha1/MachineDeployment",
        "monitoring.coreos.com/v1/Prometheus",
        "monitoring.coreos.com/v1alpha1/ScrapeConfig",
        "cert.gardener.cloud/v1alpha1/Certificate",
      ]),
    ),
  );
});
