import { expect } from "vitest";
import { createExtensionMoves } from "../../src/activities/extensions/moves.ts";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import { refTo } from "../../src/kube/index.ts";
import { Infrastructure } from "../../src/api/index.ts";
import { test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { shootRun } from "../support/shoot-run.ts";
import { notedWaits } from "../support/noted-waits.ts";

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

test("a migration that the end of its epoch has cut short goes on under the next one, and then the object is restored", async () => {
  const name = "cut-short";
  const ref = refTo(Infrastructure, { name, namespace: run.technicalID });
  const of = (epoch: number) => ({
    ...infrastructure,
    metadata: { ...infrastructure.metadata, name },
    spec: {
      ...infrastructure.spec,
      leadership: { record: "r", value: "seed-1", epoch, leaseSeconds: 5, shoot: run.uid },
    },
  });
  const under = (epoch: number) => ({ ...run, epoch, migration: { ...back, returning: true as const } });
  const restore = () => moves(of(4)).restore(under(4), "Infrastructure", "infrastructure");
  const report = (state: string) => plane.client.patch(ref, migrated(state), { subresource: "status" });
  const look = async () => {
    const object = await plane.client.read(ref);
    const { leadership } = (object?.spec ?? {}) as { leadership?: { epoch: number } };
    return { asked: object?.metadata.annotations?.["gardener.cloud/operation"], epoch: leadership?.epoch };
  };

  await plane.client.apply(of(3));
  await moves(of(3)).migrate(under(3), "Infrastructure", "migrateInfrastructure");
  await plane.client.patch(ref, { metadata: { annotations: { "perennial.dev/epoch": "3" } } });
  await report("Processing");
  await expect(restore()).rejects.toThrow("still migrating it");
  expect(await look()).toEqual({ asked: "migrate", epoch: 4 });
  await report("Succeeded");
  expect(await restore()).toMatchObject([{ name, asked: "restore" }]);
  expect(await look()).toEqual({ asked: "restore", epoch: 4 });
});

test("an extension object that this seed left epochs ago gets the state that was kept since, not its own old one", async () => {
  const late = { ...run, epoch: 11, migration: { source: "seed-2", destination: "seed-1", takeover: false } };
  const name = "left";
  const left = { ...infrastructure, metadata: { ...infrastructure.metadata, name } };
  const ref = refTo(Infrastructure, { name, namespace: run.technicalID });
  const kept = { state: { machines: ["new"] } };
  const again = (run_: ShootRun, state?: typeof kept) => moves(left, state).restore(run_, "Infrastructure", "i");
  const stateOf = async () => (await plane.client.read(ref))?.status?.state;
  const leave = async (epoch: number) => {
    const annotations = { "perennial.dev/epoch": String(epoch), "gardener.cloud/operation": null };
    await plane.client.apply(left);
    await plane.client.patch(ref, { metadata: { annotations } });
    await plane.client.patch(ref, { status: { state: { machines: ["old"] } } }, { subresource: "status" });
  };

  await leave(9); // another seed led in epoch 10
  const dying = { ...plane.client, patch: () => Promise.reject(new Error("killed")) };
  await expect(moves(left, kept, dying).restore(late, "Infrastructure", "i")).rejects.toThrow("killed");
  await plane.client.patch(ref, { metadata: { annotations: { "perennial.dev/epoch": "11" } } });
  await again(late, kept);
  expect(await stateOf()).toEqual({ machines: ["new"] });
  expect((await plane.client.read(ref))?.metadata.annotations).not.toHaveProperty("perennial.dev/stale");

  await leave(9);
  await again(late); // and none where none was kept
  expect(await stateOf()).toBeUndefined();

  for (const [epoch, change] of [
    [10, {}], // it led itself in epoch 10, and takes over once more
    [9, { migration: { ...late.migration, returning: true as const } }],
  ] as const) {
    await leave(epoch);
    await again({ ...late, ...change }, kept);
    expect(await stateOf()).toEqual({ machines: ["old"] });
  }
});

function moves(wanted: object = infrastructure, kept?: object, seedClient = plane.client) {
  return createExtensionMoves({
    seedClient,
    waits: notedWaits,
    wanted: async () => [wanted as KubeObject],
    kept: async () => kept,
    machines: async () => undefined,
    protect: async () => {},
  });
}

const back = { source: "seed-1", destination: "seed-2", takeover: false };

const migrated = (state: string) => ({
  status: {
    lastOperation: { type: "Migrate", state, progress: 1, description: "", lastUpdateTime: "2026-01-01T00:00:00Z" },
  },
});

async function report(state: string): Promise<void> {
  const local = refTo(Infrastructure, { name: "local", namespace: run.technicalID });
  await plane.client.patch(local, migrated(state), { subresource: "status" });
}

async function asked(): Promise<string | undefined> {
  const object = await plane.client.read(Infrastructure, { name: "local", namespace: run.technicalID });
  return object?.metadata.annotations?.["gardener.cloud/operation"];
}
