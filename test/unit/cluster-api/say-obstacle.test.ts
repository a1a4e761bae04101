import { expect, test } from "vitest";
import type { Condition, ShootCluster } from "../../../src/api/cluster-api/index.ts";
import { needsOf } from "../../../src/cluster-api/shoot-cluster/needs.ts";
import { sayObstacle, sayObstacleOfInfrastructure } from "../../../src/cluster-api/shoot/say-obstacle.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { controlPlaneOf } from "../../support/cluster-api-objects.ts";

const obstacle = { reason: "GardenUnreachable", message: "the garden has not answered since 2026-11-23T12:00:00Z" };

/** A management cluster, and the conditions that were written there. */
function noting(): { readonly management: KubeClient; readonly written: Condition[] } {
  const written: Condition[] = [];
  const patch = async (_: unknown, { status }: { readonly status: { readonly conditions?: readonly Condition[] } }) =>
    void written.push(...(status.conditions ?? []));
  return { management: { patch } as unknown as KubeClient, written };
}

const saying = (type: string, status: Condition["status"], reason: string, message: string) => ({
  conditions: [{ type, status, reason, message, lastTransitionTime: "2026-11-23T11:00:00Z" }],
});

const infrastructure = (o: Partial<ShootCluster> = {}): ShootCluster => ({
  apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
  kind: "ShootCluster",
  metadata: { namespace: "garden-dev", name: "one" },
  ...o,
});

test("a control plane says since when the garden is away, and that its deletion waits for that", async () => {
  const { management, written } = noting();
  await sayObstacle(management, controlPlaneOf("one"), obstacle);
  expect(written).toMatchObject([{ type: "ShootSynced", status: "Unknown", ...obstacle }]);
  const { metadata, ...rest } = controlPlaneOf("two");
  const leaving = { ...rest, metadata: { ...metadata, deletionTimestamp: "2026-11-23T12:00:00Z" } };
  await sayObstacle(management, leaving, obstacle);
  expect(written).toContainEqual(expect.objectContaining({ type: "Deleting", status: "True", ...obstacle }));
});

test("the next leader keeps what was said of the garden before it: since when", async () => {
  const { management, written } = noting();
  const earlier = "the garden has not answered since 2026-11-23T11:00:00Z";
  const status = saying("ShootSynced", "Unknown", obstacle.reason, earlier);
  await sayObstacle(management, { ...controlPlaneOf("one"), status }, obstacle);
  expect(written).toEqual([]);
});

test("an infrastructure that is ready stays so while the garden is away, and another one is unknown", async () => {
  const { management, written } = noting();
  await sayObstacleOfInfrastructure(
    management,
    infrastructure({ status: saying("Ready", "True", "Ready", "") }),
    obstacle,
  );
  expect(written).toMatchObject([
    { type: "Ready", status: "True", lastTransitionTime: "2026-11-23T11:00:00Z", ...obstacle },
  ]);
  written.length = 0;
  await sayObstacleOfInfrastructure(management, infrastructure(), obstacle);
  expect(written).toMatchObject([{ type: "Ready", status: "Unknown", ...obstacle }]);
});

test("an infrastructure needs of the garden what it reserves or copies there, and Seeds until it is provisioned", () => {
  const seedSelector = { matchLabels: { region: "north" } };
  const credentials = { providerType: "local", secretRef: { name: "own" } };
  expect(needsOf({ spec: {} })).toBeUndefined();
  expect(needsOf({ spec: { zones: ["a"] } })).toBeUndefined();
  expect(needsOf({ spec: { seedSelector } })).toEqual([]);
  expect(needsOf({ spec: { seedSelector }, status: { initialization: { provisioned: true } } })).toBeUndefined();
  expect(needsOf({ spec: { endpoint: { domain: "one.example.com" } } })).toEqual(["reservations"]);
  expect(needsOf({ spec: { credentials } })).toEqual(["gardenSecrets", "gardenBindings"]);
});
