import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "vitest";
import type { OperationStatus } from "../../src/activities/index.ts";
import { createShootStatus } from "../../src/activities/shoot/status.ts";
import { createLeadership } from "../../src/activities/leadership/leadership.ts";
import { createTell } from "../../src/activities/shoot/tell.ts";
import { Shoot } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { Event, refTo, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { findBinary } from "../support/binary.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";

const log = createLogger({ name: "test", level: "silent" });
const report = (status: Partial<OperationStatus> = {}): OperationStatus => ({
  ...{ state: "Processing", progress: 40, description: "etcd", lastErrors: [] },
  ...status,
});
const lastUpdateTime = "2026-01-01T00:00:00Z";
const failure = { taskID: "worker", description: "password=hunter2 is refused", codes: [], lastUpdateTime };
const parked = report({ state: "Failed", description: "waiting for a retry of worker", lastErrors: [failure] });

const reporterTo = (client: KubeClient) => ({ client, controller: "perennial.dev/test", instance: "test" });

/** The Shoot's status, as each of its activities writes it that is tried twice. */
function createTwice(client: KubeClient) {
  let scheduledTimestampMs = Date.parse("2026-01-01T00:00:00Z");
  const execution = { workflowId: "w", runId: "0123456789" };
  const asking = () => ({ workflowExecution: execution, scheduledTimestampMs });
  const status = createShootStatus(client, createTell({ reporter: reporterTo(client), log, asking }));
  return async (act: (one: typeof status) => Promise<void>) => {
    scheduledTimestampMs += 1_000;
    await act(status);
    await act(status);
  };
}

test("kubectl describe tells what became of a Shoot, each thing once", async ({
  cluster: { client, kubeconfigFile },
}) => {
  await applyGarden(client);
  const run = await createShoot(client, "told");
  const twice = createTwice(client);
  await twice((status) => status.begin(run, undefined));
  await twice((status) => status.write(run, report()));
  await twice((status) => status.write(run, { ...parked, parked: ["worker"] }));
  await twice((status) => status.write(run, { ...parked, state: "Processing", parked: ["worker"], resumed: "worker" }));
  await twice((status) => status.write(run, report({ state: "Succeeded" })));

  const kubectl = await findBinary("kubectl");
  const { namespace, name } = run;
  const { stdout } = await promisify(execFile)(kubectl, [
    ...["--kubeconfig", kubeconfigFile, "--namespace", namespace],
    ...["describe", "shoots.core.gardener.cloud", name],
  ]);
  const [, events = ""] = stdout.split("\nEvents:");
  expect([...events.matchAll(/^ +(?:Normal|Warning) +(\w+) /gm)].map(([, reason]) => reason)).toEqual([
    "Reconciling",
    "StepParked",
    "ReconcileError",
    "StepResumed",
    "Reconciled",
  ]);
  expect(events).toContain("Step worker waits for a retry: password=[redacted] is refused");
  expect(await client.list(Event, { namespace, fieldSelector: `regarding.name=${name}` })).toHaveLength(5);
});

test("a flip is told of when it is decided, and not again while it is still being published", async ({
  cluster: { client },
}) => {
  await applyGarden(client);
  const created = await createShoot(client, "moving", { seedName: "seed-2" });
  const leadership = { record: "moving.dev.test", seed: "seed-1", epoch: 1, leaseSeconds: 60 };
  await client.patch(refTo(Shoot, created), { status: { leadership } }, { subresource: "status" });
  const migration = { source: "seed-1", destination: "seed-2", takeover: false };
  const run: ShootRun = { ...created, operation: "Migrate", leadershipRecord: leadership.record, migration };
  const silent = () => Promise.reject(new Error("the zone is silent"));
  const askAll = async () => [{ server: "server", leader: { seed: "seed-1", epoch: 1 } }]; // nothing changes it
  for (const scheduledTimestampMs of [1, 2]) {
    const tell = createTell({ reporter: reporterTo(client), log, asking: () => ({ scheduledTimestampMs }) });
    const triedBefore = () => false;
    const { flip } = createLeadership({
      gardenClient: client,
      lookup: { ask: silent, askAll },
      tell,
      triedBefore,
    });
    await expect(flip(run)).rejects.toThrow();
  }
  expect(await client.list(Event, { namespace: run.namespace, fieldSelector: "reason=Flipped" })).toMatchObject([
    { note: "Seed seed-2 leads, no longer Seed seed-1: epoch 2", regarding: { kind: "Shoot", name: "moving" } },
  ]);
});

test("a status is written also where no Event can be", async ({ cluster: { client } }) => {
  await applyGarden(client);
  const run = await createShoot(client, "untold");
  const deaf = { create: () => Promise.reject(new Error("no Events here")) } as unknown as KubeClient;
  const tell = createTell({ reporter: reporterTo(deaf), log, asking: () => ({ scheduledTimestampMs: 0 }) });
  await createShootStatus(client, tell).begin(run, undefined);
  expect((await client.read(Shoot, run))?.status?.lastOperation).toMatchObject({ state: "Processing" });
});
