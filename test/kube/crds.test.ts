import { expect } from "vitest";
import { CloudProfile, Seed, Shoot, type ControllerRegistration, type KubeObject } from "../../src/api/index.ts";
import { extensionKinds } from "../../src/api/extensions/kinds.ts";
import { CustomResourceDefinition, define, refTo } from "../../src/kube/index.ts";
import { readManifest } from "../../src/manifests.ts";
import { ownClusterTest } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { exampleObjects } from "../support/examples.ts";
import { furtherExamples } from "../support/extension-examples.ts";

// It kills its server, and changes CustomResourceDefinitions.
const test = ownClusterTest({ crds: true });
let controlPlane: ControlPlane;

test.beforeAll(async ({ cluster }) => {
  controlPlane = cluster;
  for (const example of await exampleObjects()) await controlPlane.client.apply(example);
});

test("an API server takes every CustomResourceDefinition for structural", async () => {
  const crds = await controlPlane.client.list(CustomResourceDefinition);
  const objections = crds.flatMap((crd) => conditionsOf(crd).filter(({ type }) => type === "NonStructuralSchema"));
  expect(objections).toEqual([]);
  expect(crds).toHaveLength(34);
});

test("an API server serves every extension kind that there is", async () => {
  const crds = (await controlPlane.client.list(CustomResourceDefinition)) as Served[];
  const served = crds.flatMap(({ spec: { group, names, versions } }) =>
    versions.filter((version) => version.served).map(({ name }) => `${group}/${name} ${names.kind}`),
  );
  const kinds = Object.values(extensionKinds).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`);
  expect(served).toEqual(expect.arrayContaining(kinds));
});

test("an API server accepts an example of every kind", async () => {
  for (const example of furtherExamples) {
    const { apiVersion, kind } = await controlPlane.client.apply(example);
    expect({ apiVersion, kind }).toEqual({ apiVersion: example.apiVersion, kind: example.kind });
  }
});

test("a definition that an API server accepted before it was killed is served by the next one", async () => {
  const { client, etcdctl, kill, restart } = controlPlane;
  const [crd] = await readManifest("crds/extensions.gardener.cloud_dnsrecords.yaml");
  const definition = crd ?? expect.fail("there is no definition");
  const key = `/registry/apiextensions.k8s.io/customresourcedefinitions/${definition.metadata.name}`;
  await define(client, [definition]);
  await kill();
  const stored = await etcdctl("get", "--print-value-only", key);
  // Byte by byte as the API server writes it: an apply that changes nothing is no event.
  const installing = stored.replace(
    /"type":"Established","status":"True"(.+?)"InitialNamesAccepted"/,
    '"type":"Established","status":"False"$1"Installing"',
  );
  expect(installing).not.toBe(stored);
  await etcdctl("put", key, `${installing.trim()}\n`);
  await restart();
  await define(client, [definition]);
});

test("fields that the schema does not name are kept", async () => {
  const shoot = await controlPlane.client.apply({
    ...named("kept"),
    spec: { ...spec(), future: { deep: [{ a: 1 }] } },
  });
  expect(shoot["spec"]).toMatchObject({ future: { deep: [{ a: 1 }] } });
});

test("a CloudProfile's providerConfig is kept as its provider writes it", async () => {
  const providerConfig = { apiVersion: "any.provider/v1", kind: "CloudProfileConfig", images: [{ name: "a", id: 7 }] };
  const ref = refTo(CloudProfile, { name: "local" });
  await controlPlane.client.patch(ref, { spec: { providerConfig } });
  expect((await controlPlane.client.read(ref))?.spec).toMatchObject({ providerConfig });
});

test("defaults appear in a Shoot, a Seed and a ControllerRegistration", async () => {
  const { client } = controlPlane;
  const shoot = await client.read(Shoot, { namespace: "garden-dev", name: "local" });
  expect(shoot?.spec).toMatchObject({
    schedulerName: "default-scheduler",
    networking: { ipFamilies: ["IPv4"] },
    provider: {
      workers: [{ maxSurge: 1, maxUnavailable: 0, cri: { name: "containerd" }, systemComponents: { allow: true } }],
    },
  });
  const seed = await client.read(Seed, { name: "seed-1" });
  expect(seed?.spec.settings?.scheduling).toEqual({ visible: true });
  const registration = await client.apply<ControllerRegistration>(registrationOf("defaults", {}));
  expect(registration.spec.resources?.[0]?.primary).toBe(true);
});

test.each<[string, object]>([
  ["region", { region: "elsewhere" }],
  ["provider.type", { provider: { type: "other", workers: spec().provider.workers } }],
  ["workers", { provider: { type: "local" } }],
  ["networking.pods", { networking: { ...spec().networking, pods: "10.9.0.0/16" } }],
  ["networking.services", { networking: { ...spec().networking, services: "10.9.0.0/16" } }],
  ["networking.type", { networking: { ...spec().networking, type: "calico" } }],
  ["networking.nodes", { networking: { ...spec().networking, nodes: "10.9.0.0/16" } }],
  ["dns.domain", { dns: { domain: "other.example.com" } }],
  ["nodeCIDRMaskSize", { kubernetes: { ...spec().kubernetes, kubeControllerManager: { nodeCIDRMaskSize: 26 } } }],
])("a Shoot's %s cannot be changed", async (field, change) => {
  const { client } = controlPlane;
  await client.apply({ ...named("frozen"), spec: spec() });
  await expect(client.apply({ ...named("frozen"), spec: { ...spec(), ...change } })).rejects.toThrow(
    new RegExp(`${field.split(".").at(-1)}.*(cannot be changed|cannot get)`, "s"),
  );
});

test.each(["internal.Example.org", "internal.example.org.", "-.example.org", ""])(
  "a Seed's domain cannot be %j: records and certificates would not be those of its Shoots",
  async (domain) => {
    const { client } = controlPlane;
    const dns = (where: object) => client.patch(refTo(Seed, { name: "seed-1" }), { spec: where });
    const { internal, defaults = [] } = (await client.read(Seed, { name: "seed-1" }))?.spec.dns ?? {};
    await expect(dns({ dns: { internal: { ...internal, domain } } })).rejects.toThrow("spec.dns.internal.domain");
    await expect(dns({ dns: { defaults: [{ ...defaults[0], domain }] } })).rejects.toThrow(
      "spec.dns.defaults[0].domain",
    );
    await expect(dns({ ingress: { domain } })).rejects.toThrow("spec.ingress.domain");
  },
);

test("the size of each node's network cannot go back to its default, and the default may be said", async () => {
  const { client } = controlPlane;
  const masked = (name: string, kubeControllerManager?: object) =>
    client.apply({ ...named(name), spec: { ...spec(), kubernetes: { ...spec().kubernetes, kubeControllerManager } } });
  await masked("masked", { nodeCIDRMaskSize: 26 });
  await expect(masked("masked")).rejects.toThrow("nodes keep the networks that they got");
  await masked("unmasked");
  await masked("unmasked", { nodeCIDRMaskSize: 24 });
});

test("a Shoot's nodes network can be set later", async () => {
  const { nodes: _, ...networking } = spec().networking;
  await controlPlane.client.apply({ ...named("later"), spec: { ...spec(), networking } });
  const shoot = await controlPlane.client.apply({ ...named("later"), spec: spec() });
  expect(shoot["spec"]).toMatchObject({ networking: { nodes: "172.30.0.0/16" } });
});

test("a Shoot's identity cannot be changed or lost once it is set", async () => {
  const { client } = controlPlane;
  const { apiVersion, kind, metadata } = await client.apply({ ...named("identity"), spec: spec() });
  const { name, namespace } = metadata;
  const status = { uid: "1", technicalID: "shoot--dev--identity", gardener: { id: "a", name: "b", version: "c" } };
  const withStatus = (status: object) => ({ apiVersion, kind, metadata: { name, namespace }, status }) as KubeObject;
  await client.applyStatus(withStatus(status));
  await expect(client.applyStatus(withStatus({ ...status, uid: "2" }))).rejects.toThrow("uid cannot be changed");
  await expect(client.applyStatus(withStatus({ uid: "1" }))).rejects.toThrow("technicalID cannot be changed");
});

test("a status is written through its subresource only", async () => {
  const shoot = await controlPlane.client.apply({ ...named("statusless"), spec: spec(), status: { uid: "x" } });
  expect(shoot["status"]).toBeUndefined();
});

test("two writers of conditions do not overwrite each other", async () => {
  const { client } = controlPlane;
  await client.apply({ ...named("shared"), spec: spec() });
  for (const type of ["APIServerAvailable", "EveryNodeReady"]) {
    const status = { conditions: [condition(type)] };
    await client.applyStatus({ ...named("shared"), status }, { fieldManager: type });
  }
  const shoot = await client.read(Shoot, { namespace: "garden-dev", name: "shared" });
  expect(shoot?.status?.conditions?.map(({ type }) => type).sort()).toEqual(["APIServerAvailable", "EveryNodeReady"]);
});

test("a resource's primary cannot be changed, and a seedSelector excludes it", async () => {
  const { client } = controlPlane;
  await client.apply(registrationOf("primary", {}));
  await expect(client.apply(registrationOf("primary", { primary: false }))).rejects.toThrow(
    "primary cannot be changed",
  );
  const selected = registrationOf("selected", {}, { seedSelector: { matchLabels: { a: "b" } } });
  await expect(client.apply(selected)).rejects.toThrow("seedSelector is forbidden");
});

test("an extension object's type cannot be changed", async () => {
  const { client } = controlPlane;
  const network = furtherExamples.find(({ kind }) => kind === "Network");
  if (!network) throw new Error("there is no example of a Network");
  await client.apply(network);
  const changed = { ...network, spec: { ...(network["spec"] as object), type: "other" } };
  await expect(client.apply(changed)).rejects.toThrow("cannot be changed");
});

test("kubectl shows a Shoot's columns and explains its fields", async () => {
  const table = await controlPlane.client.get("/apis/core.gardener.cloud/v1beta1/namespaces/garden-dev/shoots/local");
  expect(table).toMatchObject({ kind: "Shoot" });
  await eventually(async () => {
    const openapi = JSON.stringify(await controlPlane.client.get("/openapi/v3/apis/core.gardener.cloud/v1beta1"));
    expect(openapi).toContain("Region is a name of a region.");
  });
});

function spec() {
  return {
    region: "local",
    cloudProfile: { kind: "CloudProfile", name: "local" },
    kubernetes: { version: "1.34.4" },
    dns: { domain: "a.example.com" },
    networking: { type: "local", pods: "10.180.0.0/16", services: "10.190.0.0/16", nodes: "172.30.0.0/16" },
    provider: { type: "local", workers: [{ name: "w", minimum: 1, maximum: 1, machine: { type: "local" } }] },
  };
}

function named(name: string) {
  return { apiVersion: "core.gardener.cloud/v1beta1", kind: "Shoot", metadata: { name, namespace: "garden-dev" } };
}

function registrationOf(name: string, resource: object, deployment?: object): ControllerRegistration {
  return {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "ControllerRegistration",
    metadata: { name },
    spec: { resources: [{ kind: "Infrastructure", type: name, ...resource }], ...(deployment && { deployment }) },
  };
}

function condition(type: string) {
  const now = new Date().toISOString();
  return {
    type,
    status: "True" as const,
    reason: "Fine",
    message: "Fine.",
    lastTransitionTime: now,
    lastUpdateTime: now,
  };
}

function conditionsOf(object: KubeObject): { type: string; status: string; message: string }[] {
  const status = object["status"] as { conditions?: { type: string; status: string; message: string }[] } | undefined;
  return status?.conditions ?? [];
}

/** A CustomResourceDefinition and the versions of it that an API server serves. */
interface Served extends CustomResourceDefinition {
  readonly spec: CustomResourceDefinition["spec"] & {
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
}
