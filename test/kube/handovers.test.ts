import { beforeEach, describe, expect } from "vitest";
import { createNamespaceFence } from "../../src/activities/leadership/namespace-fence.ts";
import { HANDOVER_ANNOTATION, HANDOVER_RENEWED_ANNOTATION } from "../../src/api/annotations.ts";
import { ROLE_LABEL } from "../../src/api/labels.ts";
import { Shoot } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { Namespace, refTo, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createHandovers } from "../../src/worker/handovers.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";

const log = createLogger({ name: "test", level: "silent" });
const LONG_AGO = "2026-01-01T00:00:00Z";
let kube: KubeClient;
let run: ShootRun;
let count = 0;

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await applyGarden(kube);
});

/** seed-1 has announced that it hands the Shoot over to epoch 4. */
beforeEach(async () => {
  const name = `handed-${(count += 1)}`;
  const created = await createShoot(kube, name, { seedName: "seed-2" });
  run = { ...created, technicalID: `shoot--dev--${name}`, seedName: "seed-1", epoch: 3 };
  const { technicalID, namespace, uid } = run;
  const metadata = { name: technicalID, labels: { [ROLE_LABEL]: "shoot" } };
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata });
  await kube.apply({
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Cluster",
    metadata: { name: technicalID },
    spec: { cloudProfile: {}, seed: {}, shoot: { metadata: { namespace, name, uid } } },
  });
  await fence().announceHandover(run);
  await kube.patch(ref(), { metadata: { annotations: { [HANDOVER_RENEWED_ANNOTATION]: LONG_AGO } } });
});

describe("the worker of a seed that hands a Shoot over renews its announcement", () => {
  test("before and after the flip, also when the next leader has raised the fence", async () => {
    await stands({ seed: "seed-1", epoch: 3 }, "Migrate");
    expect(await isRenewed()).toBe(true);
    await stands({ seed: "seed-2", epoch: 4, previousSeed: "seed-1" }, "Restore");
    await fence().raiseFence({ ...run, epoch: 4 });
    expect(await isRenewed()).toBe(true);
  });
});

describe("the worker of a seed renews no announcement", () => {
  test.for<[string, object, string, string?]>([
    ["once the Shoot has arrived", { seed: "seed-2", epoch: 4, previousSeed: "seed-1" }, "Restore", "Succeeded"],
    ["once the Shoot has moved on", { seed: "seed-3", epoch: 5, previousSeed: "seed-2" }, "Restore"],
    ["of a move that was taken over", { seed: "seed-2", epoch: 5, previousSeed: "seed-1", takeover: true }, "Restore"],
    ["of another epoch", { seed: "seed-2", epoch: 6, previousSeed: "seed-1" }, "Restore"],
    ["where the garden knows of no move", { seed: "seed-1", epoch: 4 }, "Reconcile"],
  ])("%s", async ([, leadership, operation, state]) => {
    await stands(leadership, operation, state);
    expect(await isRenewed()).toBe(false);
  });

  test("of an earlier Shoot of the name, nor where nothing is announced", async () => {
    await stands({ seed: "seed-2", epoch: 4, previousSeed: "seed-1" }, "Restore");
    await kube.patch(ref(), { metadata: { annotations: { "shoot.gardener.cloud/uid": "earlier" } } });
    expect(await isRenewed()).toBe(false);
    await kube.patch(ref(), { metadata: { annotations: { [HANDOVER_ANNOTATION]: null } } });
    expect(await isRenewed()).toBe(false);
  });
});

const fence = () => createNamespaceFence({ seedClient: kube });
const ref = () => refTo(Namespace, { name: run.technicalID });

async function stands(leadership: object, type: string, state = "Processing"): Promise<void> {
  const { namespace, name } = run;
  const held = { record: "r.dev.leadership.test", leaseSeconds: 60, ...leadership };
  const lastOperation = { type, state, progress: 1, description: "-", lastUpdateTime: LONG_AGO };
  const status = { leadership: held, lastOperation };
  await kube.patch(refTo(Shoot, { namespace, name }), { status }, { subresource: "status" });
}

async function isRenewed(): Promise<boolean> {
  await createHandovers({ gardenClient: kube, seedClient: kube, seedName: "seed-1", log }).round();
  const renewed = (await kube.read(ref()))?.metadata.annotations?.[HANDOVER_RENEWED_ANNOTATION];
  return renewed !== LONG_AGO;
}
