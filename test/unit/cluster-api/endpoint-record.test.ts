import { describe, expect, test } from "vitest";
import type { EndpointRecord, Machine } from "../../../src/api/cluster-api/index.ts";
import type { DNSRecord } from "../../../src/api/index.ts";
import { createClaims, type Claimant, type Claims } from "../../../src/cluster-api/endpoint-record/claims.ts";
import { chooseMembers, membersOf, type Member } from "../../../src/cluster-api/endpoint-record/members.ts";
import { judgeDnsRecord } from "../../../src/cluster-api/endpoint-record/published.ts";
import { valuesFor } from "../../../src/cluster-api/endpoint-record/values.ts";

const member = (name: string, address: string, leaves = false): Member => ({ name, addresses: [address], leaves });

describe("of a Machine's addresses", () => {
  const machine = (name: string, ...addresses: [type: string, address: string][]): Machine => ({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata: { name, namespace: "fleet" },
    spec: { clusterName: "foo", bootstrap: {}, infrastructureRef: { apiGroup: "a", kind: "B", name } },
    status: { addresses: addresses.map(([type, address]) => ({ type, address })) },
  });
  test.each([
    [
      "the external one goes before the internal one",
      [
        ["InternalIP", "10.0.0.1"],
        ["ExternalIP", "1.2.3.4"],
      ],
      ["1.2.3.4"],
    ],
    [
      "the internal one goes before a name",
      [
        ["ExternalDNS", "a.example.com"],
        ["InternalIP", "10.0.0.1"],
      ],
      ["10.0.0.1"],
    ],
    [
      "names are the last resort",
      [
        ["Hostname", "a"],
        ["InternalDNS", "a.internal"],
      ],
      ["a.internal"],
    ],
    [
      "IPv4 goes before IPv6",
      [
        ["InternalIP", "fd00::1"],
        ["InternalIP", "10.0.0.1"],
      ],
      ["10.0.0.1", "fd00::1"],
    ],
    [
      "what is no address of its kind does not count",
      [
        ["ExternalIP", "a.example.com"],
        ["InternalIP", "10.0.0.1"],
      ],
      ["10.0.0.1"],
    ],
  ] as const)("%s", (_, addresses, expected) => {
    const [found] = membersOf([
      machine("m", ...addresses.map(([type, address]) => [type, address] as [string, string])),
    ]);
    expect(found?.addresses).toEqual(expected);
  });

  test("none at all leaves the Machine out", () => {
    expect(membersOf([machine("m", ["Hostname", "m"]), machine("n", ["InternalIP", "10.0.0.1"])])).toEqual([
      member("n", "10.0.0.1"),
    ]);
  });
});

test.each([
  ["those that serve", "ab", "", "ab"],
  ["all where none serves", "", "", "abc"],
  ["none that is being deleted while another serves", "abc", "a", "bc"],
  ["one that is being deleted where no other serves", "a", "a", "a"],
  ["those that stay where none serves", "", "a", "bc"],
  ["all where none serves and none stays", "", "abc", "abc"],
])("the name leads to %s", (_, serving, leaving, expected) => {
  const members = [..."abc"].map((name) => member(name, `10.0.0.${name.charCodeAt(0)}`, leaving.includes(name)));
  const chosen = chooseMembers(members, ({ name }) => serving.includes(name));
  expect(chosen.map(({ name }) => name).join("")).toBe(expected);
});

describe("a name's record", () => {
  const four = member("four", "10.0.0.1");
  const six = member("six", "fd00::1");
  const both: Member = { name: "both", addresses: ["10.0.0.2", "fd00::2"], leaves: false };
  const [a, b] = [member("a", "a.example.com"), member("b", "b.example.com")];
  test.each([
    ["is of IPv4 where all have one", [both, four], undefined, { recordType: "A", values: ["10.0.0.1", "10.0.0.2"] }],
    [
      "is of IPv6 where not all have IPv4",
      [both, six],
      undefined,
      { recordType: "AAAA", values: ["fd00::1", "fd00::2"] },
    ],
    [
      "keeps its type while all have it",
      [both],
      { recordType: "AAAA", values: ["fd00::9"] },
      { recordType: "AAAA", values: ["fd00::2"] },
    ],
    [
      "changes its type when none has it",
      [six],
      { recordType: "A", values: ["10.0.0.9"] },
      { recordType: "AAAA", values: ["fd00::1"] },
    ],
    ["leads to one name only", [a, b], undefined, { recordType: "CNAME", values: ["a.example.com"] }],
    [
      "stays with the name that it has",
      [a, b],
      { recordType: "CNAME", values: ["b.example.com"] },
      { recordType: "CNAME", values: ["b.example.com"] },
    ],
  ] as const)("%s", (_, members, present, record) => {
    expect(valuesFor(members, present)).toEqual({ record, leftOut: [] });
  });

  test("of a mixture keeps its type for those who have it, and is none where it has none yet", () => {
    const present = { recordType: "A", values: ["10.0.0.9"] } as const;
    expect(valuesFor([four, a], present)).toEqual({ record: { recordType: "A", values: ["10.0.0.1"] }, leftOut: [a] });
    expect(valuesFor([four, a])).toEqual({ leftOut: [four, a] });
  });
});

describe("of records of one name", () => {
  const said = (reason: string): EndpointRecord["status"] => ({
    conditions: [
      { type: "Published", status: "True", reason, message: "", lastTransitionTime: "2026-01-09T00:00:00Z" },
    ],
  });
  const record = (name: string, at: number, reason?: string): EndpointRecord => ({
    apiVersion: "perennial.dev/v1alpha1",
    kind: "EndpointRecord",
    metadata: {
      ...{ name, namespace: "fleet", uid: `uid-${name}`, creationTimestamp: `2026-01-0${at}T00:00:00Z` },
      finalizers: ["cluster-api.perennial.dev/endpoint-record"], // as one that has lost its name keeps it
    },
    spec: {
      ...{ cluster: name, name: "api.example.com", port: 6443, ttl: 10 },
      provider: { type: "rfc2136", secretRef: { name: "dns" } },
    },
    ...(reason !== undefined && { status: said(reason) }),
  });
  const [old, young, held] = [record("old", 1), record("young", 2), record("held", 3, "Published")];
  const claim = (one: EndpointRecord, stage: Claimant["stage"] = "able"): Claimant => ({ record: one, stage });
  const holder = (claims: Claims, ...all: readonly Claimant[]) =>
    claims.holderOf("api.example.com", all)?.metadata.name;

  test.each([
    ["the oldest", claim(young), claim(old), "old"],
    ["the first by name of two as old", claim(record("b", 1)), claim(record("a", 1)), "a"],
    ["the one that had it before this process led", claim(old), claim(held), "held"],
    ["the oldest, of which another had the name,", claim(record("loser", 1, "NameTaken")), claim(young), "loser"],
    [
      "the one that had it, and not an older one that had no Cluster,",
      claim(record("late", 1, "WaitingForCluster")),
      claim(held),
      "held",
    ],
    [
      "the one that has it, and not an older one to which it was refused,",
      claim(record("loser", 1, "NameTaken")),
      claim(held),
      "held",
    ],
    ["the one that can bring it into the DNS", claim(old, "without credentials"), claim(young), "young"],
    ["the one that can, also before one that had it,", claim(held, "without credentials"), claim(old), "old"],
    ["the one that may have brought it into the DNS", claim(old), claim(young, "published"), "young"],
    ["the oldest of those that cannot", claim(young, "without credentials"), claim(old, "without credentials"), "old"],
  ] as const)("%s has it, in any order", (_, first, second, name) => {
    expect(holder(createClaims(), first, second)).toBe(name);
    expect(holder(createClaims(), second, first)).toBe(name);
  });

  test("who has it keeps it from one that should have come first, until it has gone", () => {
    const claims = createClaims();
    expect(holder(claims, claim(young))).toBe("young");
    expect(holder(claims, claim(old), claim(young))).toBe("young");
    expect(holder(claims, claim(old))).toBe("old");
    expect(holder(claims, claim(young), claim(old))).toBe("old");
  });

  test("who has it loses it to one that is able when it is not, and does not get it back", () => {
    const claims = createClaims();
    expect(holder(claims, claim(old))).toBe("old");
    expect(holder(claims, claim(old, "without credentials"), claim(young))).toBe("young");
    expect(holder(claims, claim(old), claim(young))).toBe("young");
  });

  test("the names of records that have gone are forgotten, also where a record of its name came back with another", () => {
    const claims = createClaims();
    const gone = { namespace: old.metadata.namespace, name: "old" };
    for (let at = 0; at < 1_000; at++) {
      claims.holderOf(`n${at}.example.com`, [claim(old)]);
      claims.holderOf(`m${at}.example.com`, [claim(old)]);
      claims.forget(gone);
    }
    claims.holderOf("api.example.com", [claim(young)]);
    claims.forget(gone);
    expect(claims.count()).toBe(1);
  });

  test("none has it where none competes", () => {
    expect(holder(createClaims())).toBeUndefined();
  });
});

describe("a DNSRecord", () => {
  const asked = "2026-01-01T00:00:00.000000000Z";
  const at = Date.parse("2026-01-01T00:00:00Z");
  const dnsRecord = (status: DNSRecord["status"], annotations: Record<string, string> = {}): DNSRecord => ({
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "DNSRecord",
    metadata: {
      ...{ name: "foo", namespace: "fleet", generation: 2 },
      annotations: { "gardener.cloud/timestamp": asked, ...annotations },
    },
    spec: {
      ...{ type: "aws-route53", class: "garden", secretRef: { name: "dns", namespace: "fleet" } },
      ...{ name: "api.example.com", recordType: "A", values: ["10.0.0.1"] },
    },
    status,
  });
  const operation = {
    lastUpdateTime: "2026-01-01T00:00:01Z",
    type: "Reconcile",
    description: "",
    progress: 100,
  } as const;

  test("that its extension has done is published", () => {
    const done = dnsRecord({ observedGeneration: 2, lastOperation: { ...operation, state: "Succeeded" } });
    expect(judgeDnsRecord(done, at)).toMatchObject({ status: "True", message: "api.example.com leads to 10.0.0.1" });
  });

  test("that its extension has failed at is not, in its words", () => {
    const lastError = { description: "no such hosted zone", lastUpdateTime: "2026-01-01T00:00:01Z" };
    const failed = dnsRecord({ lastError, lastOperation: { ...operation, state: "Error" } });
    expect(judgeDnsRecord(failed, at)).toMatchObject({
      ...{ status: "False", reason: "ExtensionFailed", message: "DNSRecord fleet/foo: no such hosted zone" },
    });
  });

  test("that no extension takes up has fifteen seconds, and is then not published since it was asked for", () => {
    const silent = dnsRecord(undefined, { "gardener.cloud/operation": "reconcile" });
    expect(judgeDnsRecord(silent, at + 5_000)).toEqual({ pendingFor: 10_000 });
    expect(judgeDnsRecord(silent, at + 15_000)).toMatchObject({
      ...{ status: "False", reason: "ExtensionSilent" },
      message: expect.stringContaining(
        `waits for the extension for DNSRecords of type aws-route53 and class garden since ${asked}`,
      ),
    });
  });
});
