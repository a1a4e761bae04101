import { expect, test } from "vitest";
import { EndpointRecord, type Cluster } from "../../../src/api/cluster-api/index.ts";
import { DNSRecord } from "../../../src/api/index.ts";
import { ENDPOINT_RECORD_LABEL } from "../../../src/api/labels.ts";
import { ENDPOINT_RECORD_FINALIZER } from "../../../src/api/names.ts";
import { publish } from "../../../src/cluster-api/endpoint-record/publish.ts";
import { removeRecord } from "../../../src/cluster-api/endpoint-record/remove.ts";
import { claimantsOf } from "../../../src/cluster-api/endpoint-record/rivals.ts";
import { KubeError, typeMeta, type KubeClient } from "../../../src/kube/index.ts";
import { keepObjects } from "../../support/kept-objects.ts";

const name = "api.example.com";
const key = { name: "foo", namespace: "fleet" };
const published = { recordType: "A", values: ["10.0.0.1"] } as const;

/** A record that has been this process's before: its finalizer says no more than that. */
const record = (
  metadata: Partial<EndpointRecord["metadata"]> = {},
  spec: Partial<EndpointRecord["spec"]> = {},
): EndpointRecord => ({
  ...typeMeta(EndpointRecord),
  metadata: { ...key, uid: "a-uid", finalizers: [ENDPOINT_RECORD_FINALIZER], ...metadata },
  spec: {
    cluster: "foo",
    name,
    port: 6443,
    ttl: 10,
    provider: { type: "rfc2136", secretRef: { name: "dns" } },
    ...spec,
  },
});
const leaving = { deletionTimestamp: "2026-01-03T00:00:00Z" };
const moved = { published: { ...published, values: [...published.values] } };

const dnsRecord = (of: string): DNSRecord => ({
  ...typeMeta(DNSRecord),
  metadata: { ...key, uid: "d-uid", labels: { [ENDPOINT_RECORD_LABEL]: "a-uid" } },
  spec: {
    ...{ type: "rfc2136", class: "garden", name: of, recordType: "A", values: ["10.0.0.1"], ttl: 10 },
    secretRef: { name: "dns", namespace: "fleet" },
  },
});

const left = (objects: ReadonlyMap<string, { readonly kind: string }>) => [...objects.values()].map(({ kind }) => kind);

test("a record that goes and never had its name writes nothing under it, whatever it says was published", async () => {
  const going = record(leaving, moved);
  const { client, objects } = keepObjects(going);
  await removeRecord(client, going, { hasName: false, hasDnsRecords: true });
  expect(left(objects)).toEqual(["EndpointRecord"]);
  expect([...objects.values()][0]?.metadata.finalizers).toEqual([]);
});

test("a record that was moved and goes before its DNSRecord was made has one made, which takes the name out of the DNS", async () => {
  const going = record(leaving, moved);
  const { client, objects } = keepObjects(going);
  await removeRecord(client, going, { hasName: true, hasDnsRecords: true });
  expect(left(objects)).toEqual(["EndpointRecord", "DNSRecord"]);
});

test("a record that was moved to where no DNSRecords are served stays, and says what is missing and the way out", async () => {
  const going = record(leaving, moved);
  const kept = keepObjects(going);
  const client: KubeClient = {
    ...kept.client,
    create: () => Promise.reject(new KubeError("no such kind", { status: 404, reason: "NotFound", retryable: false })),
  };
  expect(await removeRecord(client, going, { hasName: true, hasDnsRecords: false })).toBeUndefined(); // a watch tells
  const { status } = [...kept.objects.values()][0] as EndpointRecord;
  expect(status?.conditions?.[0]).toMatchObject({
    reason: "Deleting",
    message: expect.stringMatching(/serves no DNSRecords.*take away finalizer/) as string,
  });
});

test.each<[string, EndpointRecord, readonly DNSRecord[], string | undefined]>([
  ["whose DNSRecord has its name", record(leaving), [dnsRecord(name)], "published"],
  ["whose DNSRecord has another name", record(), [dnsRecord("throwaway.example.com")], "able"],
  ["that is paused", record({ annotations: { "cluster.x-k8s.io/paused": "" } }), [], undefined],
  ["that goes", record(leaving), [], undefined],
])("a record %s competes as far as it has come", async (_, one, dnsRecords, stage) => {
  const [found] = dnsRecords;
  const watched = { cluster: () => ({}) as Cluster, hasCredentials: () => true, dnsRecord: async () => found };
  const [claimant] = await claimantsOf(watched, [one]);
  expect(claimant?.stage).toBe(stage);
});

test("what a name is to say is noted in the record before there is a DNSRecord, so that a move takes it along", async () => {
  const first = record();
  const { client, objects } = keepObjects(first);
  const members = [{ name: "a", addresses: ["10.0.0.1"] as const, leaves: false }];
  const heard = { members, serves: () => true, hasCredentials: true, hasDnsRecords: true };
  expect(await publish(client, first, heard)).toEqual({});
  expect(left(objects)).toEqual(["EndpointRecord"]);
  const noted = [...objects.values()][0] as EndpointRecord;
  expect(noted.spec.published).toEqual(published);
  await publish(client, noted, heard);
  expect(left(objects)).toEqual(["EndpointRecord", "DNSRecord"]);
});

test.each([
  ["is not asked again for the kind while the definition is missing: a watch tells", false, false],
  ["is asked again while the definition has just come", true, true],
])("an API server that serves no DNSRecords %s", async (_, hasDnsRecords, comesBack) => {
  const noted = record({}, moved);
  const kept = keepObjects(noted);
  const client: KubeClient = {
    ...kept.client,
    create: () => Promise.reject(new KubeError("no such kind", { status: 404, reason: "NotFound", retryable: false })),
  };
  const heard = { members: [], serves: () => true, hasCredentials: true, hasDnsRecords };
  const found = await publish(client, noted, heard);
  expect(found.said).toMatchObject({ reason: "NoExtension" });
  expect(found.requeueAfter !== undefined).toBe(comesBack);
});
