import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect } from "vitest";
import { Cluster, ClusterEndpoint } from "../../src/api/cluster-api/index.ts";
import type { KubeObject } from "../../src/api/index.ts";
import { createEndpointController } from "../../src/cluster-api/endpoint/controller.ts";
import { findCondition } from "../../src/cluster-api/objects/conditions.ts";
import { refOf, refTo, renderKubeconfig, Secret, type KubeClient, type Occurrence } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { makeCertificates, type Certificates } from "../support/certificates.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import { applyManagement } from "../support/endpoint-lab.ts";
import { eventually } from "../support/eventually.ts";

const namespace = "default";
const log = createLogger({ name: "test", level: "silent" });

let client: KubeClient;

let certificates: Certificates;
let told: Occurrence[];
let controller: ReturnType<typeof createEndpointController> | undefined;

test.beforeAll(async ({ cluster }) => {
  ({ client } = cluster);
  certificates = await makeCertificates();
  await applyManagement(client);
});
beforeEach(() => void (told = []));
afterEach(async () => {
  await controller?.stop();
  controller = undefined;
  for (const kind of [ClusterEndpoint, Cluster, FooCluster, FooControlPlane])
    await client.removeAll(kind, { namespace });
  await client.removeAll(Secret, { namespace });
});

const FooCluster = {
  apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
  kind: "FooCluster",
  scope: "Namespaced",
} as const;
const FooControlPlane = {
  apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
  kind: "FooControlPlane",
  scope: "Namespaced",
} as const;

function start(o: { generatesEndpoints?: boolean } = {}, period = 300): void {
  const events = { record: (one: Occurrence) => void told.push(one), settled: async () => {} };
  const deps = { management: client, garden: client, events, log, ...o };
  controller = createEndpointController(deps, { period });
  controller.start();
}

const value = { host: "api.example.com", port: 6443 };
const other = { host: "other.example.com", port: 443 };

const refs = {
  infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "FooCluster", name: "foo" },
  controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "FooControlPlane", name: "foo" },
};

const makeCluster = (controlPlaneEndpoint?: { host?: string; port?: number }, name = "foo", spec: object = {}) =>
  client.create<Cluster>({
    ...{ apiVersion: Cluster.apiVersion, kind: Cluster.kind, metadata: { name, namespace } },
    spec: { ...refs, ...spec, ...(controlPlaneEndpoint && { controlPlaneEndpoint }) },
  });
const makeProvider = (kind: typeof FooCluster | typeof FooControlPlane, controlPlaneEndpoint?: typeof value) =>
  client.create({
    ...{ apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name: "foo", namespace } },
    spec: { ...(controlPlaneEndpoint && { controlPlaneEndpoint }) },
  });
const makeEndpoint = (name: string, spec: { host: string; port: number }, owner?: KubeObject, cluster = "foo") =>
  client.create<ClusterEndpoint>({
    ...{ apiVersion: ClusterEndpoint.apiVersion, kind: ClusterEndpoint.kind },
    metadata: {
      ...{ name, namespace },
      ...(owner && {
        ownerReferences: [
          { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.metadata.name, uid: owner.metadata.uid ?? "" },
        ],
      }),
    },
    spec: { cluster, ...spec, type: "ExternalControlPlaneEndpoint" },
  });
const readCluster = (name = "foo") => client.read(Cluster, { namespace, name });
const endpointOnCluster = async (name = "foo") => (await readCluster(name))?.spec.controlPlaneEndpoint;
const endpointRef = (name: string) => refTo(ClusterEndpoint, { namespace, name });
const readEndpoint = (name: string) => client.read(endpointRef(name));
const conditionOf = async (name: string, type: string) =>
  findCondition((await readEndpoint(name))?.status?.conditions, type);
const surfaces = (wanted: { host: string; port: number }, name = "foo") =>
  eventually(async () => expect(await endpointOnCluster(name)).toEqual(wanted));
const says = (name: string, type: string, wanted: object) =>
  eventually(async () => expect(await conditionOf(name, type)).toMatchObject(wanted));

test("a third party's endpoint surfaces on its Cluster, gets its label and owner, and so does a change of it", async () => {
  start();
  await makeCluster();
  const made = await makeEndpoint("third", value);
  await surfaces(value);
  await says("third", "Surfaced", { status: "True", reason: "Surfaced", observedGeneration: 1 });
  expect((await readEndpoint("third"))?.metadata).toMatchObject({
    labels: { "cluster.x-k8s.io/cluster-name": "foo" },
    ownerReferences: [{ kind: "Cluster", name: "foo" }],
  });
  await client.patch(refOf(made), { spec: other });
  await surfaces(other);
  expect(told).toEqual([]);
});

test("an endpoint of type apiserver, the proposal's other word, surfaces as well", async () => {
  start();
  await makeCluster();
  const { apiVersion, kind } = ClusterEndpoint;
  const spec = { cluster: "foo", ...value, type: "apiserver" } as const;
  await client.create<ClusterEndpoint>({ apiVersion, kind, metadata: { name: "other-word", namespace }, spec });
  await surfaces(value);
});

test("an endpoint that comes before its Cluster waits for it", async () => {
  start();
  await makeEndpoint("early", value);
  await says("early", "Surfaced", { status: "False", reason: "WaitingForCluster" });
  await makeCluster();
  await surfaces(value);
  await says("early", "Surfaced", { status: "True" });
});

test("the infrastructure's endpoint goes before the control plane's, a third party's before both, and what is deleted leaves its value", async () => {
  start();
  await makeCluster();
  const controlPlane = await makeProvider(FooControlPlane);
  await makeEndpoint("b", { host: "b.example.com", port: 443 }, controlPlane);
  await surfaces({ host: "b.example.com", port: 443 });
  await makeEndpoint("a", { host: "a.example.com", port: 443 }, await makeProvider(FooCluster));
  await surfaces({ host: "a.example.com", port: 443 });
  await says("b", "Surfaced", {
    status: "False",
    reason: "Overruled",
    message: expect.stringContaining("ClusterEndpoint a wins"),
  });
  await makeEndpoint("third", value);
  await surfaces(value);
  await client.remove(endpointRef("third"));
  await surfaces({ host: "a.example.com", port: 443 });
  await client.remove(endpointRef("b"));
  await client.remove(endpointRef("a"));
  await eventually(async () =>
    expect((await readEndpoint("foo"))?.metadata.labels?.["perennial.dev/generated"]).toBe("provider"),
  );
  expect(await endpointOnCluster()).toEqual({ host: "a.example.com", port: 443 });
});

test("a foreign edit is put right by one write, and an Event names who made it", async () => {
  start();
  await makeCluster();
  await makeEndpoint("third", value);
  await says("third", "Surfaced", { status: "True" });
  const before = (await readCluster())?.metadata.generation ?? 0;
  await client.patch(
    refTo(Cluster, { namespace, name: "foo" }),
    { spec: { controlPlaneEndpoint: other } },
    { fieldManager: "gitops" },
  );
  await surfaces(value);
  await eventually(() =>
    expect(told).toMatchObject([{ type: "Warning", reason: "EndpointPutRight", regarding: { kind: "Cluster" } }]),
  );
  expect(told[0]?.note).toContain(
    "field manager gitops had changed spec.controlPlaneEndpoint to other.example.com:443",
  );
  expect((await readCluster())?.metadata.generation).toBe(before + 2);
});

test("a field that a user empties gets its value back by one write, and an Event says so", async () => {
  start();
  await makeCluster();
  await makeEndpoint("third", value);
  await says("third", "Surfaced", { status: "True" });
  const before = (await readCluster())?.metadata.generation ?? 0;
  await client.patch(refTo(Cluster, { namespace, name: "foo" }), { spec: { controlPlaneEndpoint: null } });
  await surfaces(value);
  await eventually(() => expect(told).toMatchObject([{ reason: "EndpointPutRight" }]));
  expect(told[0]?.note).toContain("spec.controlPlaneEndpoint had been emptied");
  expect((await readCluster())?.metadata.generation).toBe(before + 2);
});

test("of two endpoints of one rank the older surfaces, and the other one says which", async () => {
  start();
  await makeCluster();
  await makeEndpoint("b", value);
  await surfaces(value);
  await sleep(1_000); // the API server tells ages by the second
  await makeEndpoint("a", other);
  await says("a", "Surfaced", {
    ...{ status: "False", reason: "Overruled" },
    message: "ClusterEndpoint b wins: of two objects of a third party, the older wins",
  });
  await says("a", "Ready", { status: "False", reason: "Overruled" });
  expect(await endpointOnCluster()).toEqual(value);
});

test("an endpoint that loses its Cluster's label gets it again", async () => {
  start();
  await makeCluster();
  await makeEndpoint("third", value);
  await says("third", "Surfaced", { status: "True" });
  await client.patch(endpointRef("third"), { metadata: { labels: null } });
  await eventually(async () =>
    expect((await readEndpoint("third"))?.metadata.labels).toEqual({ "cluster.x-k8s.io/cluster-name": "foo" }),
  );
});

test("what a former Cluster has left does not surface on one that is made anew under its name", async () => {
  const former = await makeCluster();
  await makeEndpoint("left", value, former);
  await client.remove(refTo(Cluster, { namespace, name: "foo" }));
  await eventually(async () => expect(await readCluster()).toBeUndefined());
  await makeCluster();
  start();
  await makeCluster(undefined, "later");
  await makeEndpoint("later", other, undefined, "later");
  await surfaces(other, "later");
  expect(await endpointOnCluster()).toBeUndefined();
  await client.remove(endpointRef("left")); // as the garbage collector does, which does not run here
  await makeEndpoint("right", other);
  await surfaces(other);
});

test("a Cluster whose endpoint's object is held while it is deleted gets another one at once", async () => {
  start();
  await makeCluster(value);
  await says("foo", "Surfaced", { status: "True" });
  await client.patch(endpointRef("foo"), { metadata: { finalizers: ["example.com/holds"] } });
  await client.remove(endpointRef("foo"));
  await says("foo-generated", "Surfaced", { status: "True" });
  expect(await endpointOnCluster()).toEqual(value);
  await client.patch(endpointRef("foo"), { metadata: { finalizers: null } });
});

test("an existing Cluster gets an object that is owned by who carries its value, and follows the Cluster", async () => {
  await makeProvider(FooCluster, value);
  await makeCluster(value);
  start();
  await eventually(async () => expect((await readEndpoint("foo"))?.spec).toMatchObject(value));
  expect((await readEndpoint("foo"))?.metadata).toMatchObject({
    labels: { "perennial.dev/generated": "provider" },
    ownerReferences: [{ kind: "FooCluster", name: "foo" }],
  });
  // Told behind the answer to the create, which the test may read before.
  await eventually(() =>
    expect(told).toMatchObject([
      { type: "Warning", reason: "DeprecatedEndpoint", note: expect.stringContaining("FooCluster default/foo") },
    ]),
  );
  await client.patch(refTo(Cluster, { namespace, name: "foo" }), { spec: { controlPlaneEndpoint: other } });
  await eventually(async () => expect((await readEndpoint("foo"))?.spec).toMatchObject(other));
  expect((await readEndpoint("foo"))?.metadata.labels?.["perennial.dev/generated"]).toBe("provider");
  expect(await endpointOnCluster()).toEqual(other);
});

test("who edits a generated object takes it over, and its value surfaces", async () => {
  await makeCluster(value);
  start();
  await eventually(async () =>
    expect((await readEndpoint("foo"))?.metadata.labels?.["perennial.dev/generated"]).toBe("user"),
  );
  await client.patch(endpointRef("foo"), { spec: other });
  await surfaces(other);
  await eventually(async () =>
    expect((await readEndpoint("foo"))?.metadata.labels).not.toHaveProperty(["perennial.dev/generated"]),
  );
});

test("a Cluster with half an endpoint is completed by the winner, and nothing is generated from it", async () => {
  start();
  await makeCluster({ host: "half.example.com" });
  await makeCluster(value, "whole");
  await eventually(async () => expect(await readEndpoint("whole")).toBeDefined());
  expect(await readEndpoint("foo")).toBeUndefined();
  await makeEndpoint("third", value);
  await surfaces(value);
});

test("with the machinery ended, nothing is generated, and objects surface as before", async () => {
  start({ generatesEndpoints: false });
  await makeCluster(value);
  await makeEndpoint("third", other);
  await surfaces(other);
  await client.remove(endpointRef("third"));
  await makeCluster(value, "last");
  await makeEndpoint("last", other, undefined, "last");
  await surfaces(other, "last");
  expect((await client.list(ClusterEndpoint, { namespace })).map(({ metadata }) => metadata.name)).toEqual(["last"]);
});

test.each([
  ["its spec", { spec: { paused: true } }, { spec: { paused: false } }],
  [
    "its annotation",
    { metadata: { annotations: { "cluster.x-k8s.io/paused": "" } } },
    { metadata: { annotations: { "cluster.x-k8s.io/paused": null } } },
  ],
])("while a Cluster is paused by %s, nothing is written but condition Paused", async (_, pause, resume) => {
  start();
  await makeCluster();
  await makeEndpoint("third", value);
  await surfaces(value);
  await says("third", "Paused", { status: "False" });
  await client.patch(refTo(Cluster, { namespace, name: "foo" }), pause);
  await says("third", "Paused", { status: "True" });
  await client.patch(endpointRef("third"), { spec: other });
  await says("third", "Paused", { status: "True", observedGeneration: 2 });
  expect(await endpointOnCluster()).toEqual(value);
  expect(await conditionOf("third", "Surfaced")).toMatchObject({ observedGeneration: 1 });
  await client.patch(refTo(Cluster, { namespace, name: "foo" }), resume);
  await surfaces(other);
});

test("a Cluster that was deleted and made anew is not written for the old one", async () => {
  start();
  await makeCluster();
  await makeEndpoint("third", value);
  await surfaces(value);
  await client.remove(refTo(Cluster, { namespace, name: "foo" }));
  await says("third", "Surfaced", { status: "False", reason: "WaitingForCluster" });
  expect(await readCluster()).toBeUndefined();
  await makeCluster();
  await client.remove(endpointRef("third")); // as the garbage collector does, which does not run here
  await makeEndpoint("third", other);
  await surfaces(other);
});

test("an endpoint serves when its API server answers under the authority of the Cluster's kubeconfig", async () => {
  const server = await serve(certificates);
  start();
  await makeCluster();
  await makeEndpoint("third", { host: "127.0.0.1", port: server.port });
  await says("third", "Serving", { status: "Unknown", reason: "WaitingForKubeconfig" });
  await writeKubeconfig(certificates.ca);
  await says("third", "Serving", { status: "True", reason: "Answers" });
  await says("third", "Ready", { status: "True" });
  const ready = async () => findCondition((await readCluster())?.status?.conditions, "perennial.dev/EndpointReady");
  await eventually(async () => expect(await ready()).toMatchObject({ status: "True", reason: "Answers" }));
  for (const status of [401, 403]) {
    server.answer(status);
    await eventually(() => expect(server.asked()).toBeGreaterThan(1));
    await says("third", "Serving", { status: "True" });
  }
  server.answer(500);
  await says("third", "Serving", { status: "False", reason: "NotReady" });
  await eventually(async () => expect(await ready()).toMatchObject({ status: "False", reason: "NotReady" }));
  const foreign = await makeCertificates();
  await writeKubeconfig(foreign.ca);
  await says("third", "Serving", { status: "False", reason: "CertificateNotTrusted" });
  await server.close();
  await says("third", "Serving", { status: "False", reason: "ConnectionRefused" });
});

test("an endpoint stays as it was while core's copy of the control plane's word says that it moves", async () => {
  const server = await serve(certificates);
  await writeKubeconfig(certificates.ca);
  await makeCluster({ host: "127.0.0.1", port: server.port });
  start();
  await says("foo", "Ready", { status: "True" });
  await sayOfControlPlane("Moving");
  for (const paused of [true, false]) {
    await client.patch(refTo(Cluster, { namespace, name: "foo" }), { spec: { paused } });
    await says("foo", "Paused", { status: paused ? "True" : "False" }); // what was said before was seen before
  }
  server.answer(500);
  await says("foo", "Serving", { status: "True", reason: "Moving" });
  await sayOfControlPlane("Available");
  await says("foo", "Serving", { status: "False", reason: "NotReady" });
  await server.close();
});

test("an endpoint is asked at once when its control plane begins to move, and when it has arrived", async () => {
  const server = await serve(certificates);
  await writeKubeconfig(certificates.ca);
  await makeCluster({ host: "127.0.0.1", port: server.port });
  start({}, 600_000);
  await says("foo", "Ready", { status: "True" });
  for (const reason of ["Moving", "Available"]) {
    const asked = server.asked();
    await sayOfControlPlane(reason);
    await eventually(() => expect(server.asked()).toBeGreaterThan(asked));
  }
  await server.close();
});

test("a controller that starts again writes nothing", async () => {
  const server = await serve(certificates);
  await writeKubeconfig(certificates.ca);
  await makeCluster({ host: "127.0.0.1", port: server.port });
  start();
  await says("foo", "Ready", { status: "True" });
  const ready = async () => findCondition((await readCluster())?.status?.conditions, "perennial.dev/EndpointReady");
  await eventually(async () => expect(await ready()).toMatchObject({ status: "True" }));
  const versions = async () =>
    [await readCluster(), await readEndpoint("foo")].map((object) => object?.metadata.resourceVersion);
  const before = await versions();
  await controller?.stop();
  const asked = server.asked();
  start();
  await eventually(() => expect(server.asked()).toBeGreaterThan(asked + 2));
  expect(await versions()).toEqual(before);
  await server.close();
});

/** As core copies it from the control plane's own condition. */
async function sayOfControlPlane(reason: string): Promise<void> {
  const lastTransitionTime = "2026-01-01T10:00:00Z";
  const word = { type: "ControlPlaneAvailable", status: "True", reason, message: "", lastTransitionTime };
  const ref = refTo(Cluster, { namespace, name: "foo" });
  await client.patch(ref, { status: { conditions: [word] } }, { subresource: "status" });
}

async function writeKubeconfig(ca: string): Promise<void> {
  const text = renderKubeconfig({ server: "https://127.0.0.1:1", ca, token: "t" });
  await client.apply<Secret>({
    ...{ apiVersion: "v1", kind: "Secret", type: "cluster.x-k8s.io/secret" },
    metadata: { name: "foo-kubeconfig", namespace, labels: { "cluster.x-k8s.io/cluster-name": "foo" } },
    data: { value: Buffer.from(text).toString("base64") },
  });
}

/** A server that answers every request with one status. */
async function serve({ serverCert: cert, serverKey: key }: Certificates) {
  let status = 200;
  let count = 0;
  const server: Server = createServer({ cert, key }, (_, answer) => {
    count++;
    answer.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked: () => count,
    answer(next: number) {
      status = next;
      count = 0;
    },
    close: () => new Promise<unknown>((resolve) => server.close(resolve)),
  };
}
