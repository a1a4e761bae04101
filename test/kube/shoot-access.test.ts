import { createPrivateKey, createPublicKey } from "node:crypto";
import { beforeEach, expect } from "vitest";
import { announceKubeconfig, clusterRef, syncCluster } from "../../src/activities/control-plane/cluster.ts";
import { keepCredentials } from "../../src/activities/control-plane/garden-credentials.ts";
import { ensureSecrets } from "../../src/activities/secrets/secrets.ts";
import { GENERIC_KUBECONFIG_ANNOTATION } from "../../src/api/annotations.ts";
import { Shoot } from "../../src/api/index.ts";
import type { SeedContext } from "../../src/components/index.ts";
import { ConfigMap, parseKubeconfig, refTo, Secret, type KubeClient } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";
import { exampleContext, exampleShoot } from "../support/control-plane-context.ts";
import { shootRun } from "../support/shoot-run.ts";

let client: KubeClient;
let context: SeedContext;
let runs = 0;

test.beforeAll(async ({ cluster }) => {
  client = cluster.client;
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "garden-dev" } });
});

beforeEach(async () => {
  runs += 1;
  context = exampleContext({ namespace: `shoot--dev--access-${runs}`, managesResources: true });
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: context.namespace } });
});

const run = () => shootRun({ technicalID: context.namespace, managesResources: true });
const list = (labelSelector: string) => client.list(Secret, { namespace: context.namespace, labelSelector });
const text = (secret: Secret | undefined, key: string) => Buffer.from(secret?.data?.[key] ?? "", "base64").toString();
const read = (name: string) => client.read(Secret, { namespace: context.namespace, name });
const announced = async () =>
  (await client.read(clusterRef(run())))?.metadata.annotations?.[GENERIC_KUBECONFIG_ANNOTATION];
const withoutLogins = () =>
  exampleShoot({
    provider: { ...context.shoot.spec.provider, workersSettings: { sshAccess: { enabled: false } } },
  });

test("extensions of others find a kubeconfig that lacks only their token, and a bundle of each authority", async () => {
  await ensureSecrets(client, context);
  const [generic] = await list("name=generic-token-kubeconfig,managed-by=secrets-manager");
  expect(generic?.metadata.name).toMatch(/^generic-token-kubeconfig-[0-9a-f]{8}$/);
  const { server, user, cluster } = parseKubeconfig(text(generic, "kubeconfig"));
  expect(server).toBe("https://kube-apiserver");
  expect(user).toEqual({ tokenFile: "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig/token" });
  const ca = text(await read("ca"), "ca.crt");
  expect(cluster["certificate-authority-data"]).toBe(Buffer.from(ca).toString("base64"));
  const [bundle, ...others] = await list("bundle-for=ca,manager-identity=gardenlet");
  expect(others).toEqual([]);
  expect(text(bundle, "bundle.crt")).toBe(ca);
  expect(await list("bundle-for")).toHaveLength(6);
  expect(await list("persist=true,managed-by=secrets-manager")).toEqual([]);
});

test("a second run over it changes nothing, and what has no resource manager has none of it", async () => {
  const { checksums } = await ensureSecrets(client, context);
  expect(await ensureSecrets(client, context)).toEqual({ checksums });
  const { managesResources: _, ...without } = exampleContext({ namespace: "shoot--dev--bare" });
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: without.namespace } });
  const { checksums: bare } = await ensureSecrets(client, without);
  expect(Object.keys(bare).filter((name) => /generic|bundle|ssh/.test(name))).toEqual([]);
});

test.for(["Cluster", "the Secret"])("Cluster names the kubeconfig where %s comes first", async (first) => {
  const sync = () => syncCluster(client, run(), context);
  const provide = async () => {
    await ensureSecrets(client, context);
    await announceKubeconfig(client, run());
  };
  for (const step of first === "Cluster" ? [sync, provide] : [provide, sync]) await step();
  const [generic] = await list("name=generic-token-kubeconfig");
  expect(await announced()).toBe(generic?.metadata.name);
  await sync();
  expect(await announced()).toBe(generic?.metadata.name);
});

test("the key pair for nodes is one that SSH reads, is kept as state, and comes back as it was kept", async () => {
  await ensureSecrets(client, context);
  const pair = await read("ssh-keypair");
  expect(pair?.metadata.labels).toMatchObject({ persist: "true", name: "ssh-keypair" });
  const [type = "", blob = ""] = text(pair, "id_rsa.pub").trimEnd().split(" ");
  const [name, e = none, n = none] = partsOf(Buffer.from(blob, "base64"));
  expect([type, name?.toString()]).toEqual(["ssh-rsa", "ssh-rsa"]);
  expect(n[0]).toBe(0); // a modulus of 4096 bits begins with a bit that is set
  const numbers = { n: n.subarray(1).toString("base64url"), e: e.toString("base64url") };
  const published = createPublicKey({ key: { kty: "RSA", ...numbers }, format: "jwk" });
  expect(published.equals(createPublicKey(createPrivateKey(text(pair, "id_rsa"))))).toBe(true);
  await client.remove(refTo(Secret, { namespace: context.namespace, name: "ssh-keypair" }));
  const kept = { id_rsa: "kept", "id_rsa.pub": "kept, too" };
  await ensureSecrets(client, context, {
    kept: (names) => Promise.resolve(new Map(names.includes("ssh-keypair") ? [["ssh-keypair", kept]] : [])),
  });
  expect(text(await read("ssh-keypair"), "id_rsa")).toBe("kept");
});

test("a Shoot whose owner has disabled logins, and one without machines, has no key pair", async () => {
  await ensureSecrets(client, { ...context, shoot: withoutLogins() });
  expect(await read("ssh-keypair")).toBeUndefined();
  const { workers: _, ...provider } = context.shoot.spec.provider;
  await ensureSecrets(client, { ...context, shoot: exampleShoot({ provider }) });
  expect(await read("ssh-keypair")).toBeUndefined();
});

test("owners find authorities and key pair in the garden; a key pair is emptied when logins are disabled", async () => {
  const secrets = new Map([
    ["ca", { "ca.crt": base64("authority"), "ca.key": base64("private") }],
    ["ca-kubelet", { "ca.crt": base64("kubelets"), "ca.key": base64("private") }],
    ["ssh-keypair", { id_rsa: base64("private"), "id_rsa.pub": base64("public") }],
  ]);
  const inGarden = (name: string) => ({ namespace: "garden-dev", name });
  await keepCredentials(client, context.shoot, { secrets, keyPair: "ssh-keypair" });
  const ca = await client.read(ConfigMap, inGarden("example.ca-cluster"));
  expect(ca?.data).toEqual({ "ca.crt": "authority" });
  expect(ca?.metadata.labels).toMatchObject({ "gardener.cloud/role": "ca-cluster" });
  expect(ca?.metadata.ownerReferences).toMatchObject([{ kind: Shoot.kind, name: "example" }]);
  expect((await client.read(ConfigMap, inGarden("example.ca-kubelet")))?.data).toEqual({ "ca.crt": "kubelets" });
  expect((await client.read(Secret, inGarden("example.ca-cluster")))?.data).toEqual({ "ca.crt": base64("authority") });
  const pair = await client.read(Secret, inGarden("example.ssh-keypair"));
  expect(pair?.data).toEqual(secrets.get("ssh-keypair"));
  await keepCredentials(client, context.shoot, { secrets, keyPair: undefined });
  expect((await client.read(Secret, inGarden("example.ssh-keypair")))?.data).toBeUndefined();
});

const none = Buffer.of();
const base64 = (value: string) => Buffer.from(value).toString("base64");

/** The parts of a key in the format of RFC 4253, each behind its length. */
function partsOf(blob: Buffer): Buffer[] {
  if (blob.length === 0) return [];
  const end = 4 + blob.readUInt32BE();
  return [blob.subarray(4, end), ...partsOf(blob.subarray(end))];
}
