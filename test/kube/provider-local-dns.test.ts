import { afterAll, describe, expect } from "vitest";
import { DNSRecord } from "../../src/api/index.ts";
import { createExtensionController, type ExtensionController } from "../../src/extension/index.ts";
import { refTo } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createDnsRecordActuator } from "../../src/provider-local/dns/record.ts";
import { queryRecords, updateRecords } from "../../src/provider-local/dns/name-server.ts";
import { test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { startNameServer, type TestNameServer } from "../support/name-server.ts";
import { eventually } from "../support/eventually.ts";

let plane: ControlPlane;
let dns: TestNameServer;
let controller: ExtensionController;
const log = createLogger({ name: "test", level: "silent" });
const namespace = "shoot--dev--dns";

test.beforeAll(async ({ cluster }) => {
  plane = cluster;
  dns = await startNameServer();
  const { client } = plane;
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await applyCluster();
  const actuator = createDnsRecordActuator({ server: dns.server, zone: dns.zone });
  controller = createExtensionController({ client, kind: "DNSRecord", type: "rfc2136", actuator, log });
  controller.start();
});
afterAll(async () => {
  await controller.stop();
  await dns.stop();
});

describe("a DNSRecord", () => {
  test("is in the DNS while it exists, with the values that it has now", async () => {
    const name = "api.one.perennial.test";
    await apply("one", { name, recordType: "A", values: ["172.30.128.1"] });
    await succeeded("one");
    expect(await queryRecords(dns.server, { name, type: "A" })).toEqual(["172.30.128.1"]);
    await apply("one", { name, recordType: "A", values: ["172.30.128.3", "172.30.128.2"] });
    await succeeded("one", 2);
    expect(await queryRecords(dns.server, { name, type: "A" })).toEqual(["172.30.128.2", "172.30.128.3"]);
    const record = await read("one");
    expect(record?.status?.zone).toBe("perennial.test");
    await plane.client.remove(ref("one"));
    await eventually(async () => expect(await read("one")).toBeUndefined());
    expect(await queryRecords(dns.server, { name, type: "A" })).toEqual([]);
  });

  test("uses the server and key of its Secret when that names them", async () => {
    const { server, key } = dns;
    const data = {
      Server: `${server.address}:${server.port}`,
      TSIGKeyName: key.name,
      TSIGSecret: key.secret,
      Zone: dns.zone,
    };
    const stringData = { ...data, TSIGSecretAlgorithm: key.algorithm };
    await plane.client.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "own", namespace }, stringData });
    const name = "own.perennial.test";
    await apply("own", { name, recordType: "TXT", values: ["Seed=seed-1"], secretRef: { name: "own", namespace } });
    await succeeded("own");
    expect(await queryRecords(server, { name, type: "TXT" })).toEqual(["Seed=seed-1"]);
  });

  test("reports the refusal of a server", async () => {
    await apply("foreign", { name: "api.example.org", recordType: "A", values: ["172.30.128.1"], zone: "example.org" });
    await eventually(async () => expect((await read("foreign"))?.status?.lastError).toBeDefined());
    const { lastError } = (await read("foreign"))?.status ?? {};
    expect(lastError?.description).toMatch(/cannot update A api.example.org: .*NOTAUTH.*use a name in a zone of it/);
    expect(lastError?.codes).toEqual(["ERR_CONFIGURATION_PROBLEM"]);
  });

  test.each([
    ["in a zone that its server does not serve", { zone: "example.org" }],
    ["outside of its server's zone", {}],
  ])("that was never written, %s, is deleted", async (what, zone) => {
    const name = what.startsWith("in") ? "elsewhere" : "outside";
    await apply(name, { name: "api.example.org", recordType: "A", values: ["172.30.128.1"], ...zone });
    await eventually(async () => expect((await read(name))?.status?.lastError).toBeDefined());
    expect((await read(name))?.status?.lastError?.codes).toEqual(["ERR_CONFIGURATION_PROBLEM"]);
    await plane.client.remove(ref(name));
    await eventually(async () => expect(await read(name)).toBeUndefined());
  });

  test("outside of its server's zones is deleted once its Secret names a zone", async () => {
    const { server, key } = dns;
    const address = `${server.address}:${server.port}`;
    const data = { Server: address, TSIGKeyName: key.name, TSIGSecret: key.secret };
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "zoneless", namespace } };
    await plane.client.apply({ ...secret, stringData: data });
    const secretRef = { name: "zoneless", namespace };
    await apply("zoneless", { name: "api.example.org", recordType: "A", values: ["172.30.128.1"], secretRef });
    await eventually(async () => {
      const { lastError } = (await read("zoneless"))?.status ?? {};
      expect(lastError?.description).toMatch(/cannot update A api.example.org: .*set Zone in its Secret/);
      expect(lastError?.codes).toEqual(["ERR_CONFIGURATION_PROBLEM"]);
    });
    await plane.client.apply({ ...secret, stringData: { ...data, Zone: dns.zone } });
    await plane.client.remove(ref("zoneless"));
    await eventually(async () => expect(await read("zoneless")).toBeUndefined());
  });

  test("that was written stays while its server refuses to delete it, unless its Shoot is deleted by force", async () => {
    await apply("moved", { name: "moved.perennial.test", recordType: "A", values: ["172.30.128.1"] });
    await succeeded("moved");
    await apply("moved", {
      name: "moved.perennial.test",
      recordType: "A",
      values: ["172.30.128.1"],
      zone: "example.org",
    });
    await plane.client.remove(ref("moved"));
    await eventually(async () =>
      expect((await read("moved"))?.status).toMatchObject({
        lastOperation: { type: "Delete", state: "Error" },
        lastError: { codes: ["ERR_CONFIGURATION_PROBLEM"] },
      }),
    );
    await applyCluster({
      deletionTimestamp: new Date().toISOString(),
      annotations: { "confirmation.gardener.cloud/force-deletion": "true" },
    });
    await askAgain("moved");
    await eventually(async () => expect(await read("moved")).toBeUndefined());
    await applyCluster();
  });
});

describe("a signed update", () => {
  test.each([
    ["A", ["172.30.128.9"]],
    ["AAAA", ["fd00::1"]],
    ["CNAME", ["target.perennial.test"]],
    ["TXT", ["Seed=seed-1", 'with "quotes" and \\ and ; and ü', "x".repeat(600)]],
  ] as const)("writes %s records, twice the same, and removes them, twice", async (type, values) => {
    const records = { name: `${type.toLowerCase()}.perennial.test`, type, ttl: 5 };
    const { server, zone } = dns;
    await updateRecords(server, zone, { ...records, values });
    await updateRecords(server, zone, { ...records, values });
    expect(await queryRecords(server, records)).toEqual([...values].sort());
    await updateRecords(server, zone, { ...records, values: [] });
    await updateRecords(server, zone, { ...records, values: [] });
    expect(await queryRecords(server, records)).toEqual([]);
  });

  test("takes another spelling of an address for the same", async () => {
    const records = { name: "spelling.perennial.test", type: "AAAA", values: ["FD00:0:0::0001"], ttl: 5 } as const;
    await updateRecords(dns.server, dns.zone, records);
    expect(await queryRecords(dns.server, records)).toEqual(["fd00::1"]);
  });

  test("fails when the server keeps something else, as with a CNAME beside an address", async () => {
    const name = "both.perennial.test";
    await updateRecords(dns.server, dns.zone, { name, type: "A", values: ["172.30.128.9"], ttl: 5 });
    const cname = { name, type: "CNAME", values: ["ns.perennial.test"], ttl: 5 } as const;
    await expect(updateRecords(dns.server, dns.zone, cname)).rejects.toThrow(
      "the server answers [] instead of [ns.perennial.test]",
    );
  });

  test("with another key changes nothing", async () => {
    const key = { name: "test", secret: Buffer.from("wrong").toString("base64"), algorithm: "hmac-sha256" };
    const records = { name: "wrong.perennial.test", type: "A", values: ["172.30.128.9"], ttl: 5 } as const;
    await expect(updateRecords({ ...dns.server, key }, dns.zone, records)).rejects.toThrow(
      /cannot update A wrong.perennial.test/,
    );
    expect(await queryRecords(dns.server, records)).toEqual([]);
  });
});

function applyCluster(metadata: object = {}) {
  return plane.client.apply({
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Cluster",
    metadata: { name: namespace },
    spec: { cloudProfile: {}, shoot: { metadata: { name: "dns", namespace: "garden-dev", ...metadata } } },
  });
}

function askAgain(name: string) {
  const annotations = {
    "gardener.cloud/operation": "reconcile",
    "gardener.cloud/timestamp": new Date().toISOString(),
  };
  return plane.client.patch(ref(name), { metadata: { annotations } });
}

function apply(name: string, spec: object): Promise<DNSRecord> {
  return plane.client.apply<DNSRecord>({
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "DNSRecord",
    metadata: {
      ...{ name, namespace },
      annotations: { "gardener.cloud/operation": "reconcile", "gardener.cloud/timestamp": new Date().toISOString() },
    },
    spec: { type: "rfc2136", secretRef: { name: "none", namespace }, ttl: 5, ...spec },
  } as unknown as DNSRecord);
}

async function succeeded(name: string, generation = 1): Promise<void> {
  await eventually(async () => {
    const { lastOperation, observedGeneration } = (await read(name))?.status ?? {};
    expect([lastOperation?.state, observedGeneration]).toEqual(["Succeeded", generation]);
  });
}

function read(name: string): Promise<DNSRecord | undefined> {
  return plane.client.read(ref(name));
}

function ref(name: string) {
  return refTo(DNSRecord, { name, namespace });
}
