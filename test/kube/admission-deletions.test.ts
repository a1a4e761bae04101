import { expect } from "vitest";
import { BackupBucket, Shoot, type KubeObject } from "../../src/api/index.ts";
import { refOf, refTo, Secret, type KubeClient } from "../../src/kube/index.ts";
import { admissionTest as test } from "../support/admission-lab.ts";
import { eventually } from "../support/eventually.ts";
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

test("what a Shoot names stays while it names it, and is free then", async () => {
  const own = secretIn(namespace, "pull");
  const others = [secretIn(namespace, "other"), secretIn("default", "pull"), { ...own, kind: "ConfigMap" }];
  const settings: KubeObject = { ...own, kind: "ConfigMap", metadata: { name: "settings", namespace } };
  for (const object of [own, settings, ...others]) await client.apply(object);
  const example = await shoot("naming");
  const [resource, kept] = [own, settings].map(({ apiVersion, kind, metadata: { name } }) => ({
    ...{ name, resourceRef: { apiVersion, kind, name } },
  }));
  const spec = { ...example.spec, resources: [resource, kept] } as Shoot["spec"];
  const { metadata } = await client.create<Shoot>({ ...example, spec });
  const names = (field: string) =>
    `Shoot ${namespace}/naming names the object in ${field}: delete that first, or have it name another`;
  await expect(client.remove(refOf(own))).rejects.toThrow(names("spec.resources[0].resourceRef"));
  await expect(client.remove(refOf(settings))).rejects.toThrow(names("spec.resources[1].resourceRef"));
  for (const other of others) await client.remove(refOf(other));
  await client.patch(refTo(Shoot, metadata), { spec: { resources: [kept] } });
  await eventually(() => client.remove(refOf(own)).then(() => true)); // the version that named it may be the one that is stored
  await removeShoot(metadata);
  await eventually(() => client.remove(refOf(settings)).then(() => true));
});

test("what Seeds name stays, and so do the credentials of leadership records while there is a Shoot", async () => {
  const [backup, dns, spare] = ["backup", "dns", "spare"].map((name) => secretIn("garden", name));
  const domain = refTo(Secret, { namespace: "garden", name: "leadership-domain" });
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "garden" } });
  for (const object of [backup, dns, spare]) if (object) await client.apply(object);
  const { namespace: garden = "", name } = domain;
  await client.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: garden, name, labels: { "gardener.cloud/role": "leadership-domain" } },
  });
  const example = { namespace, name: "local" };
  await eventually(() => expect(client.remove(domain)).rejects.toThrow("the leadership records of 1 Shoot are kept"));
  for (const [object, field] of [
    [backup, "spec.backup.credentialsRef"],
    [dns, "spec.dns.provider.credentialsRef"],
  ] as const)
    await expect(object && client.remove(refOf(object))).rejects.toThrow(
      `Seed seed-1 names the object in ${field}: delete that first, or have it name another`,
    );
  if (spare) await client.remove(refOf(spare));
  await removeShoot(example);
  await eventually(() => client.remove(domain).then(() => true));
});

const secretIn = (where: string, name: string): KubeObject => ({
  ...{ apiVersion: "v1", kind: "Secret" },
  metadata: { name, namespace: where },
});

async function removeShoot(metadata: Pick<Shoot["metadata"], "namespace" | "name">): Promise<void> {
  await client.patch(refTo(Shoot, metadata), {
    metadata: { annotations: { "confirmation.gardener.cloud/deletion": "true" } },
  });
  await client.remove(refTo(Shoot, metadata));
}

async function shoot(name: string): Promise<Shoot> {
  const example = (await exampleObjects()).find(({ kind }) => kind === "Shoot") as Shoot;
  return { ...example, metadata: { name, namespace }, spec: { ...example.spec, dns: undefined } };
}
