import { expect, test } from "vitest";
import type { ShootControlPlane } from "../../../src/api/cluster-api/index.ts";
import { notInitialized } from "../../../src/cluster-api/control-plane/not-initialized.ts";
import { report } from "../../../src/cluster-api/control-plane/report.ts";
import type { Shoot } from "../../../src/api/index.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { controlPlaneOf, shootOf } from "../../support/cluster-api-objects.ts";

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

test("what a control plane waits for that has never answered is what its Shoot's flow says, or that it has not begun", () => {
  const shoot = shootOf("one");
  const running = (status: Partial<NonNullable<Shoot["status"]>>) =>
    notInitialized({ ...shoot, status: { ...shoot.status, ...status } }).message;
  const operation = { type: "Create", progress: 20, description: "", lastUpdateTime: "2026-11-23T10:00:00Z" } as const;
  expect(notInitialized(undefined).message).toBe("there is no Shoot yet");
  expect(running({})).toBe("Shoot garden-dev/one waits for its flow to begin");
  const processing = { ...operation, state: "Processing" } as const;
  expect(running({ lastOperation: processing })).toBe(
    "Shoot garden-dev/one is in operation Create, which is Processing, and its API server has not answered yet",
  );
  expect(running({ lastOperation: { ...processing, progress: 60 } }), "progress is no change").toBe(
    running({ lastOperation: processing }),
  );
  const pending = { ...operation, state: "Pending", description: "no Seed fits" } as const;
  expect(running({ lastOperation: pending })).toBe("Shoot garden-dev/one waits for operation Create: no Seed fits");
  const failed = {
    lastOperation: { ...operation, state: "Failed" as const },
    lastErrors: [{ description: "etcd is away" }],
  };
  expect(running(failed)).toBe("Shoot garden-dev/one is in operation Create, which is Failed: etcd is away");
});
