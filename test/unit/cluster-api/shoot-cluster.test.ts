import { expect, test } from "vitest";
import { PROJECT_NAMESPACE_ANNOTATION } from "../../../src/api/annotations.ts";
import {
  CLUSTER_NAME_LABEL,
  ClusterEndpoint,
  ShootCluster,
  type ShootControlPlane,
} from "../../../src/api/cluster-api/index.ts";
import { DomainReservation } from "../../../src/api/index.ts";
import { INFRASTRUCTURE_ID_LABEL } from "../../../src/api/labels.ts";
import { INFRASTRUCTURE_FINALIZER } from "../../../src/api/names.ts";
import { provideDomain, whyImproper } from "../../../src/cluster-api/shoot-cluster/domain.ts";
import { removeInfrastructure } from "../../../src/cluster-api/shoot-cluster/deletion.ts";
import { reserveDomain, type Claim } from "../../../src/cluster-api/shoot-cluster/reservation.ts";
import type { Namespace } from "../../../src/kube/index.ts";
import { clusterOf, controlPlaneOf } from "../../support/cluster-api-objects.ts";
import { keepObjects } from "../../support/kept-objects.ts";

const domain = "mine.example.com";
const events = { record: () => undefined };

/** A reservation for this Shoot; without an id, one that an operator has made. */
const reservationFor = (namespace: string, name: string, id?: string): DomainReservation => ({
  apiVersion: DomainReservation.apiVersion,
  kind: DomainReservation.kind,
  metadata: { name: domain, ...(id && { labels: { [INFRASTRUCTURE_ID_LABEL]: id } }) },
  spec: { domain, shootRef: { namespace, name } },
});

/** An infrastructure of project garden-dev that is being deleted, with an id that any user may have written. */
const leaving = (id: string): ShootCluster => ({
  apiVersion: ShootCluster.apiVersion,
  kind: ShootCluster.kind,
  metadata: {
    namespace: "management",
    name: "mine",
    uid: "my-uid",
    labels: { [CLUSTER_NAME_LABEL]: "mine", [INFRASTRUCTURE_ID_LABEL]: id },
    finalizers: [INFRASTRUCTURE_FINALIZER],
    deletionTimestamp: "2026-01-01T00:00:00Z",
  },
  spec: { endpoint: { domain } },
});

interface Surroundings {
  readonly reservation?: DomainReservation;
  readonly controlPlanes?: readonly ShootControlPlane[];
  /** What the namespace's annotation says; null for none. */
  readonly project?: string | null;
}

async function remove(
  infrastructure: ShootCluster,
  { reservation, controlPlanes = [], project = "garden-dev" }: Surroundings,
) {
  const management = keepObjects(infrastructure);
  const garden = keepObjects(...(reservation ? [reservation] : []));
  const namespace: Namespace = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "management", ...(project && { annotations: { [PROJECT_NAMESPACE_ANNOTATION]: project } }) },
  };
  const world = { namespaces: { get: () => namespace }, controlPlanes: { list: () => [...controlPlanes] } };
  await removeInfrastructure({ management: management.client, garden: garden.client, world }, infrastructure, "mine");
  const left = await management.client.read(ShootCluster, infrastructure.metadata);
  return {
    isHeld: left?.metadata.finalizers?.includes(INFRASTRUCTURE_FINALIZER) ?? false,
    reason: left?.status?.conditions?.find(({ type }) => type === "Deleting")?.reason,
    isReserved: (await garden.client.read(DomainReservation, { name: domain })) !== undefined,
  };
}

test("an infrastructure that goes gives its domain back, and is let go", async () => {
  const reservation = reservationFor("garden-dev", "mine", "my-uid");
  expect(await remove(leaving("my-uid"), { reservation })).toMatchObject({ isHeld: false, isReserved: false });
});

test.each([
  ["another project's, whose id a user has copied", reservationFor("garden-other", "mine", "their-uid"), "their-uid"],
  ["another Cluster's, whose id a user has copied", reservationFor("garden-dev", "theirs", "their-uid"), "their-uid"],
  ["a Cluster's of the same name elsewhere", reservationFor("garden-dev", "mine", "their-uid"), "my-uid"],
  ["made by an operator", reservationFor("garden-dev", "mine"), "my-uid"],
])("an infrastructure that goes leaves a reservation that is %s", async (_, reservation, id) => {
  expect(await remove(leaving(id), { reservation })).toMatchObject({ isHeld: false, isReserved: true });
});

test("an infrastructure stays while its Cluster has a control plane, and so does its domain", async () => {
  const { metadata, ...kept } = controlPlaneOf("mine");
  const controlPlane = { ...kept, metadata: { ...metadata, labels: { [CLUSTER_NAME_LABEL]: "mine" } } };
  const reservation = reservationFor("garden-dev", "mine", "my-uid");
  const found = await remove(leaving("my-uid"), { reservation, controlPlanes: [controlPlane] });
  expect(found).toEqual({ isHeld: true, isReserved: true, reason: "WaitingForControlPlane" });
});

test("an infrastructure stays while its namespace may use no project, and says so", async () => {
  const reservation = reservationFor("garden-dev", "mine", "my-uid");
  const found = await remove(leaving("my-uid"), { reservation, project: null });
  expect(found).toEqual({ isHeld: true, isReserved: true, reason: "NoProject" });
});

const claim: Claim = { domain, id: "my-uid", shoot: { namespace: "garden-dev", name: "mine" } };

test.each([
  ["its own", reservationFor("garden-dev", "mine", "my-uid"), undefined],
  ["made by an operator for its Shoot", reservationFor("garden-dev", "mine"), undefined],
  [
    "another project's",
    reservationFor("garden-other", "mine", "my-uid"),
    "mine.example.com is reserved for Shoot garden-other/mine",
  ],
  [
    "a Cluster's of the same name elsewhere",
    reservationFor("garden-dev", "mine", "their-uid"),
    "mine.example.com is reserved for Shoot garden-dev/mine of another Cluster",
  ],
])("an infrastructure knows a reservation that is %s", async (_, present, message) => {
  const { client } = keepObjects();
  expect((await reserveDomain(client, claim, present))?.message).toBe(message);
});

test.each([
  ["com", "a single label"],
  ["internal", "a single label"],
  ["one.123", "no API server can have a name"],
  ["10.0.0.1", "no API server can have a name"],
  ["one.0x1f", "no API server can have a name"],
])("an infrastructure does not reserve %s", (improper, why) => {
  expect(whyImproper(improper)).toMatchObject({
    reason: "DomainInvalid",
    message: expect.stringContaining(`spec.endpoint.domain is ${improper}`),
  });
  expect(whyImproper(improper)?.message).toContain(why);
  expect(whyImproper(improper)?.message).toContain("such as one.example.com");
});

test.each(["one.com", "mine.example.com", "xn--bcher-kva.example", "1.example.com"])(
  "an infrastructure may reserve %s",
  (proper) => {
    expect(whyImproper(proper)).toBeUndefined();
  },
);

test("an infrastructure whose ClusterEndpoint has the name of another's says so, and changes nothing of that", async () => {
  const theirs: ClusterEndpoint = {
    apiVersion: ClusterEndpoint.apiVersion,
    kind: ClusterEndpoint.kind,
    metadata: { namespace: "management", name: "mine-infrastructure" },
    spec: { cluster: "mine", host: "10.0.0.1", port: 443, type: "apiserver" },
  };
  const { deletionTimestamp: _, ...metadata } = leaving("my-uid").metadata;
  const management = keepObjects(theirs);
  const held = reservationFor("garden-dev", "mine", "my-uid");
  const world = {
    controlPlanes: { get: () => undefined },
    reservations: { get: () => held },
    endpoints: { get: () => theirs },
  };
  const taken = await provideDomain(
    { management: management.client, garden: keepObjects(held).client, events, world },
    {
      cluster: { ...clusterOf("mine"), metadata: { namespace: "management", name: "mine" } },
      infrastructure: { ...leaving("my-uid"), metadata },
      holder: { id: "my-uid", shoot: { namespace: "garden-dev", name: "mine" } },
    },
  );
  expect(taken).toMatchObject({ reason: "NameTaken" });
  expect(await management.client.read(ClusterEndpoint, theirs.metadata)).toEqual(theirs);
});

test("an infrastructure with a top-level domain, which an earlier definition took, makes nothing in the garden", async () => {
  const [management, garden] = [keepObjects(), keepObjects()];
  const world = {
    controlPlanes: { get: () => undefined },
    reservations: { get: () => undefined },
    endpoints: { get: () => undefined },
  };
  const { deletionTimestamp: _, ...metadata } = leaving("my-uid").metadata;
  const told = await provideDomain(
    { management: management.client, garden: garden.client, events, world },
    {
      cluster: clusterOf("mine"),
      infrastructure: { ...leaving("my-uid"), metadata, spec: { endpoint: { domain: "com" } } },
      holder: { id: "my-uid", shoot: { namespace: "garden-dev", name: "mine" } },
    },
  );
  expect(told).toMatchObject({ reason: "DomainInvalid" });
  expect(await garden.client.read(DomainReservation, { name: "com" })).toBeUndefined();
});
