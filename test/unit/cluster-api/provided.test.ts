import { expect, test } from "vitest";
import type { ClusterEndpoint } from "../../../src/api/cluster-api/index.ts";
import { provideEndpoint } from "../../../src/cluster-api/endpoint/provided.ts";
import { COMPOSER } from "../../../src/cluster-api/objects/field-managers.ts";
import { KubeError, type KubeClient, type Occurrence } from "../../../src/kube/index.ts";
import { clusterOf, controlPlaneOf } from "../../support/cluster-api-objects.ts";
import { endpointOf } from "../../support/cluster-endpoints.ts";
import { keepObjects } from "../../support/kept-objects.ts";

const owner = controlPlaneOf("one");
const name = "one-control-plane";
const wanted = { host: "api.one.test", port: 443 };

/** The control plane's endpoint, with who wrote which field of it last. */
function written(host: string, generation: number, ...writers: readonly (readonly [string, "f:host" | "f:port"])[]) {
  const managedFields = writers.map(([manager, field], index) => ({
    manager,
    time: `2026-01-01T00:00:0${index}Z`,
    fieldsV1: { "f:spec": { [field]: {} } },
  }));
  const { apiVersion, kind } = owner;
  const ownerReferences = [{ apiVersion, kind, name: "one", uid: "", controller: true }];
  const metadata = { namespace: "garden-dev", generation, managedFields, ownerReferences };
  const { spec, ...kept } = endpointOf({ name, host, metadata });
  return { ...kept, spec: { ...spec, cluster: "one" } };
}

/** What Events are written as the endpoint that is there is brought to what is wanted, and what it says then. */
async function provide(stored: ClusterEndpoint, seen = stored) {
  const { client: management } = keepObjects(stored);
  const told: Occurrence[] = [];
  const events = { record: (occurrence: Occurrence) => void told.push(occurrence) };
  const taken = await provideEndpoint(
    { management, events },
    { cluster: clusterOf("one"), owner, name, present: seen },
    wanted,
  );
  expect(taken).toBeUndefined();
  const left = (await management.read({ ...stored, ...stored.metadata, namespace: "garden-dev" })) as ClusterEndpoint;
  return { told, spec: left.spec };
}

test("a ClusterEndpoint of a provider's that a user edits is put right, and an Event names the field manager", async () => {
  const { told, spec } = await provide(written("other.test", 2, [COMPOSER, "f:port"], ["kubectl-edit", "f:host"]));
  expect(spec).toMatchObject(wanted);
  expect(told).toMatchObject([
    {
      type: "Warning",
      reason: "EndpointPutRight",
      regarding: { kind: "ClusterEndpoint" },
      note: expect.stringContaining("field manager kubectl-edit had changed it to other.test:443") as string,
    },
  ]);
  expect(told[0]?.note).toContain("put back what ShootControlPlane garden-dev/one says, api.one.test:443");
});

test.each<[string, ClusterEndpoint]>([
  ["the provider wrote last, as when a Shoot moves", written("old.test", 3, [COMPOSER, "f:host"], ["x", "f:port"])],
  ["clusterctl has made anew", written("old.test", 1, ["clusterctl", "f:host"])],
])("no Event is written of a ClusterEndpoint that %s", async (_, stored) => {
  const { told, spec } = await provide(stored);
  expect(spec).toMatchObject(wanted);
  expect(told).toEqual([]);
});

test("nothing is told of an edit that a watch brings late", async () => {
  const { told } = await provide(
    written("api.one.test", 3, [COMPOSER, "f:host"]),
    written("other.test", 2, ["kubectl-edit", "f:host"]),
  );
  expect(told).toEqual([]);
});

test("an endpoint that the API server refuses is an obstacle in its words, and any other failure is thrown", async () => {
  const provideTo = (status: number) => {
    const management: KubeClient = {
      ...keepObjects().client,
      create: () =>
        Promise.reject(new KubeError("spec.host: a_b is no DNS name", { status, reason: "", retryable: false })),
    };
    const endpoint = { host: "a_b.test", port: 443 };
    const provided = { cluster: clusterOf("one"), owner, name, present: undefined };
    return provideEndpoint({ management, events: { record: () => {} } }, provided, endpoint);
  };
  expect(await provideTo(422)).toEqual({ reason: "EndpointRefused", message: "spec.host: a_b is no DNS name" });
  await expect(provideTo(503)).rejects.toThrow("a_b is no DNS name");
});
