import { expect, test } from "vitest";
import { ShootCluster, ShootMachinePool, type MachinePool } from "../../../src/api/cluster-api/index.ts";
import { whyUnseen } from "../../../src/cluster-api/control-plane/waiting.ts";
import { isProvidedBy } from "../../../src/cluster-api/endpoint/provided.ts";
import { namesEmptyTemplate } from "../../../src/cluster-api/optional-infrastructure/empty-template.ts";
import { infrastructureOf, poolsOf } from "../../../src/cluster-api/shoot/cluster-parts.ts";
import { typeMeta } from "../../../src/kube/index.ts";
import { clusterOf, controlPlaneOf, poolOf } from "../../support/cluster-api-objects.ts";
import { endpointOf } from "../../support/cluster-endpoints.ts";

const [OURS, THEIRS] = ["infrastructure.cluster.x-k8s.io", "infrastructure.example.com"];

const infrastructure: ShootCluster = {
  ...typeMeta(ShootCluster),
  metadata: { namespace: "garden-dev", name: "one", labels: { "cluster.x-k8s.io/cluster-name": "one" } },
};
const clusterNaming = (apiGroup: string) =>
  clusterOf("one", { infrastructureRef: { apiGroup, kind: ShootCluster.kind, name: "one" } });

test.each([
  [OURS, infrastructure],
  [THEIRS, undefined],
])("a Cluster that names a ShootCluster of %s finds one only where that is ours", (group, found) => {
  const infrastructures = { get: () => infrastructure };
  expect(infrastructureOf({ infrastructures }, clusterNaming(group))).toBe(found);
});

test("a Shoot does not wait for another group's ShootCluster to be seen", () => {
  expect(whyUnseen(clusterNaming(THEIRS), undefined)).toBeUndefined();
  expect(whyUnseen(clusterNaming(OURS), undefined)).toMatchObject({ reason: "WaitingForInfrastructure" });
});

test.each([
  [OURS, 1],
  [THEIRS, 0],
])(
  "a MachinePool that names a ShootMachinePool of %s is joined with one only where that is ours",
  (apiGroup, count) => {
    const { machinePool, infrastructure: pool } = poolOf("one", "a");
    const { spec } = machinePool;
    const infrastructureRef = { apiGroup, kind: ShootMachinePool.kind, name: "a" };
    const template = { ...spec.template, spec: { ...spec.template.spec, infrastructureRef } };
    const naming: MachinePool = { ...machinePool, spec: { ...spec, template } };
    const world = { of: { machinePools: () => [naming] }, pools: { get: () => pool } } as unknown as Parameters<
      typeof poolsOf
    >[0];
    expect(poolsOf(world, clusterOf("one"))).toHaveLength(count);
  },
);

test("an endpoint that another group's kind of the same name controls is none of the control plane's", () => {
  const owner = controlPlaneOf("one");
  const reference = { apiVersion: owner.apiVersion, kind: owner.kind, name: "one", uid: "any", controller: true };
  const ownedBy = (apiVersion: string) => endpointOf({ metadata: { ownerReferences: [{ ...reference, apiVersion }] } });
  expect(isProvidedBy(ownedBy(owner.apiVersion), owner)).toBe(true);
  expect(isProvidedBy(ownedBy("controlplane.cluster.x-k8s.io/v1"), owner), "of another version").toBe(true);
  expect(isProvidedBy(ownedBy("controlplane.example.com/v1"), owner)).toBe(false);
});

test("a ClusterClass with another group's template of the empty one's name has infrastructure", () => {
  const naming = (group: string) => ({
    spec: {
      infrastructure: {
        templateRef: { apiVersion: `${group}/v1alpha1`, kind: "ShootClusterTemplate", name: "no-infrastructure" },
      },
    },
  });
  expect(namesEmptyTemplate(naming(OURS))).toBe(true);
  expect(namesEmptyTemplate(naming(THEIRS))).toBe(false);
});
