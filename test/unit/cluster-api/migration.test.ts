import { expect, test } from "vitest";
import { SURFACED_LABEL } from "../../../src/api/labels.ts";
import { originOf } from "../../../src/cluster-api/endpoint/generated.ts";
import { planMigration } from "../../../src/cluster-api/endpoint/migrate.ts";
import type { ProviderObject } from "../../../src/cluster-api/endpoint/provider-objects.ts";
import { clusterOf, owners } from "../../support/cluster-endpoints.ts";

const value = { host: "api.example.com", port: 6443 };
const other = { host: "other.example.com", port: 6443 };

function provider(owner: keyof typeof owners, controlPlaneEndpoint?: typeof value): ProviderObject {
  const { apiVersion, kind, name, uid } = owners[owner];
  return {
    apiVersion,
    kind,
    metadata: { name, namespace: "fleet", uid },
    spec: { ...(controlPlaneEndpoint && { controlPlaneEndpoint }) },
  };
}

const plan = (infrastructure?: typeof value, controlPlane?: typeof value, cluster = clusterOf(value)) =>
  planMigration(cluster, {
    infrastructure: provider("infrastructure", infrastructure),
    controlPlane: provider("controlPlane", controlPlane),
  });

test.each([
  ["the infrastructure, which carries the value", value, value, "FooCluster", "provider"],
  ["the infrastructure, though the control plane has another value", value, other, "FooCluster", "provider"],
  ["the control plane, which alone carries the value", undefined, value, "FooControlPlane", "provider"],
  ["the control plane, where the infrastructure has another value", other, value, "FooControlPlane", "provider"],
  ["the Cluster, whose value a user wrote", undefined, undefined, "Cluster", "user"],
  ["the Cluster, where both have other values", other, other, "Cluster", "user"],
])("the object for an existing Cluster is owned by %s", (_, infrastructure, controlPlane, kind, origin) => {
  const endpoint = plan(infrastructure, controlPlane)?.endpoint;
  expect(endpoint?.metadata.ownerReferences).toMatchObject([{ kind, name: "foo" }]);
  expect(endpoint?.metadata.labels).toMatchObject({
    "cluster.x-k8s.io/cluster-name": "foo",
    "perennial.dev/generated": origin,
  });
  expect(endpoint && originOf(endpoint)).toBe(origin);
  expect(endpoint?.spec).toEqual({ cluster: "foo", ...value, type: "ExternalControlPlaneEndpoint" });
});

test("a Cluster whose infrastructure and control plane are not there owns its object", () => {
  expect(planMigration(clusterOf(value), {})?.endpoint?.metadata.ownerReferences).toMatchObject([{ kind: "Cluster" }]);
});

test("what an object has surfaced before counts as no user's value", () => {
  const cluster = clusterOf(value, { labels: { [SURFACED_LABEL]: "true" } });
  expect(plan(undefined, undefined, cluster)?.endpoint?.metadata.labels).toMatchObject({
    "perennial.dev/generated": "provider",
  });
});

test("nothing is generated from the field of a Shoot, which brings an object of its own; what a user wrote is", () => {
  const { metadata, spec } = clusterOf(value);
  const controlPlaneRef = { apiGroup: "controlplane.cluster.x-k8s.io", kind: "ShootControlPlane", name: "foo" };
  const cluster = { ...clusterOf(value), metadata, spec: { ...spec, controlPlaneRef } };
  expect(plan(undefined, value, cluster)).toBeUndefined();
  const left = { ...cluster, metadata: { ...metadata, labels: { [SURFACED_LABEL]: "true" } } };
  expect(planMigration(left, {})).toBeUndefined();
  expect(plan(undefined, undefined, cluster)?.endpoint?.metadata.labels).toMatchObject({
    "perennial.dev/generated": "user",
  });
});

test.each([
  ["manager", "provider"],
  ["kubectl-client-side-apply", "user"],
  [undefined, "user"],
])("a value that %s wrote, and no provider carries any more, is generated as %s's", (manager, origin) => {
  const managedFields = manager
    ? [{ manager, fieldsV1: { "f:spec": { "f:controlPlaneEndpoint": { "f:host": {} } } } }]
    : [];
  expect(plan(other, undefined, clusterOf(value, { managedFields }))?.endpoint?.metadata.labels).toMatchObject({
    "perennial.dev/generated": origin,
  });
});

test.each([undefined, { host: "api.example.com" }, { port: 6443 }])(
  "nothing is generated from no endpoint or half of one (%j)",
  (field) => expect(plan(value, value, clusterOf(field))).toBeUndefined(),
);

test("a host is generated as ClusterEndpoints spell it", () => {
  const spelled = { host: "My-LB-123.Elb.Example.com.", port: 6443 };
  expect(plan(spelled, undefined, clusterOf(spelled))?.endpoint?.spec.host).toBe("my-lb-123.elb.example.com");
});

test("each field in use gets a warning, and a value that no object can hold one more", () => {
  expect(plan(value, value)?.warnings).toEqual([
    "spec.controlPlaneEndpoint of FooCluster fleet/foo is deprecated: its writer should make a ClusterEndpoint",
    "spec.controlPlaneEndpoint of FooControlPlane fleet/foo is deprecated: its writer should make a ClusterEndpoint",
  ]);
  expect(plan()?.warnings).toEqual([
    "spec.controlPlaneEndpoint of Cluster fleet/foo is deprecated: its writer should make a ClusterEndpoint",
  ]);
  const odd = plan(undefined, undefined, clusterOf({ host: "under_score", port: 6443 }));
  expect(odd).not.toHaveProperty("endpoint");
  expect(odd?.warnings.at(-1)).toBe(
    "under_score:6443 of Cluster fleet/foo is nothing that a ClusterEndpoint can hold: write one by hand",
  );
});
