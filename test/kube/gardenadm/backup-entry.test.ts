import { afterAll, afterEach, expect } from "vitest";
import { ExtensionBackupBucket, ExtensionBackupEntry } from "../../../src/api/index.ts";
import { createExtensionController } from "../../../src/extension/index.ts";
import { deployBackupEntry, providedAccess } from "../../../src/gardenadm/reconcile/backup-entry.ts";
import { refTo, Secret, type KubeClient } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { test } from "../../support/cluster-test.ts";
import { backedUpOnNodes } from "../../support/self-hosted-control-plane.ts";

/** An extension of a vendor that makes buckets, and answers with credentials of its own for each. */
const log = createLogger({ name: "test", level: "silent" });
const scope = { signal: new AbortController().signal, tell: () => {} };
const uid = "5d8f8d8e-0000-4000-8000-000000000001";
const entryName = `kube-system--${uid}`;
const context = backedUpOnNodes({ provider: "s3", region: "eu", credentialsRef: { kind: "Secret", name: "store" } });
let client: KubeClient;
let answersWith: "nothing" | "credentials" = "nothing";
let parts: { stop(): Promise<void> }[] = [];

test.beforeAll(async ({ cluster }) => {
  client = cluster.client;
  const nothing = async () => undefined;
  const bucket = createExtensionController<"BackupBucket">({
    ...{ client, log, kind: "BackupBucket", type: "s3" },
    actuator: {
      reconcile: async ({ metadata: { name } }) => {
        if (answersWith === "nothing") return { status: { providerStatus: { made: name } } };
        const made = `generated-bucket-${name}`;
        await client.apply(secretOf("garden", made, { accessKeyID: "generated" }));
        return { status: { generatedSecretRef: { namespace: "garden", name: made } } };
      },
      ...{ restore: nothing, migrate: nothing, delete: nothing },
    },
  });
  const entry = createExtensionController<"BackupEntry">({
    ...{ client, log, kind: "BackupEntry", type: "s3" },
    actuator: {
      reconcile: async ({ spec }) => {
        const found = await client.read(Secret, { namespace: "garden", name: spec.secretRef.name ?? "" });
        const key = Buffer.from(found?.data?.["accessKeyID"] ?? "", "base64").toString();
        await client.apply(secretOf("kube-system", "etcd-backup", { accessKeyID: key, bucketName: spec.bucketName }));
        return {};
      },
      ...{ restore: nothing, migrate: nothing, delete: nothing },
    },
  });
  for (const part of [bucket, entry]) part.start();
  await Promise.all([bucket, entry].map(async (part) => await part.synced()));
  parts = [bucket, entry];
});

afterAll(async () => void (await Promise.all(parts.map(async (part) => await part.stop()))));

afterEach(async () => {
  answersWith = "nothing";
  await client.remove(refTo(Secret, { namespace: "kube-system", name: "etcd-backup" }));
});

test("a bucket is made under the Shoot's uid, then the Shoot's part of it, and pods get what its controller leaves for them", async () => {
  await deploy({ accessKeyID: "operator" });
  expect((await client.read(ExtensionBackupBucket, { name: uid }))?.spec).toMatchObject({ type: "s3", region: "eu" });
  expect((await client.read(ExtensionBackupEntry, { name: entryName }))?.spec).toMatchObject({
    ...{ type: "s3", region: "eu", bucketName: uid, backupBucketProviderStatus: { made: uid } },
  });
  expect(await providedAccess(client, context)).toEqual({
    provider: "s3",
    secret: { accessKeyID: "operator", bucketName: uid },
  });
});

test("the bucket that the operator's Secret names is asked for, with the credentials that came with it", async () => {
  answersWith = "credentials";
  await deploy({ accessKeyID: "operator", bucketName: "mine" });
  expect((await providedAccess(client, context)).secret).toEqual({ accessKeyID: "generated", bucketName: "mine" });
});

test("given again, no object is written", async () => {
  await deploy({ accessKeyID: "operator", bucketName: "again" });
  const versions = async () =>
    (
      await Promise.all([
        client.read(ExtensionBackupBucket, { name: "again" }),
        client.read(ExtensionBackupEntry, { name: entryName }),
      ])
    ).map((object) => object?.metadata.resourceVersion);
  const before = await versions();
  await deploy({ accessKeyID: "operator", bucketName: "again" });
  expect(await versions()).toEqual(before);
});

test("without what its controller makes, no backup is begun", async () => {
  await expect(providedAccess(client, context)).rejects.toThrow("no Secret kube-system/etcd-backup");
});

async function deploy(credentials: Readonly<Record<string, string>>): Promise<void> {
  const { namespace = "" } = context.shoot.metadata;
  const objects = [secretOf(namespace, "store", credentials)];
  await deployBackupEntry({ client, configuration: { shoot: context.shoot, objects } }, context, scope);
}

function secretOf(namespace: string, name: string, text: Readonly<Record<string, string>>): Secret {
  const entries = Object.entries(text).map(([key, one]) => [key, Buffer.from(one).toString("base64")] as const);
  return { apiVersion: "v1", kind: "Secret", metadata: { namespace, name }, data: Object.fromEntries(entries) };
}
