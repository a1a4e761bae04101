import { expect, test } from "vitest";
import type { ShootControlPlane } from "../../../src/api/cluster-api/index.ts";
import { report } from "../../../src/cluster-api/control-plane/report.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { controlPlaneOf } from "../../support/cluster-api-objects.ts";

const obstacle = { reason: "NoProject", message: "Namespace garden-dev may use no project" };

/** The statuses that the controller writes of a control plane without a Shoot. */
async function statusesOf(controlPlane: ShootControlPlane): Promise<unknown[]> {
  const statuses: unknown[] = [];
  const management = {
    patch: async (_: unknown, { status }: { readonly status: unknown }) => statuses.push(status),
  } as unknown as KubeClient;
  await report({ management, silence: new Map() }, controlPlane, { obstacle });
  return statuses;
}

const saying = (available: object) => [
  { conditions: expect.arrayContaining([expect.objectContaining({ type: "Available", ...available })]) as unknown },
];

test("the controller says of a control plane that has answered once what hides its Shoot", async () => {
  const initialized = { ...controlPlaneOf("one"), status: { initialization: { controlPlaneInitialized: true } } };
  expect(await statusesOf(initialized)).toMatchObject(saying({ status: "Unknown", ...obstacle }));
});

test("the controller says of a control plane that has never answered that it is not initialized", async () => {
  expect(await statusesOf(controlPlaneOf("one"))).toMatchObject(saying({ status: "False", reason: "NotInitialized" }));
});
