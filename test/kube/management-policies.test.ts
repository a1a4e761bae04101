import { execa } from "execa";
import { afterAll, expect } from "vitest";
import { DNSRecord } from "../../src/api/index.ts";
import { PROJECT_NAMESPACE_ANNOTATION } from "../../src/api/annotations.ts";
import { Namespace, refTo, Secret, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { findBinary } from "../support/binary.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import { applyEndpointKind } from "../support/endpoint-lab.ts";
import { eventually } from "../support/eventually.ts";
import { startTenant } from "../support/tenant.ts";

/* A tenant of a management cluster, who has all rights in a Namespace, and none elsewhere. */
const own = "tenant-a";
let client: KubeClient;
let tenant: KubeClient;

test.beforeAll(async ({ cluster }) => {
  ({ client } = cluster);
  for (const name of [own, "tenant-b"]) await client.apply({ ...typeMeta(Namespace), metadata: { name } });
  for (const namespace of [own, "tenant-b"])
    await client.apply({ ...typeMeta(Secret), metadata: { name: "dns", namespace }, data: {} });
  await applyEndpointKind(client);
  tenant = await startTenant(cluster, { namespace: own, name: "tenant" });
});
afterAll(async () => await tenant.close());

const projectIs = (project: string | null) => ({
  metadata: { annotations: { [PROJECT_NAMESPACE_ANNOTATION]: project } },
});
const namespace = refTo(Namespace, { name: own });

test("a tenant does not say which project the own Namespace may use, nor that it may use none any more", async ({
  cluster: { kubeconfigFile },
}) => {
  await eventually(async () => {
    await client.patch(namespace, projectIs(null)); // what was taken before the policy was known is no change any more
    await expect(tenant.patch(namespace, projectIs("garden-dev"))).rejects.toThrow(
      "says which project Clusters of the",
    );
  });
  await client.patch(namespace, projectIs("garden-own"));
  for (const project of ["garden-dev", null])
    await expect(tenant.patch(namespace, projectIs(project))).rejects.toThrow("says which project Clusters of the");
  await expect(tenant.patch(namespace, projectIs("garden-dev"), { subresource: "status" })).rejects.toThrow(
    "says which project Clusters of the",
  );
  await expect(finalize(kubeconfigFile, projectIs("garden-dev").metadata)).rejects.toThrow(
    "says which project Clusters of the",
  );
  await finalize(kubeconfigFile, {});
  await tenant.patch(namespace, { metadata: { labels: { team: "a" } } });
});

/** Writes the finalizers of the tenant's Namespace, which it may, and other metadata with them. */
async function finalize(kubeconfig: string, metadata: object): Promise<void> {
  const found = await tenant.read(namespace);
  const path = `/api/v1/namespaces/${own}/finalize`;
  const words = ["--kubeconfig", kubeconfig, "--as", `system:serviceaccount:${own}:tenant`, "replace", "--raw", path];
  const input = JSON.stringify({ ...found, metadata: { ...found?.metadata, ...metadata } });
  await execa(await findBinary("kubectl"), [...words, "-f", "-"], { input });
}

const record = (name: string, secretRef: DNSRecord["spec"]["secretRef"]): DNSRecord => ({
  ...typeMeta(DNSRecord),
  metadata: { name, namespace: own },
  spec: {
    type: "rfc2136",
    class: "garden",
    name: "api.example.com",
    recordType: "A",
    values: ["192.0.2.1"],
    secretRef,
  },
});

test("a tenant's DNSRecord names no Secret of another Namespace, and so is not written with its credentials", async () => {
  await eventually(async () => {
    await expect(
      tenant.create(record("stolen", { name: "dns", namespace: "tenant-b" }), { dryRun: true }),
    ).rejects.toThrow("spec.secretRef: you may not read Secret tenant-b/dns: name one of namespace tenant-a");
  });
  await tenant.create(record("own", { name: "dns", namespace: own }));
  const spec = { secretRef: { name: "dns", namespace: "tenant-b" } };
  await expect(tenant.patch(refTo(DNSRecord, { namespace: own, name: "own" }), { spec })).rejects.toThrow(
    "you may not read Secret tenant-b/dns",
  );
  await client.create(record("of-an-administrator", { name: "dns", namespace: "tenant-b" }));
  const annotations = { note: "unchanged" };
  const foreign = refTo(DNSRecord, { namespace: own, name: "of-an-administrator" });
  await tenant.patch(foreign, { metadata: { annotations } });
  await expect(tenant.patch(foreign, { spec: { values: ["192.0.2.9"] } })).rejects.toThrow(
    "you may not read Secret tenant-b/dns",
  );
});
