import { expect } from "vitest";
import { BackupBucket, Shoot, type KubeObject } from "../../src/api/index.ts";
import { refOf, refTo, type KubeClient } from "../../src/kube/index.ts";
import { admissionTest as test } from "../support/admission-lab.ts";
import { exampleObjects } from "../support/examples.ts";

const core = "core.gardener.cloud/v1beta1";
const namespace = "garden-dev";
let client: KubeClient;

test.beforeAll(({ admissionLab }) => void (client = admissionLab.client));

test("a bucket stays while there are backups in it", async () => {
  const bucket = { apiVersion: core, kind: "BackupBucket", metadata: { name: "full" } };
  const entry = { apiVersion: core, kind: "BackupEntry", metadata: { name: "kept", namespace } };
  await client.apply({ ...bucket, spec: { provider: { type: "local", region: "local" } } });
  await client.apply({ ...entry, spec: { bucketName: "full" } });
  await expect(client.remove(refOf(bucket))).rejects.toThrow("holds backups of garden-dev/kept");
  await expect(client.removeAll(BackupBucket, {})).rejects.toThrow("holds backups of garden-dev/kept");
  await client.remove(refOf(entry));
  await client.remove(refOf(bucket));
});

test("what a Shoot lives by stays while it lives, and goes with it", async () => {
  const { metadata } = await client.create<Shoot>(await shoot("lived-by"));
  const { uid = "", name } = metadata;
  const entry = {
    ...{ apiVersion: core, kind: "BackupEntry" },
    metadata: { name: `shoot--dev--lived-by--${uid}`, namespace },
    spec: { bucketName: "none" },
  };
  const record: KubeObject = {
    ...{ apiVersion: "extensions.gardener.cloud/v1alpha1", kind: "DNSRecord" },
    metadata: {
      ...{ name: `${name}-leadership`, namespace },
      ownerReferences: [{ apiVersion: core, kind: "Shoot", name, uid }],
    },
    spec: { type: "local", name: "a.example.com", recordType: "TXT", values: ["a"], secretRef: { name: "a" } },
  };
  const earlier = {
    ...entry,
    metadata: { ...entry.metadata, name: "shoot--dev--lived-by--e1b1e8f0-0000-4000-8000-000000000000" },
  };
  for (const object of [entry, record, earlier]) await client.apply(object);
  const refusal = `Shoot ${namespace}/lived-by lives by the object: delete the Shoot, with which it goes`;
  for (const object of [entry, record]) await expect(client.remove(refOf(object))).rejects.toThrow(refusal);
  await client.remove(refOf(earlier));
  await client.patch(refTo(Shoot, metadata), {
    metadata: { annotations: { "confirmation.gardener.cloud/deletion": "true" }, finalizers: ["gardener"] },
  });
  await client.remove(refTo(Shoot, metadata));
  for (const object of [entry, record]) await client.remove(refOf(object));
  await client.patch(refTo(Shoot, metadata), { metadata: { finalizers: [] } });
});

async function shoot(name: string): Promise<Shoot> {
  const example = (await exampleObjects()).find(({ kind }) => kind === "Shoot") as Shoot;
  return { ...example, metadata: { name, namespace }, spec: { ...example.spec, dns: undefined } };
}
