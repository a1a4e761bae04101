import { afterAll, afterEach, beforeEach, expect } from "vitest";
import {
  Cluster,
  ClusterEndpoint,
  DELETE_FOR_MOVE_ANNOTATION,
  EndpointRecord,
} from "../../src/api/cluster-api/index.ts";
import { DNSRecord } from "../../src/api/index.ts";
import { OPERATION_ANNOTATION } from "../../src/api/annotations.ts";
import { GENERATED_LABEL } from "../../src/api/labels.ts";
import { ENDPOINT_RECORD_FINALIZER } from "../../src/api/names.ts";
import { findCondition } from "../../src/cluster-api/objects/conditions.ts";
import { generatedLabels } from "../../src/cluster-api/endpoint/generated.ts";
import { createEndpointRecordController } from "../../src/cluster-api/endpoint-record/controller.ts";
import {
  refTo,
  typeMeta,
  unlessGone,
  type KubeClient,
  type ObjectRef,
  type NamespacedKey,
  define,
} from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { applyClusterApiCrds } from "../../src/local/cluster/manifests.ts";
import { readCoreObjects } from "../../src/local/cluster-api/core-objects.ts";
import { queryRecords } from "../../src/provider-local/dns/name-server.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import {
  applyDnsCredentials,
  applyMachine,
  applyTrust,
  clusterNamed,
  recordOf,
  startDnsExtension,
} from "../support/endpoint-record-lab.ts";
import { eventually } from "../support/eventually.ts";
import { makeCertificates } from "../support/certificates.ts";
import { startNameServer, type TestNameServer } from "../support/name-server.ts";

const namespace = "default";
const log = createLogger({ name: "test", level: "silent" });
const address = "127.0.0.7";
const published = { recordType: "A", values: [address] } as const;

let client: KubeClient;
let dns: TestNameServer;
let ca: string;
let extension: { stop(): Promise<void> } | undefined;
let controller: { start(): void; stop(): Promise<void> } | undefined;

test.beforeAll(async ({ cluster }) => {
  ({ client } = cluster);
  await define(client, (await readCoreObjects()).definitions);
  await applyClusterApiCrds(client);
  dns = await startNameServer();
  await applyDnsCredentials(client, namespace, dns);
  ({ ca } = await makeCertificates(["*.perennial.test"]));
});
beforeEach(() => {
  startExtension();
  startController();
});
afterEach(async () => {
  await stopController();
  await stopExtension();
});
afterAll(async () => await dns.stop());

function startController(): void {
  const events = { record: () => undefined, settled: async () => {} };
  controller = createEndpointRecordController({ management: client, garden: client, events, log }, { period: 200 });
  controller.start();
}

async function stopController(): Promise<void> {
  await controller?.stop();
  controller = undefined;
}

function startExtension(): void {
  extension = startDnsExtension(client);
}

async function stopExtension(): Promise<void> {
  await extension?.stop();
  extension = undefined;
}

/** A Cluster with one Machine, and a record whose name leads to it. */
async function publish(name: string): Promise<NamespacedKey> {
  const key = { namespace, name };
  await applyTrust(client, key, ca);
  await client.create(clusterNamed(key));
  await applyMachine(client, key, { name: `${name}-0`, addresses: [{ type: "InternalIP", address }] });
  await client.create(recordOf(key));
  await eventually(async () => expect((await client.read(EndpointRecord, key))?.spec.published).toEqual(published));
  await leads(name);
  return key;
}

/** Pauses a record's Cluster, or resumes it. */
async function pause(key: NamespacedKey, paused: boolean): Promise<void> {
  await client.patch(refTo(Cluster, key), { spec: { paused } });
  await eventually(async () => {
    const { conditions } = (await client.read(EndpointRecord, key))?.status ?? {};
    expect(findCondition(conditions, "Paused")?.status).toBe(paused ? "True" : "False");
  });
}

/** What `clusterctl move` does to a record and its endpoint on the source, once they are on the target. */
async function takeAway(key: NamespacedKey): Promise<void> {
  await pause(key, true);
  const mark = { op: "add", path: "/metadata/annotations", value: { [DELETE_FOR_MOVE_ANNOTATION]: "" } } as const;
  const refs: readonly ObjectRef[] = [refTo(ClusterEndpoint, key), refTo(EndpointRecord, key)];
  for (const ref of refs) {
    await client.patch(ref, [mark]);
    await client.remove(ref);
    await unlessGone(client.patch(ref, { metadata: { finalizers: [] } }));
  }
  expect(await client.read(EndpointRecord, key)).toBeUndefined();
}

const answersOf = async (name: string) => await queryRecords(dns.server, { name: `${name}.perennial.test`, type: "A" });
const leads = async (name: string) => await eventually(async () => expect(await answersOf(name)).toEqual([address]));
const isGone = async (key: NamespacedKey) =>
  await eventually(async () => expect(await client.read(DNSRecord, key)).toBeUndefined());

test("a record that clusterctl takes away leaves its name in the DNS, and no DNSRecord", async () => {
  const key = await publish("away");
  await takeAway(key);
  await isGone(key);
  expect(await answersOf("away")).toEqual([address]);
});

test("a process that starts where no record is left goes on: nothing was asked yet", async () => {
  const key = await publish("unasked");
  await pause(key, true);
  await stopController();
  await takeAway(key);
  startController();
  await isGone(key);
  expect(await answersOf("unasked")).toEqual([address]);
});

test("a process that starts where no record is left goes on: the extension has not answered yet", async () => {
  const key = await publish("unanswered");
  await stopExtension();
  await takeAway(key);
  await eventually(async () => {
    const { annotations } = (await client.read(DNSRecord, key))?.metadata ?? {};
    expect(annotations?.[OPERATION_ANNOTATION]).toBe("migrate");
  });
  await stopController();
  startController();
  startExtension();
  await isGone(key);
  expect(await answersOf("unanswered")).toEqual([address]);
});

test("a process that starts where no record is left goes on: the extension has let go", async () => {
  const key = await publish("free");
  await pause(key, true);
  await stopController();
  await takeAway(key);
  await client.patch(refTo(DNSRecord, key), { metadata: { annotations: { [OPERATION_ANNOTATION]: "migrate" } } });
  await eventually(async () => expect((await client.read(DNSRecord, key))?.metadata.finalizers ?? []).toEqual([]));
  startController();
  await isGone(key);
  expect(await answersOf("free")).toEqual([address]);
});

test("a record that comes back while its DNSRecord is handed over gets another, and its name stays", async () => {
  const key = await publish("back");
  const before = (await client.read(DNSRecord, key))?.metadata.uid;
  await stopExtension();
  await takeAway(key);
  await eventually(async () => {
    const { annotations } = (await client.read(DNSRecord, key))?.metadata ?? {};
    expect(annotations?.[OPERATION_ANNOTATION]).toBe("migrate");
  });
  await client.create(recordOf(key, { published: { ...published, values: [address] } }));
  await pause(key, false);
  startExtension();
  await eventually(async () => {
    expect(await answersOf("back")).toEqual([address]);
    const found = await client.read(DNSRecord, key);
    expect(found?.metadata.uid).toBeDefined();
    expect(found?.metadata.uid).not.toBe(before);
    expect(found?.status?.lastOperation).toMatchObject({ type: "Create", state: "Succeeded" });
  });
});

test("a record that has come leads where it did, before a Machine is known here", async () => {
  const key = { namespace, name: "come" };
  await dns.update(`add come.perennial.test 10 A ${address}`);
  await client.create(clusterNamed(key));
  await client.create(recordOf(key, { published: { ...published, values: [address] } }));
  await eventually(async () => {
    const found = await client.read(DNSRecord, key);
    expect(found?.spec.values).toEqual([address]);
    expect(found?.status?.lastOperation).toMatchObject({ type: "Create", state: "Succeeded" });
  });
  expect(await answersOf("come")).toEqual([address]);
});

test("a record takes over the endpoint that was generated under its name while its Cluster had none", async () => {
  const key = { namespace, name: "generated" };
  const value = { host: "generated.perennial.test", port: 6443 };
  await client.create({
    ...typeMeta(ClusterEndpoint),
    metadata: { ...key, labels: generatedLabels("provider", value) },
    spec: { cluster: key.name, ...value, type: "ExternalControlPlaneEndpoint" },
  });
  await client.create(clusterNamed(key));
  const { uid } = (await client.create(recordOf(key))).metadata;
  await eventually(async () => {
    const { metadata } = (await client.read(ClusterEndpoint, key)) ?? {};
    expect(metadata?.ownerReferences).toMatchObject([{ kind: "EndpointRecord", uid }]);
    expect(metadata?.labels ?? {}).not.toHaveProperty([GENERATED_LABEL]);
  });
});

test("a record that is deleted as soon as it has come takes its name out of the DNS", async () => {
  const key = { namespace, name: "brief" };
  await stopController();
  await dns.update(`add brief.perennial.test 10 A ${address}`);
  const { metadata, ...rest } = recordOf(key, { published: { ...published, values: [address] } });
  await client.create({ ...rest, metadata: { ...metadata, finalizers: [ENDPOINT_RECORD_FINALIZER] } });
  await client.remove(refTo(EndpointRecord, key));
  startController();
  await eventually(async () => expect(await client.read(EndpointRecord, key)).toBeUndefined());
  expect(await answersOf("brief")).toEqual([]);
  expect(await client.read(DNSRecord, key)).toBeUndefined();
});
