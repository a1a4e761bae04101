import { expect, it } from "vitest";
import { readCoreObjects } from "../../src/local/cluster-api/core-objects.ts";

it("what the core manager's module publishes is named, labelled and addressed for an environment", async () => {
  const { definitions, rights, inventory, webhooks } = await readCoreObjects();
  expect(definitions.map(({ metadata: { name } }) => name)).toEqual(
    expect.arrayContaining([
      "clusters.cluster.x-k8s.io",
      "machinepools.cluster.x-k8s.io",
      "providers.clusterctl.cluster.x-k8s.io",
    ]),
  );
  expect(definitions.filter(({ metadata }) => metadata.labels?.["clusterctl.cluster.x-k8s.io"] === undefined)).toEqual(
    [],
  );
  expect(rights).toContainEqual(
    expect.objectContaining({
      kind: "ClusterRoleBinding",
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "capi-manager-role" },
      subjects: [{ kind: "ServiceAccount", name: "capi-manager", namespace: "capi-system" }],
    }),
  );
  expect(inventory).toMatchObject({ type: "CoreProvider", version: "v1.14.2" });
  const addressed = webhooks({ url: "https://10.1.2.3:9443", caBundle: "PEM" });
  expect(addressed.map(({ kind }) => kind)).toEqual(["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]);
  expect(JSON.stringify(addressed)).not.toContain('"service"');
  expect(JSON.stringify(addressed)).toContain("https://10.1.2.3:9443/validate-cluster-x-k8s-io-v1beta2-cluster");
});
