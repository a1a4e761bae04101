import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { createEncryptionAtRest } from "../../src/activities/control-plane/encryption.ts";
import { ensureSecrets } from "../../src/activities/secrets/secrets.ts";
import { createStateActivities } from "../../src/activities/state/activities.ts";
import { Shoot } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import type { ControlPlaneContext } from "../../src/components/index.ts";
import { ConfigMap, refTo, Secret, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";
import { exampleContext, exampleShoot } from "../support/control-plane-context.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { startShootControlPlane, type ShootControlPlane } from "../support/shoot-control-plane.ts";
import { shootRun } from "../support/shoot-run.ts";
import { newKeyring } from "../support/state-keys.ts";

const technicalID = "shoot--dev--encrypted";
const value = "the-value-that-is-not-to-be-found";
let seed: ControlPlane;
let folder = "";
let run: ShootRun;
let shoot: ShootControlPlane | undefined;
let client: KubeClient;

test.beforeAll(async ({ cluster }) => {
  seed = cluster;
  folder = await mkdtemp(join(tmpdir(), "perennial-encryption-"));
  for (const name of ["garden-dev", technicalID])
    await seed.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const { metadata } = await seed.client.create(gardenShoot([]));
  run = shootRun({ name: metadata.name, uid: metadata.uid ?? "", technicalID });
});

afterAll(async () => {
  await stop();
  await rm(folder, { recursive: true, force: true });
});

test("a Secret of a Shoot stands neither in its etcd nor in a snapshot, and an API server in another seed reads it", async () => {
  await ensureSecrets(seed.client, await context());
  await start();
  await client.create(secret("fresh"));
  await encryptResources();
  await expectEncrypted("secrets", "fresh");
  expect(await findInEtcd()).toEqual([]);
  const snapshot = join(folder, "snapshot.db");
  await shoot?.etcdctl("snapshot", "save", snapshot);
  expect((await readFile(snapshot)).includes("/registry/secrets/default/fresh")).toBe(true);
  expect((await readFile(snapshot)).includes(value)).toBe(false);

  const state = createStateActivities({ gardenClient: seed.client, seedClient: seed.client, keys: newKeyring() });
  await state.persistState(run);
  await stop();
  await seed.client.removeAll(Secret, { namespace: technicalID }); // as in a seed where the Shoot has never been
  await state.restoreSecrets({ ...run, operation: "Restore", epoch: 2 });
  await ensureSecrets(seed.client, await context());
  await start({ snapshot });
  const restored = await client.read(Secret, { namespace: "default", name: "fresh" });
  expect(Buffer.from(restored?.data?.["key"] ?? "", "base64").toString()).toBe(value);
  await stop();
});

test("what a Shoot stored in the clear is stored anew once, when its API server has the key", async () => {
  await seed.client.removeAll(Secret, { namespace: technicalID });
  await setStatus(null);
  await ensureSecrets(seed.client, await context());
  await seed.client.patch(configuration, { stringData: { "encryption-configuration.yaml": inTheClear } });
  await start();
  await client.create(secret("old"));
  expect(await bytesOf("secrets", "old")).toContain(value);

  await ensureSecrets(seed.client, await context());
  await shoot?.restartApiServer();
  expect(await bytesOf("secrets", "old")).toContain(value);
  await encryptResources();
  await expectEncrypted("secrets", "old");
  expect(await status()).toEqual({ resources: ["secrets"], provider: { type: "aescbc" } });

  const { resourceVersion } = (await client.read(refTo(Secret, { namespace: "default", name: "old" })))?.metadata ?? {};
  await encryptResources();
  expect(await client.read(Secret, { namespace: "default", name: "old" })).toMatchObject({
    metadata: { resourceVersion },
  });
});

test("resources that a Shoot adds are encrypted, and those that it takes away are in the clear again and can be read", async () => {
  await client.create({
    ...typeMeta(ConfigMap),
    metadata: { namespace: "default", name: "more" },
    data: { key: value },
  });
  await askFor(["configmaps", "gadgets.example.org"]); // of the latter there are none
  await encryptResources();
  await expectEncrypted("configmaps", "more");
  expect(await status()).toMatchObject({ resources: ["configmaps", "gadgets.example.org", "secrets"] });

  await askFor([]);
  expect(await client.read(ConfigMap, { namespace: "default", name: "more" })).toMatchObject({ data: { key: value } });
  await encryptResources();
  expect(await bytesOf("configmaps", "more")).toContain(value);
  await expectEncrypted("secrets", "old");
  await askFor([]); // the API server forgets how to read what there is no more of
  expect(await client.read(ConfigMap, { namespace: "default", name: "more" })).toMatchObject({ data: { key: value } });
});

test("a list that is taken back before its objects were stored anew leaves nothing unreadable", async () => {
  await askFor(["configmaps"]);
  await client.create({
    ...typeMeta(ConfigMap),
    metadata: { namespace: "default", name: "late" },
    data: { key: value },
  });
  await expectEncrypted("configmaps", "late");
  await askFor([]);
  expect(await client.read(ConfigMap, { namespace: "default", name: "late" })).toMatchObject({ data: { key: value } });
  await encryptResources();
  expect(await bytesOf("configmaps", "late")).toContain(value);
});

test("with secretbox as provider, a Secret is encrypted by that", async () => {
  await stop();
  await seed.client.removeAll(Secret, { namespace: technicalID });
  await setStatus(null);
  await setConfig({ provider: { type: "secretbox" } });
  await ensureSecrets(seed.client, await context());
  await start();
  await client.create(secret("boxed"));
  await encryptResources();
  expect(await bytesOf("secrets", "boxed")).toMatch(/^k8s:enc:secretbox:v1:key\d+:/);
  expect(await status()).toEqual({ resources: ["secrets"], provider: { type: "secretbox" } });
});

const configuration = refTo(Secret, { namespace: technicalID, name: "kube-apiserver-etcd-encryption-configuration" });

/** How an API server without a key would store everything. */
const inTheClear = `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources: [{ resources: [secrets], providers: [{ identity: {} }] }]
`;

const gardenShoot = (resources: string[]) => {
  const { metadata, ...shoot } = exampleShoot({
    kubernetes: { version: "1.34.4", kubeAPIServer: { encryptionConfig: { resources } } },
  });
  return { ...shoot, metadata: { name: "encrypted", namespace: metadata.namespace } } as Shoot;
};

const ref = refTo(Shoot, { namespace: "garden-dev", name: "encrypted" });
const secret = (name: string): Secret => ({
  ...typeMeta(Secret),
  metadata: { namespace: "default", name },
  data: { key: Buffer.from(value).toString("base64") },
});

async function context(): Promise<ControlPlaneContext> {
  const found = await seed.client.read(ref);
  if (found === undefined) throw new Error("the Shoot is gone");
  return exampleContext({ namespace: technicalID, shoot: found });
}

async function start(o: { readonly snapshot?: string } = {}): Promise<void> {
  shoot = await startShootControlPlane(seed.client, await context(), o);
  client = await shoot.client("gardener-internal");
}

async function stop(): Promise<void> {
  if (shoot === undefined) return;
  await client.close();
  await shoot.stop();
  shoot = undefined;
}

/** What the flow does after a change: Secrets, then a roll-out of the API server. */
async function askFor(resources: string[]): Promise<void> {
  await setConfig({ resources });
  await ensureSecrets(seed.client, await context());
  await shoot?.restartApiServer();
}

const setConfig = (encryptionConfig: object) =>
  seed.client.patch(ref, { spec: { kubernetes: { kubeAPIServer: { encryptionConfig } } } });

const setStatus = (credentials: null) => seed.client.patch(ref, { status: { credentials } }, { subresource: "status" });

const status = async () => (await seed.client.read(ref))?.status?.credentials?.encryptionAtRest;

const encryptResources = () =>
  createEncryptionAtRest({
    gardenClient: seed.client,
    seedClient: seed.client,
    shootClients: { get: async () => client, forget: async () => undefined, close: async () => undefined },
  }).encryptResources(run);

const bytesOf = async (resource: string, name: string): Promise<string> =>
  (await shoot?.etcdctl("get", "--print-value-only", `/registry/${resource}/default/${name}`)) ?? "";

async function expectEncrypted(resource: string, name: string): Promise<void> {
  const bytes = await bytesOf(resource, name);
  expect(bytes).toMatch(/^k8s:enc:aescbc:v1:key\d+:/);
  expect(bytes).not.toContain(value);
}

/** The files of etcd in which the value stands. */
async function findInEtcd(): Promise<string[]> {
  const root = shoot?.etcdData ?? "";
  const files = (await readdir(root, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  if (files.length < 2) throw new Error(`only ${files.length} files in ${root}`);
  const found = await Promise.all(
    files.map(async ({ parentPath, name }) => ((await readFile(join(parentPath, name))).includes(value) ? [name] : [])),
  );
  return found.flat();
}
