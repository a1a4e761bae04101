import { X509Certificate } from "node:crypto";
import { beforeEach, expect } from "vitest";
import { ensureSecrets } from "../../src/activities/secrets/secrets.ts";
import { refTo, Secret, type KubeClient } from "../../src/kube/index.ts";
import { exampleContext } from "../support/control-plane-context.ts";
import { test } from "../support/cluster-test.ts";

let client: KubeClient;
let namespace = "";
let runs = 0;

test.beforeAll(({ cluster }) => void (client = cluster.client));

beforeEach(async () => {
  runs += 1;
  namespace = `shoot--dev--secrets-${runs}`;
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
});

test("a second run over a Shoot's Secrets changes nothing", async () => {
  const { checksums } = await ensureSecrets(client, context());
  const before = await versions();
  expect(Object.keys(checksums).toSorted()).toEqual(Object.keys(before).toSorted());
  expect(await ensureSecrets(client, context())).toEqual({ checksums });
  expect(await versions()).toEqual(before);
});

test("a Secret that cannot be made again is marked to go along when the Shoot moves", async () => {
  await ensureSecrets(client, context());
  const kept = await client.list(Secret, { namespace, labelSelector: "persist=true,managed-by=perennial" });
  expect(kept.map(({ metadata }) => metadata.name)).toEqual([
    "ca",
    "ca-client",
    "ca-etcd",
    "ca-etcd-peer",
    "ca-front-proxy",
    "ca-kubelet",
    "kube-apiserver-etcd-encryption-key",
    "service-account-key",
  ]);
});

test("a certificate that was deleted is made again by the same authority, and nothing else changes", async () => {
  await ensureSecrets(client, context());
  const { "kube-apiserver": _, ...before } = await versions();
  await client.remove(secret("kube-apiserver"));
  await ensureSecrets(client, context());
  const { "kube-apiserver": made, ...after } = await versions();
  expect(after).toEqual(before);
  expect(made).toBeDefined();
  const issuer = new X509Certificate(await value("ca", "ca.crt"));
  expect(new X509Certificate(await value("kube-apiserver", "tls.crt")).verify(issuer.publicKey)).toBe(true);
});

test("once the load balancer has an address, the API server's certificate names it", async () => {
  const { apiServerAddress: _, ...withoutAddress } = context();
  const { checksums: before } = await ensureSecrets(client, withoutAddress);
  const { checksums: after } = await ensureSecrets(client, context());
  const changed = Object.keys(after).filter((name) => after[name] !== before[name]);
  expect(changed.toSorted()).toEqual(["gardener-internal", "kube-apiserver"]);
  expect(new X509Certificate(await value("kube-apiserver", "tls.crt")).checkIP("172.30.128.1")).toBe("172.30.128.1");
  expect(await value("gardener-internal", "kubeconfig")).toContain("server: https://172.30.128.1:443");
});

test("a certificate near its end is renewed, its authority is not", async () => {
  const { checksums: before } = await ensureSecrets(client, context());
  const inTenMonths = new Date(Date.now() + 300 * 24 * 60 * 60 * 1000);
  const { checksums: after } = await ensureSecrets(client, context(), { now: inTenMonths });
  const same = Object.keys(after).filter((name) => after[name] === before[name]);
  expect(same.toSorted()).toEqual([
    "ca",
    "ca-client",
    "ca-etcd",
    "ca-etcd-peer",
    "ca-front-proxy",
    "ca-kubelet",
    "kube-apiserver-etcd-encryption-configuration",
    "kube-apiserver-etcd-encryption-key",
    "service-account-key",
  ]);
});

test.for([1, 4, 9, 14])("a run that died after %i Secrets is completed by the next one", async (limit) => {
  await expect(ensureSecrets(dyingAfter(limit), context())).rejects.toThrow("killed");
  const before = await versions();
  expect(Object.keys(before)).toHaveLength(limit);
  await ensureSecrets(client, context());
  expect(await versions()).toMatchObject(before);
  const after = await versions();
  await ensureSecrets(client, context());
  expect(await versions()).toEqual(after);
});

test("a damaged authority stops the run instead of locking all clients out", async () => {
  await ensureSecrets(client, context());
  await client.patch(secret("ca-client"), { data: { "ca.key": null } });
  await expect(ensureSecrets(client, context())).rejects.toThrow(
    `cannot use Secret ${namespace}/ca-client: it is damaged, has expired or holds more than one certificate and its key`,
  );
});

test("a lost encryption key stops the run where something is encrypted under it, instead of hiding what is stored", async () => {
  const encryptionAtRest = { resources: ["secrets"], provider: { type: "aescbc" } };
  const { shoot, ...rest } = context();
  const encrypted = { ...rest, shoot: { ...shoot, status: { credentials: { encryptionAtRest } } } };
  await expect(ensureSecrets(client, encrypted)).rejects.toThrow("encryption-key: it is gone");
  await ensureSecrets(client, context());
  await ensureSecrets(client, encrypted);
});

test("labels that were taken away come back, and others stay", async () => {
  await ensureSecrets(client, context());
  await client.patch(secret("ca"), { metadata: { labels: { persist: null, mine: "true" } } });
  await ensureSecrets(client, context());
  const ca = await client.read(secret("ca"));
  expect(ca?.metadata.labels).toEqual({ "managed-by": "perennial", role: "authority", persist: "true", mine: "true" });
});

function context() {
  return exampleContext({ namespace });
}

function secret(name: string) {
  return refTo(Secret, { name, namespace });
}

async function versions(): Promise<Record<string, string | undefined>> {
  const secrets = await client.list(Secret, { namespace });
  return Object.fromEntries(secrets.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
}

async function value(name: string, key: string): Promise<string> {
  const found = await client.read(secret(name));
  return Buffer.from(found?.data?.[key] ?? "", "base64").toString();
}

/** The same client, for a process that is killed when it wants to create one Secret more. */
function dyingAfter(limit: number): KubeClient {
  let created = 0;
  return {
    ...client,
    async create(object) {
      if (created === limit) throw new Error("killed");
      created += 1;
      return client.create(object);
    },
  };
}
