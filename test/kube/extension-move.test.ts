import { expect } from "vitest";
import { createExtensionMoves } from "../../src/activities/extensions/moves.ts";
import type { Waits } from "../../src/activities/waits/waits.ts";
import { refTo } from "../../src/kube/index.ts";
import { Infrastructure } from "../../src/api/index.ts";
import { test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { shootRun } from "../support/shoot-run.ts";

const run = shootRun({ operation: "Restore" });
const ref = { apiVersion: "extensions.gardener.cloud/v1alpha1", kind: "Infrastructure" };
const secretRef = { name: "cloudprovider", namespace: run.technicalID };
const infrastructure = {
  ...ref,
  metadata: { name: "local", namespace: run.technicalID },
  spec: { type: "local", region: "one", secretRef },
};
let plane: ControlPlane;

test.beforeAll(async ({ cluster }) => {
  plane = cluster;
  await plane.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: run.technicalID } });
});
test("an extension object that comes back is asked to restore only once its controller has let go", async () => {
  await plane.client.apply(infrastructure);
  await moves().migrate(run, "Infrastructure", "migrateInfrastructure");
  await report("Processing");
  const restore = () => moves().restore(run, "Infrastructure", "infrastructure");
  await expect(restore()).rejects.toMatchObject({
    message: "cannot restore Infrastructure local: its controller is still migrating it",
    retryable: true,
  });
  expect(await asked()).toBe("migrate");
  await report("Error"); // it tries again later, and finds then what it is asked for now
  expect(await restore()).toMatchObject([{ name: "local", asked: "restore" }]);
  expect(await asked()).toBe("restore");
});

function moves() {
  return createExtensionMoves({
    seedClient: plane.client,
    waits: { registration: () => ({}) } as unknown as Waits,
    wanted: async () => [infrastructure],
    kept: async () => undefined,
    protect: async () => {},
  });
}

async function report(state: string): Promise<void> {
  const lastOperation = {
    type: "Migrate",
    state,
    progress: 1,
    description: "",
    lastUpdateTime: "2026-01-01T00:00:00Z",
  };
  await plane.client.patch(
    refTo(Infrastructure, { name: "local", namespace: run.technicalID }),
    { status: { lastOperation } },
    { subresource: "status" },
  );
}

async function asked(): Promise<string | undefined> {
  const object = await plane.client.read(Infrastructure, { name: "local", namespace: run.technicalID });
  return object?.metadata.annotations?.["gardener.cloud/operation"];
}
