import { createServer, type Server } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, expect } from "vitest";
import { Cluster, ClusterEndpoint, EndpointRecord, Machine } from "../../src/api/cluster-api/index.ts";
import { DNSRecord } from "../../src/api/index.ts";
import { findCondition } from "../../src/cluster-api/objects/conditions.ts";
import { createClaims } from "../../src/cluster-api/endpoint-record/claims.ts";
import { createEndpointRecordController } from "../../src/cluster-api/endpoint-record/controller.ts";
import { CustomResourceDefinition, Namespace, refOf, refTo, Secret, typeMeta, define } from "../../src/kube/index.ts";
import type { KubeClient, NamespacedKey } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { queryRecords } from "../../src/provider-local/dns/name-server.ts";
import { applyClusterApiCrds } from "../../src/local/cluster/manifests.ts";
import { readCoreObjects } from "../../src/local/cluster-api/core-objects.ts";
import { makeCertificates, type Certificates } from "../support/certificates.ts";
import { ownClusterTest } from "../support/cluster-test.ts";
import {
  applyDnsCredentials,
  applyMachine,
  applyTrust,
  clusterNamed,
  recordOf,
  startDnsExtension,
} from "../support/endpoint-record-lab.ts";
import { eventually } from "../support/eventually.ts";
import { noteRequests } from "../support/noted-requests.ts";
import { freePorts } from "../support/free-ports.ts";
import { startNameServer, type TestNameServer } from "../support/name-server.ts";

// It changes the definition of DNSRecords.
const test = ownClusterTest({ crds: true });
const namespace = "default";
const log = createLogger({ name: "test", level: "silent" });

let client: KubeClient;
let dns: TestNameServer;
let extension: { stop(): Promise<void> };
let certificates: Certificates;
let port: number;
let controller: ReturnType<typeof createEndpointRecordController> | undefined;
const servers = new Map<string, Server>();

test.beforeAll(async ({ cluster }) => {
  ({ client } = cluster);
  await define(client, (await readCoreObjects()).definitions);
  await applyClusterApiCrds(client);
  dns = await startNameServer();
  certificates = await makeCertificates(["*.perennial.test"]);
  [port = 0] = await freePorts(1);
  extension = startDnsExtension(client);
});
afterEach(async () => {
  await controller?.stop();
  controller = undefined;
  for (const address of servers.keys()) await die(address);
});
afterAll(async () => {
  await extension.stop();
  await dns.stop();
});

function start(options: Parameters<typeof createEndpointRecordController>[1] = {}, management = client): void {
  const events = { record: () => undefined, settled: async () => {} };
  const deps = { management, garden: client, events, log };
  controller = createEndpointRecordController(deps, { period: 200, ...options });
  controller.start();
}

/** An API server that is ready, as far as is asked. */
async function serve(address: string): Promise<void> {
  const { serverCert: cert, serverKey: key } = certificates;
  const server = createServer({ cert, key }, (_, answer) => void answer.writeHead(401).end());
  await new Promise<void>((resolve) => server.listen(port, address, resolve));
  servers.set(address, server);
}

async function die(address: string): Promise<void> {
  const server = servers.get(address);
  servers.delete(address);
  server?.closeAllConnections();
  await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
}

/** A Cluster with Machines at these addresses, its credentials, and a record of its name. */
async function furnish(name: string, addresses: readonly string[], spec: Partial<EndpointRecord["spec"]> = {}) {
  const key = { namespace, name };
  await applyDnsCredentials(client, namespace, dns);
  await applyTrust(client, key, certificates.ca);
  await client.create(clusterNamed(key));
  for (const [at, address] of addresses.entries())
    await applyMachine(client, key, { name: `${name}-${at}`, addresses: [{ type: "InternalIP", address }] });
  await client.create(recordOf(key, { port, ...spec }));
  return key;
}

const conditionOf = async (key: NamespacedKey, type: string) =>
  findCondition((await client.read(EndpointRecord, key))?.status?.conditions, type);
const saysOf = async (key: NamespacedKey, type: string, wanted: object) =>
  await eventually(async () => expect(await conditionOf(key, type)).toMatchObject(wanted));
const answersOf = async (name: string) => await queryRecords(dns.server, { name: `${name}.perennial.test`, type: "A" });
const leadsTo = async (name: string, addresses: readonly string[]) =>
  await eventually(async () => expect(await answersOf(name)).toEqual(addresses));

test("a record without Machines is its Cluster's endpoint at once, owned by it, and asks for no empty name", async () => {
  start();
  const key = await furnish("early", []);
  const endpoint = await eventually(async () => {
    const found = await client.read(ClusterEndpoint, key);
    expect(found).toBeDefined();
    return found as ClusterEndpoint;
  });
  const record = await client.read(EndpointRecord, key);
  expect(endpoint.spec).toMatchObject({ cluster: "early", host: "early.perennial.test", port });
  expect(endpoint.metadata.ownerReferences).toMatchObject([{ kind: "EndpointRecord", uid: record?.metadata.uid }]);
  expect(record?.metadata).toMatchObject({
    labels: { "cluster.x-k8s.io/cluster-name": "early" },
    ownerReferences: [{ kind: "Cluster", name: "early" }],
  });
  await saysOf(key, "Published", { status: "False", reason: "WaitingForMachines" });
  await saysOf(key, "Ready", { status: "False", reason: "WaitingForMachines" });
  expect(await client.read(DNSRecord, key)).toBeUndefined();
});

test("the name leads to the Machines that serve: a dead one leaves it, and comes back with its API server", async () => {
  start();
  await Promise.all(["127.0.0.2", "127.0.0.3"].map(serve));
  const key = await furnish("served", ["127.0.0.2", "127.0.0.3", "127.0.0.4"]);
  await leadsTo("served", ["127.0.0.2", "127.0.0.3"]);
  await saysOf(key, "Ready", { status: "True", reason: "SomeServe" });
  expect((await conditionOf(key, "Serving"))?.message).toBe(`Machine served-2: 127.0.0.4:${port} refuses connections`);
  await die("127.0.0.2");
  await leadsTo("served", ["127.0.0.3"]);
  await serve("127.0.0.2");
  await leadsTo("served", ["127.0.0.2", "127.0.0.3"]);
  await eventually(async () =>
    expect((await client.read(EndpointRecord, key))?.status?.addresses).toEqual(["127.0.0.2", "127.0.0.3"]),
  );
});

test("where no Machine serves, the name leads to all of them", async () => {
  start();
  await serve("127.0.0.2");
  const key = await furnish("dark", ["127.0.0.2", "127.0.0.3"]);
  await leadsTo("dark", ["127.0.0.2"]);
  await die("127.0.0.2");
  await leadsTo("dark", ["127.0.0.2", "127.0.0.3"]);
  await saysOf(key, "Ready", { status: "False", reason: "NoneServes" });
});

test("a controller that starts anew changes nothing before it knows who serves", async () => {
  start();
  await serve("127.0.0.3");
  const key = await furnish("again", ["127.0.0.2", "127.0.0.3", "127.0.0.4"]);
  await saysOf(key, "Ready", { status: "True" });
  await controller?.stop();
  const before = await client.read(DNSRecord, key);
  const said = await client.read(EndpointRecord, key);
  await serve("127.0.0.2"); // that it finds this out shows that it has looked
  start();
  await leadsTo("again", ["127.0.0.2", "127.0.0.3"]);
  expect((await client.read(DNSRecord, key))?.metadata.generation).toBe((before?.metadata.generation ?? 0) + 1);
  const published = ["127.0.0.2", "127.0.0.3"]; // what it notes in the spec, once
  const noted = await eventually(async () => {
    const found = await client.read(EndpointRecord, key);
    expect(found?.spec.published?.values).toEqual(published);
    return found as EndpointRecord;
  });
  expect(noted.metadata).toEqual({
    ...said?.metadata,
    generation: (said?.metadata.generation ?? 0) + 1,
    resourceVersion: expect.any(String),
    managedFields: expect.any(Array),
  });
});

test("of two records for one name the second is told who has it, and gets it once that has gone", async () => {
  start();
  await serve("127.0.0.2");
  const first = await furnish("wanted", ["127.0.0.2"]);
  await leadsTo("wanted", ["127.0.0.2"]);
  await serve("127.0.0.3");
  const second = await furnish("rival", ["127.0.0.3"], { name: "wanted.perennial.test" });
  await saysOf(second, "Ready", {
    status: "False",
    reason: "NameTaken",
    message: "wanted.perennial.test is taken by EndpointRecord default/wanted",
  });
  expect(await client.read(ClusterEndpoint, second)).toBeUndefined();
  expect(await client.read(DNSRecord, second)).toBeUndefined();
  await client.remove(refTo(EndpointRecord, first));
  await leadsTo("wanted", ["127.0.0.3"]);
  await saysOf(second, "Ready", { status: "True" });
});

test("no name is remembered of records that came and went", async () => {
  const claims = createClaims();
  start({ claims });
  const keys = await Promise.all(["fleeting-0", "fleeting-1", "fleeting-2"].map((name) => furnish(name, [])));
  const present = async () => new Set((await client.list(EndpointRecord)).map(({ spec }) => spec.name)).size;
  await eventually(async () => expect(claims.count()).toBe(await present()));
  const before = claims.count();
  for (const key of keys) await client.remove(refTo(EndpointRecord, key));
  await eventually(() => claims.count() === before - keys.length);
});

test("a record that cannot bring its name into the DNS keeps it from none that can, in whatever namespace, and gets it after that", async () => {
  start();
  await serve("127.0.0.2");
  await serve("127.0.0.3");
  const provider = { type: "rfc2136", secretRef: { name: "missing" } };
  const lame = await furnish("lame", ["127.0.0.2"], { provider });
  await saysOf(lame, "Ready", { status: "False", reason: "NoCredentials" });
  const stranger = { namespace: "stranger", name: "lame" };
  await client.apply({ ...typeMeta(Namespace), metadata: { name: stranger.namespace } });
  await client.create(recordOf(stranger, { port }));
  await saysOf(stranger, "Ready", {
    reason: "NameTaken",
    message: "lame.perennial.test is taken by EndpointRecord default/lame",
  });

  await applyTrust(client, stranger, certificates.ca);
  await applyMachine(client, stranger, { name: "lame-0", addresses: [{ type: "InternalIP", address: "127.0.0.3" }] });
  await client.create(clusterNamed(stranger));
  await applyDnsCredentials(client, stranger.namespace, dns);
  await leadsTo("lame", ["127.0.0.3"]);
  await saysOf(stranger, "Ready", { status: "True" });
  await client.apply({ ...typeMeta(Secret), metadata: { namespace, name: "missing" }, data: {} });
  await saysOf(lame, "Ready", {
    reason: "NameTaken",
    message: "lame.perennial.test is taken by EndpointRecord stranger/lame",
  });
  // What it lacks now changes nothing: its name is in the DNS, and it alone can take it out.
  await client.remove(refTo(Cluster, stranger));
  await client.remove(refTo(Secret, { namespace: stranger.namespace, name: "dns" }));
  await saysOf(stranger, "Ready", { reason: "WaitingForCluster" });
  await applyDnsCredentials(client, namespace, dns);
  await client.patch(refTo(EndpointRecord, lame), { spec: { provider: { secretRef: { name: "dns" } } } });
  await saysOf(lame, "Ready", { reason: "NameTaken" });

  await applyDnsCredentials(client, stranger.namespace, dns);
  await client.remove(refTo(EndpointRecord, stranger));
  await leadsTo("lame", ["127.0.0.2"]);
  await saysOf(lame, "Ready", { status: "True" });
});

test("a record without a Cluster keeps its name from none that has one", async () => {
  start();
  await serve("127.0.0.2");
  const bare = { namespace, name: "bare" };
  await client.create(recordOf(bare, { port, name: "claimed.perennial.test" }));
  await saysOf(bare, "Ready", { reason: "WaitingForCluster" });
  const key = await furnish("claimed", ["127.0.0.2"]);
  await leadsTo("claimed", ["127.0.0.2"]);
  await saysOf(key, "Ready", { status: "True" });
  await saysOf(bare, "Ready", { reason: "NameTaken" });
});

test("a deleted record stays until its name is out of the DNS, and says what it waits for", async () => {
  start();
  await serve("127.0.0.2");
  const key = await furnish("leaving", ["127.0.0.2"]);
  await saysOf(key, "Ready", { status: "True" });
  await dns.kill();
  try {
    await client.remove(refTo(EndpointRecord, key));
    await saysOf(key, "Published", { status: "False", reason: "Deleting" });
    await eventually(async () => expect((await conditionOf(key, "Published"))?.message).toContain("cannot"));
  } finally {
    await dns.restart();
  }
  await eventually(async () => expect(await client.read(EndpointRecord, key)).toBeUndefined(), 60_000);
  expect(await client.read(DNSRecord, key)).toBeUndefined();
  expect(await answersOf("leaving")).toEqual([]);
});

test("for a paused Cluster nothing is written but that it is so, and a deletion waits", async () => {
  start();
  await serve("127.0.0.2");
  await serve("127.0.0.3");
  const key = await furnish("paused", ["127.0.0.2", "127.0.0.3"]);
  await leadsTo("paused", ["127.0.0.2", "127.0.0.3"]);
  await client.patch(refTo(Cluster, key), { spec: { paused: true } });
  await saysOf(key, "Paused", { status: "True" });
  await die("127.0.0.2");
  await client.remove(refTo(EndpointRecord, key));
  await eventually(async () => expect((await conditionOf(key, "Paused"))?.status).toBe("True"));
  const seen = await client.read(DNSRecord, key);
  expect(seen?.spec.values).toEqual(["127.0.0.2", "127.0.0.3"]);
  expect(seen?.metadata.deletionTimestamp).toBeUndefined();
  await client.patch(refTo(Cluster, key), { spec: { paused: false } });
  await eventually(async () => expect(await client.read(EndpointRecord, key)).toBeUndefined());
  expect(await answersOf("paused")).toEqual([]);
});

const leaving = { "clusterctl.cluster.x-k8s.io/delete-for-move": "" };

test("a record is looked after again where a clusterctl that was killed has left its mark on it", async () => {
  start();
  await serve("127.0.0.2");
  const key = await furnish("stays", ["127.0.0.2"]);
  await leadsTo("stays", ["127.0.0.2"]);
  await client.patch(refTo(EndpointRecord, key), { metadata: { annotations: leaving } });
  await eventually(async () => {
    const record = await client.read(EndpointRecord, key);
    expect(record?.metadata.annotations ?? {}).not.toHaveProperty(Object.keys(leaving));
  });
});

test("a record that clusterctl has moved away leaves its name in the DNS", async () => {
  start();
  await serve("127.0.0.2");
  const key = await furnish("moved", ["127.0.0.2"]);
  await leadsTo("moved", ["127.0.0.2"]);
  // In the order of `clusterctl move`: the pause, this annotation in place of all, the deletion, then the finalizers.
  await client.patch(refTo(Cluster, key), { spec: { paused: true } });
  await client.patch(refTo(EndpointRecord, key), { metadata: { annotations: leaving } });
  await client.remove(refTo(EndpointRecord, key));
  await furnish("witness", ["127.0.0.2"]);
  await leadsTo("witness", ["127.0.0.2"]); // all that came before it was looked at by then
  expect((await client.read(EndpointRecord, key))?.metadata.finalizers).toHaveLength(1);
  const dnsRecord = await client.read(DNSRecord, key);
  expect(dnsRecord?.metadata).toBeDefined();
  expect(dnsRecord?.metadata.deletionTimestamp).toBeUndefined();
  await client.patch(refTo(EndpointRecord, key), { metadata: { finalizers: [] } });
  await eventually(async () => expect(await client.read(EndpointRecord, key)).toBeUndefined());
  expect(await answersOf("moved")).toEqual(["127.0.0.2"]);
});

test("a record names its missing Cluster and its missing credentials, and goes on once they are there", async () => {
  start();
  await serve("127.0.0.2");
  const key = { namespace, name: "needy" };
  await client.removeAll(Secret, { namespace, fieldSelector: "metadata.name=dns" });
  await client.create(recordOf(key, { port }));
  await saysOf(key, "Ready", { status: "False", reason: "WaitingForCluster" });
  await applyTrust(client, key, certificates.ca);
  await applyMachine(client, key, { name: "needy-0", addresses: [{ type: "InternalIP", address: "127.0.0.2" }] });
  await client.create(clusterNamed(key));
  await saysOf(key, "Ready", {
    reason: "NoCredentials",
    message: "Secret default/dns with credentials of rfc2136 does not exist",
  });
  expect(await client.read(ClusterEndpoint, key)).toBeDefined();
  await applyDnsCredentials(client, namespace, dns);
  await saysOf(key, "Ready", { status: "True" });
});

test("credentials come out of the record's own namespace, whatever else its writer names", async () => {
  start();
  await serve("127.0.0.2");
  const secretRef = { name: "dns", namespace: "kube-system" };
  const key = await furnish("reaching", ["127.0.0.2"], { provider: { type: "rfc2136", secretRef } });
  await eventually(async () =>
    expect((await client.read(DNSRecord, key))?.spec.secretRef).toEqual({ name: "dns", namespace }),
  );
});

test("what the extension says of its failure is said of the record", async () => {
  start();
  await serve("127.0.0.2");
  const key = await furnish("failing", ["127.0.0.2"], { name: "failing.perennial.test.example.org" });
  await saysOf(key, "Ready", { status: "False", reason: "ExtensionFailed" });
  expect((await conditionOf(key, "Published"))?.message).toMatch(
    /^DNSRecord default\/failing: .*cannot update A failing.perennial.test.example.org: .*(NOTAUTH|NOTZONE|REFUSED)/,
  );
});

test("a DNSRecord or a ClusterEndpoint of another's in the record's place is left alone and named", async () => {
  start();
  await serve("127.0.0.2");
  const metadata = { namespace, name: "crowded" };
  const foreign = { name: "crowded.perennial.test", recordType: "A", values: ["127.0.0.9"] } as const;
  const spec = { type: "other", secretRef: { name: "dns", namespace }, ...foreign, values: ["127.0.0.9"] };
  await client.create({ ...typeMeta(DNSRecord), metadata, spec });
  const key = await furnish("crowded", ["127.0.0.2"]);
  await saysOf(key, "Ready", {
    reason: "NameTaken",
    message: "DNSRecord default/crowded exists, and is for something else",
  });
  await client.remove(refTo(EndpointRecord, key));
  await eventually(async () => expect(await client.read(EndpointRecord, key)).toBeUndefined());
  expect((await client.read(DNSRecord, key))?.spec.values).toEqual(["127.0.0.9"]);
  const endpoint = {
    cluster: "full",
    host: "full.example.com",
    port: 443,
    type: "ExternalControlPlaneEndpoint",
  } as const;
  await client.create({ ...typeMeta(ClusterEndpoint), metadata: { namespace, name: "full" }, spec: endpoint });
  const other = await furnish("full", ["127.0.0.2"]);
  await saysOf(other, "Ready", { reason: "EndpointTaken" });
  expect((await client.read(ClusterEndpoint, other))?.spec.host).toBe("full.example.com");
  expect(await client.read(DNSRecord, other)).toBeUndefined();
});

test("another kind of addresses makes another DNSRecord, and a mixture is said in words", async () => {
  start();
  await Promise.all(["127.0.0.1", "127.0.0.2", "127.0.0.3"].map(serve));
  const key = await furnish("changing", ["127.0.0.2", "127.0.0.3"]);
  await saysOf(key, "Ready", { status: "True" });
  const before = await client.read(DNSRecord, key);
  const named = [{ type: "InternalDNS", address: "localhost" }];
  await applyMachine(client, key, { name: "changing-1", addresses: named });
  await leadsTo("changing", ["127.0.0.2"]);
  await saysOf(key, "Published", {
    status: "False",
    reason: "MixedAddresses",
    message:
      "Machine changing-0 has 127.0.0.2, Machine changing-1 has localhost: a name leads to IPv4, to IPv6 or to one other name",
  });
  await client.remove(refTo(Machine, { namespace, name: "changing-0" }));
  await saysOf(key, "Ready", { status: "True" });
  const after = await client.read(DNSRecord, key);
  expect(after?.spec).toMatchObject({ recordType: "CNAME", values: ["localhost"] });
  expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
});

test.for([
  ["https://api.example.com", "name has a scheme"],
  ["api.example.com:6443", "name has a port: write it into the field port"],
  ["API.example.com", "name has capitals: write api.example.com"],
  ["api.example.com.", "name ends in a dot"],
  ["api", "name has one part only"],
  ["10.0.0.1", "name is an address, which needs no record: write a ClusterEndpoint instead"],
  ["999.1.1.1", "name ends in a number"],
])("a record of name %s is refused: %s", async ([name, message]) => {
  const record = recordOf({ namespace, name: "bad" }, { name: name ?? "" });
  await expect(client.create(record)).rejects.toThrow(message);
});

test("a record outside of its zone is refused, one in a zone that only the provider can read is not", async () => {
  const key = { namespace, name: "zoned" };
  const inZone = (zone: string) => client.create(recordOf(key, { zone }), { dryRun: true });
  await expect(inZone("example.com")).rejects.toThrow("name zoned.perennial.test is outside of zone example.com");
  await expect(inZone("oned.perennial.test")).rejects.toThrow("is outside of zone");
  for (const zone of ["perennial.test", "Z2ABCDEF", "project/perennial-test"]) await inZone(zone);
});

test("cluster, name, zone and provider of a record cannot be changed; port, credentials and time to live can", async () => {
  start();
  const key = await furnish("fixed", []);
  const ref = refTo(EndpointRecord, key);
  for (const [spec, message] of [
    [{ cluster: "other" }, "cannot be changed"],
    [{ name: "other.perennial.test" }, "name cannot be changed: certificates bear it"],
    [{ zone: "perennial.test" }, "zone cannot be changed"],
    [{ provider: { type: "aws-route53" } }, "cannot be changed"],
  ] as const)
    await expect(client.patch(ref, { spec })).rejects.toThrow(message);
  await client.patch(ref, { spec: { port: 443, ttl: 30, provider: { secretRef: { name: "others" } } } });
  await eventually(async () => expect((await client.read(ClusterEndpoint, key))?.spec.port).toBe(443));
});

test("where DNSRecords are not served, the record says what to install, asks no more, and goes on once they are", async () => {
  await serve("127.0.0.2");
  const definition = await client.read(CustomResourceDefinition, { name: "dnsrecords.extensions.gardener.cloud" });
  if (definition === undefined) throw new Error("the cluster serves no DNSRecords from the beginning");
  await extension.stop();
  for (const left of await client.list(DNSRecord)) await client.patch(refOf(left), { metadata: { finalizers: [] } });
  await client.remove(refOf(definition));
  await eventually(async () => {
    const found = await client.list(DNSRecord).then(
      () => "served",
      () => "gone",
    );
    expect(found).toBe("gone");
  });
  const asked: string[] = [];
  start({}, noteRequests(client, asked));
  const key = await furnish("unserved", ["127.0.0.2"]);
  await saysOf(key, "Ready", { status: "False", reason: "NoExtension" });
  expect(await client.read(ClusterEndpoint, key)).toBeDefined();
  const leaving = await furnish("unserved-leaving", [], { published: { recordType: "A", values: ["127.0.0.2"] } });
  await saysOf(leaving, "Published", { reason: "NoExtension" });
  await client.remove(refTo(EndpointRecord, leaving));
  await saysOf(leaving, "Published", { reason: "Deleting" });
  await sleep(500); // what it hears of its own writes
  asked.length = 0;
  await sleep(4_000);
  expect(asked).toEqual([]);
  const { spec, metadata } = definition;
  await define(client, [{ ...typeMeta(CustomResourceDefinition), metadata: { name: metadata.name }, spec }]);
  extension = startDnsExtension(client);
  await leadsTo("unserved", ["127.0.0.2"]);
  await eventually(async () => expect(await client.read(EndpointRecord, leaving)).toBeUndefined(), 20_000);
});
