import { expect, test } from "vitest";
import { z } from "zod";
import { ClusterEndpoint, endpointTypes, type EndpointTypes } from "../../../src/api/cluster-api/index.ts";
import { decide } from "../../../src/cluster-api/endpoint/decide.ts";
import { inOrder, rankOf } from "../../../src/cluster-api/endpoint/rank.ts";
import { surfacedCondition } from "../../../src/cluster-api/endpoint/verdict.ts";
import { clusterOf, endpointOf, type EndpointTraits } from "../../support/cluster-endpoints.ts";

const cluster = clusterOf();

test.each<[string, EndpointTraits, string]>([
  ["without an owner", {}, "thirdParty"],
  ["owned by the Cluster", { owner: "cluster" }, "thirdParty"],
  ["owned by the infrastructure", { owner: "infrastructure" }, "infrastructure"],
  ["owned by the control plane", { owner: "controlPlane" }, "controlPlane"],
  ["generated from a user's value", { owner: "cluster", generated: "user" }, "user"],
  ["generated from the infrastructure's field", { owner: "infrastructure", generated: "provider" }, "provider"],
  ["generated from the control plane's field", { owner: "controlPlane", generated: "provider" }, "provider"],
  ["generated from what an object left behind", { owner: "cluster", generated: "provider" }, "provider"],
])("an endpoint %s has its rank", (_, traits, rank) => {
  expect(rankOf(endpointOf(traits), cluster.spec)).toBe(rank);
});

test("an endpoint of another object's infrastructure is a third party's", () => {
  const other = { ...endpointOf({ owner: "infrastructure" }) };
  const spec = { ...cluster.spec, infrastructureRef: { ...cluster.spec.infrastructureRef, name: "other" } };
  expect(rankOf(other, spec as typeof cluster.spec)).toBe("thirdParty");
});

test("a generated endpoint that was edited has the rank of its owner", () => {
  const generated = endpointOf({ owner: "infrastructure", generated: "provider" });
  const edited = { ...generated, spec: { ...generated.spec, host: "other.example.com" } };
  expect(rankOf(edited, cluster.spec)).toBe("infrastructure");
});

/** Those first that go before all behind them. */
const table: readonly EndpointTraits[] = [
  { name: "third-older", createdAt: "2026-01-01T00:00:00Z" },
  { name: "third-a", createdAt: "2026-01-02T00:00:00Z" },
  { name: "third-b", createdAt: "2026-01-02T00:00:00Z", owner: "cluster" },
  { name: "user", createdAt: "2025-01-01T00:00:00Z", owner: "cluster", generated: "user" },
  { name: "infra-older", createdAt: "2024-01-01T00:00:00Z", owner: "infrastructure" },
  { name: "infra", createdAt: "2024-01-02T00:00:00Z", owner: "infrastructure" },
  { name: "control-plane", createdAt: "2023-01-01T00:00:00Z", owner: "controlPlane" },
  { name: "provider-a", createdAt: "2022-01-01T00:00:00Z", owner: "infrastructure", generated: "provider" },
  { name: "provider-b", createdAt: "2022-01-01T00:00:00Z", owner: "controlPlane", generated: "provider" },
];
const endpoints = table.map((traits) => endpointOf({ ...traits, host: `${traits.name}.example.com` }));
const names = table.map(({ name }) => name);

test("each endpoint wins over every one that is behind it in the table, whichever comes first", () => {
  for (const [index, first] of endpoints.entries())
    for (const second of endpoints.slice(index + 1)) {
      expect(decide(cluster.spec, [first, second]).winner).toBe(first);
      expect(decide(cluster.spec, [second, first]).winner).toBe(first);
    }
  expect(inOrder(endpoints.toReversed(), cluster.spec).map(({ metadata }) => metadata.name)).toEqual(names);
});

test("an endpoint that is being deleted wins over none", () => {
  const leaving = endpointOf({ name: "leaving", metadata: { deletionTimestamp: "2026-01-03T00:00:00Z" } });
  const staying = endpointOf({ name: "staying", owner: "controlPlane" });
  expect(decide(cluster.spec, [leaving, staying])).toMatchObject({ winner: staying, losers: [] });
  expect(decide(cluster.spec, [leaving])).toEqual({ losers: [] });
});

const present = { host: "old.example.com", port: 443 };

test.each<[string, EndpointTraits, object]>([
  ["a third party's", {}, { surface: { host: "api.example.com", port: 443 } }],
  ["the infrastructure's", { owner: "infrastructure" }, { surface: { host: "api.example.com", port: 443 } }],
  ["the control plane's", { owner: "controlPlane" }, { surface: { host: "api.example.com", port: 443 } }],
  ["one generated from a user's value", { generated: "user" }, { follow: present }],
  ["one generated from a provider's field", { owner: "infrastructure", generated: "provider" }, { follow: present }],
])("where the Cluster says something else than the winner, %s has its way or follows", (_, traits, way) => {
  const winner = endpointOf(traits);
  expect(decide(clusterOf(present).spec, [winner])).toEqual({ winner, losers: [], ...way });
});

test.each<[string, { host?: string; port?: number } | undefined]>([
  ["none", undefined],
  ["a host only", { host: "old.example.com" }],
  ["a port only", { port: 6443 }],
])("a Cluster with half an endpoint or none (%s) gets the winner's, also of a generated one", (_, field) => {
  for (const traits of [{}, { generated: "user" }, { generated: "provider" }] as const)
    expect(decide(clusterOf(field).spec, [endpointOf(traits)]).surface).toEqual({ host: "api.example.com", port: 443 });
});

test.each([
  ["capitals", "API.Example.com", "api.example.com"],
  ["a final dot", "api.example.com.", "api.example.com"],
  ["brackets", "[2001:DB8::0:1]", "2001:db8::1"],
])("a Cluster that spells the winner's host with %s has that endpoint already", (_, spelled, host) => {
  expect(decide(clusterOf({ host: spelled, port: 443 }).spec, [endpointOf({ host })])).not.toHaveProperty("surface");
});

test("a generated endpoint stays as it is when its Cluster says what no ClusterEndpoint can hold", () => {
  const winner = endpointOf({ generated: "user" });
  expect(decide(clusterOf({ host: "999.1.1.1", port: 443 }).spec, [winner])).toEqual({ winner, losers: [] });
});

test("a loser is told who overrules it, and why", () => {
  const [older, a, b] = endpoints as [never, never, never];
  const infra = endpointOf({ name: "infra", owner: "infrastructure" });
  const say = (loser: typeof infra, winner: typeof infra) => surfacedCondition(loser, cluster, { winner });
  expect(say(infra, older)).toEqual({
    type: "Surfaced",
    status: "False",
    reason: "Overruled",
    message: "ClusterEndpoint third-older wins: an object of a third party goes before one of the infrastructure",
  });
  expect(say(a, older).message).toMatch("of two objects of a third party, the older wins");
  expect(say(b, a).message).toMatch("of two objects of a third party, the first by name wins");
});

test("an endpoint whose Cluster does not exist waits for it", () => {
  expect(surfacedCondition(endpointOf(), undefined, {})).toMatchObject({
    ...{ status: "False", reason: "WaitingForCluster", message: "there is no Cluster foo in this namespace" },
  });
});

test("a further type that does not surface is one line: its objects win over none, and say why", () => {
  const types: EndpointTypes = { ...endpointTypes, konnectivity: { surfaces: false } };
  const further = endpointOf({ name: "further", type: "konnectivity", createdAt: "2020-01-01T00:00:00Z" });
  const usual = endpointOf({ name: "usual", owner: "controlPlane" });
  expect(decide(cluster.spec, [further, usual], types)).toMatchObject({ winner: usual, losers: [] });
  expect(decide(cluster.spec, [further], types)).toEqual({ losers: [] });
  for (const winner of [{ winner: usual }, {}])
    expect(surfacedCondition(further, cluster, { ...winner, types })).toEqual({
      type: "Surfaced",
      status: "False",
      reason: "NoSurface",
      message: "an endpoint of type konnectivity is not its Cluster's endpoint: it says where something else answers",
    });
});

test("a further type that surfaces is one line: its objects win by the same order", () => {
  const types: EndpointTypes = { ...endpointTypes, gateway: { surfaces: true } };
  const further = endpointOf({ name: "further", type: "gateway" });
  const usual = endpointOf({ name: "usual", owner: "controlPlane" });
  expect(decide(cluster.spec, [usual, further], types)).toMatchObject({ winner: further, losers: [usual] });
  expect(surfacedCondition(further, cluster, { winner: further, types })).toMatchObject({ status: "True" });
});

test("an object of a type that a later version has brought does not surface", () => {
  for (const type of ["gateway", "toString"]) {
    const later = endpointOf({ type });
    expect(decide(cluster.spec, [later])).toEqual({ losers: [] });
    expect(surfacedCondition(later, cluster, {})).toMatchObject({ status: "False", reason: "NoSurface" });
  }
});

test("the definition takes the types of the table, and no others", () => {
  const { properties = {} } = z.toJSONSchema(ClusterEndpoint.schema.shape.spec) as {
    properties?: Record<string, { enum?: readonly string[] }>;
  };
  expect(properties["type"]?.enum).toEqual(Object.keys(endpointTypes));
});
