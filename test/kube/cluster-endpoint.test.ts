import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { parseAllDocuments } from "yaml";
import { ClusterEndpoint } from "../../src/api/cluster-api/index.ts";
import type { KubeObject } from "../../src/api/index.ts";
import { CustomResourceDefinition, refOf, type KubeClient } from "../../src/kube/index.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import { applyManagement } from "../support/endpoint-lab.ts";

let client: KubeClient;
test.beforeAll(async ({ cluster }) => {
  client = cluster.client;
  await applyManagement(client);
});

const wanted = { cluster: "my-cluster", host: "api.example.com", port: 6443, type: "ExternalControlPlaneEndpoint" };
const named = (name: string, spec: object = wanted, labels?: Record<string, string>): KubeObject => ({
  ...{ apiVersion: ClusterEndpoint.apiVersion, kind: ClusterEndpoint.kind },
  metadata: { name, namespace: "default", ...(labels && { labels }) },
  spec,
});

test("an API server takes the definitions of a management cluster for structural", async () => {
  const objections = (await client.list(CustomResourceDefinition)).flatMap(({ metadata, status }) =>
    (status?.conditions ?? []).filter(({ type }) => type === "NonStructuralSchema").map(() => metadata.name),
  );
  expect(objections).toEqual([]);
});

test("both examples of the proposal apply as they stand, given a name", async () => {
  const text = await readFile(new URL("../../deploy/examples/cluster-api/endpoints.yaml", import.meta.url), "utf8");
  const examples = parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
  expect(examples).toHaveLength(2);
  for (const example of examples) {
    const { metadata } = example;
    const applied: KubeObject = await client.create({ ...example, metadata: { ...metadata, namespace: "default" } });
    expect(applied["spec"]).toEqual(example["spec"]);
  }
});

test.each(["ExternalControlPlaneEndpoint", "apiserver"])("type %s is accepted", async (type) => {
  await client.create(named(`type-${type.toLowerCase()}`, { ...wanted, type }));
});

test.each(["api.example.com", "a", "10.40.85.102", "2001:db8::1", "::1", "1.example.com", "x--1.example"])(
  "host %s is accepted",
  async (host) => {
    await client.create(named("host", { ...wanted, host }), { dryRun: true });
  },
);

test.each([
  ["https://api.example.com", "host has a scheme: write the name or the address only"],
  ["https://api.example.com:6443", "host has a scheme: write the name or the address only"],
  ["api.example.com:6443", "host has a port: write it into the field port"],
  ["[2001:db8::1]:6443", "host has a port: write it into the field port"],
  ["[2001:db8::1]", "host has brackets: write an IPv6 address without them"],
  ["API.example.com", "host has capitals: write api.example.com"],
  ["api.example.com.", "host ends in a dot: write it without"],
  ["999.1.1.1", "host ends in a number and is no IPv4 address"],
  ["010.0.0.1", "host ends in a number and is no IPv4 address"],
  ["10.1.1", "host ends in a number and is no IPv4 address"],
  ["api.0x1f", "host ends in a number and is no IPv4 address"],
  ["2001:db8:0::1", "host is an IPv6 address in another form than its shortest"],
  ["under_score", "host is no DNS name and no IP address"],
  ["a:b:c", "host is no DNS name and no IP address"],
  ["api.example.com/path", "host is no DNS name and no IP address"],
  ["fe80::1%eth0", "host is no DNS name and no IP address"],
  [`${"a".repeat(64)}.example.com`, "host is no DNS name and no IP address"],
  ["", "spec.host"],
  ["a".repeat(254), "spec.host"],
])("host %j is refused with what to write instead", async (host, message) => {
  await expect(client.create(named("refused", { ...wanted, host }))).rejects.toThrow(message);
});

test.each([
  ["port", 0],
  ["port", 65_536],
  ["port", "6443"],
  ["type", "kubelet"],
  ["cluster", "Not_A_Name"],
])("a wrong %s (%s) is refused by the name of the field", async (field, value) => {
  await expect(client.create(named("refused", { ...wanted, [field]: value }))).rejects.toThrow(`spec.${field}`);
});

test.each(["cluster", "host", "port", "type"] as const)("an endpoint without %s is refused", async (field) => {
  const { [field]: _, ...rest } = wanted;
  await expect(client.create(named("refused", rest))).rejects.toThrow(`spec.${field}`);
});

test("an unknown field is refused by its name, whatever validation the client asks for", async () => {
  const misspelt = named("misspelt", { ...wanted, prot: 443 });
  await expect(client.create(misspelt)).rejects.toThrow("spec.prot: unknown; spec has cluster, host, port and type");
  await expect(client.create({ ...named("misspelt"), sepc: {} })).rejects.toThrow("sepc");
  const known = await client.create(named("known"));
  const patch = client.patch(refOf(known), { spec: { prot: 443 } });
  await expect(patch).rejects.toThrow("spec.prot: unknown");
});

test.each(["cluster", "type"])("an endpoint's %s cannot be changed", async (field) => {
  const made = await client.create(named(`frozen-${field}`));
  const other = { cluster: "other", type: "apiserver" }[field];
  await expect(client.patch(refOf(made), { spec: { [field]: other } })).rejects.toThrow("cannot be changed");
});

test("an endpoint with another Cluster's label is refused", async () => {
  const label = { "cluster.x-k8s.io/cluster-name": "other" };
  await expect(client.create(named("mislabelled", wanted, label))).rejects.toThrow(
    "label cluster.x-k8s.io/cluster-name names another Cluster than spec.cluster: write my-cluster",
  );
});

test("an endpoint's label cannot be changed to another Cluster's", async () => {
  const made = await client.create(named("relabelled"));
  const patch = client.patch(refOf(made), { metadata: { labels: { "cluster.x-k8s.io/cluster-name": "other" } } });
  await expect(patch).rejects.toThrow("names another Cluster than spec.cluster: write my-cluster");
});

test("a change of an endpoint is judged as a new one is", async () => {
  const made = await client.create(named("changed"));
  await expect(client.patch(refOf(made), { spec: { host: "https://api.example.com" } })).rejects.toThrow(
    "host has a scheme: write the name or the address only",
  );
  await expect(client.patch(refOf(made), { spec: { port: 0 } })).rejects.toThrow("spec.port");
});
