import { startStandIns } from "../../bench/stand-ins.ts";
import type { SeedActivities, SurveyedAction, WaitTarget } from "../../src/activities/index.ts";
import { createSeedActivities, type SeedDeps } from "../../src/activities/seed.ts";
import type { ShootClients } from "../../src/activities/shoot/clients.ts";
import { createSigner } from "../../src/activities/waits/signature.ts";
import { createWaits } from "../../src/activities/waits/waits.ts";
import { POOL_LABEL } from "../../src/api/labels.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { FlowError, runFlow } from "../../src/flow/flow.ts";
import { createKubeClient, Node, refTo, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import type { Action } from "../../src/workflows/actions.ts";
import { reconcile } from "../../src/workflows/reconcile.ts";
import { nodesOf } from "../../src/workflows/surveyed.ts";
import type { ControlPlane } from "./control-plane.ts";
import { eventually } from "./eventually.ts";
import { applyGarden, createShoot } from "./garden-objects.ts";
import { notedGroup, notedWaits } from "./noted-waits.ts";
import { newKeyring } from "./state-keys.ts";

/** A Shoot that was reconciled by the real activities, on one API server that is garden, seed and the Shoot's own. */
export interface ReconciledShoot {
  readonly run: ShootRun;
  readonly activities: SeedActivities;
  /** The activities of a worker that has just started. */
  startAnew(): SeedActivities;
  readonly shootClients: ShootClients;
  /** Does every row of the table that acts in the seed, and waits for what it changed. */
  reconcile(change?: Partial<ShootRun>): Promise<void>;
  /** The rows that act in the seed, as a survey is told of them. */
  readonly rows: Readonly<Record<string, SurveyedAction>>;
  stop(): Promise<void>;
}

/**
 * Creates and reconciles it; stand-ins act as the seed's controllers, and a node has joined. The activities' requests are
 * made through what `observe` makes of their client, watches through `watching`.
 */
export async function startReconciledShoot(
  { kubeconfig, client }: ControlPlane,
  observe: (client: KubeClient) => KubeClient = (one) => one,
  watching = client,
): Promise<ReconciledShoot> {
  const log = createLogger({ name: "test", level: "silent" });
  await applyGarden(client);
  const standIns = await startStandIns(client);
  const run = {
    ...(await createShoot(client, "quiet")),
    hasBackup: false,
    operation: "Reconcile",
    periodic: true,
  } as const;
  await joinNode(client);
  const keys = newKeyring();
  const completer = { complete: async () => true, fail: async () => true };
  const waits = createWaits({ client: watching, completer, signer: createSigner(keys.own), log });
  waits.start();
  await waits.synced();
  const kube = observe(createKubeClient({ kubeconfig }));
  const deps: SeedDeps = {
    gardenClient: kube,
    seedClient: kube,
    shootClients: { get: async () => kube, forget: async () => {}, close: async () => {} },
    waits: { ...waits, group: notedGroup, soon: notedWaits.soon },
    keys,
    completer,
    log,
  };
  const activities = createSeedActivities(deps);
  const rows = Object.fromEntries(
    [...reconcile.steps].flatMap(([name, { do: action, when = [] }]) => {
      if (action.where !== "seed" || action.verb === "survey" || !when.every((one) => one.holds(run))) return [];
      return [[name, action.verb === "awaitNodes" ? { verb: action.verb, targets: [nodesOf(run)] } : action]];
    }),
  );
  const reconcileAll = async (change: Partial<ShootRun> = {}) => {
    const changed = { ...run, ...change };
    try {
      await runFlow(reconcile, changed, {
        carryOut: (action, step) => carryOut(activities, changed, action, step, deps),
      });
    } catch (error) {
      throw error instanceof FlowError ? new Error(error.message, { cause: [...error.failures.values()][0] }) : error;
    }
  };
  await reconcileAll({ periodic: false });
  await reconcileAll({ periodic: false }); // what it deploys into "the Shoot" is in "the seed" as well
  return {
    run,
    activities,
    startAnew: () => createSeedActivities(deps),
    shootClients: deps.shootClients,
    reconcile: reconcileAll,
    rows,
    async stop() {
      await Promise.all([standIns.stop(), waits.stop()]);
      await kube.close();
    },
  };
}

async function carryOut(
  activities: SeedActivities,
  run: ShootRun,
  action: Action,
  step: string,
  { waits }: SeedDeps,
): Promise<void> {
  const targets = await act(activities, run, action, step);
  await eventually(() => targets.every((target) => waits.readiness(target).reached));
  if ("then" in action && action.then !== undefined) await activities[action.then](run);
}

/** Has a step's action done that acts in the seed; answers with what the step waits for after it. */
export async function act(
  activities: SeedActivities,
  run: ShootRun,
  action: Action,
  step: string,
): Promise<WaitTarget[]> {
  if (action.verb === "deploy") return await activities.deployComponent(run, action.component, step);
  if (action.verb === "destroy") return await activities.destroyComponent(run, action.component, step);
  if (action.verb === "apply") return await activities.applyExtension(run, action.kind, step, action.purpose);
  if (action.verb === "call" && action.where === "seed") return (await activities[action.activity](run, step)) ?? [];
  return [];
}

async function joinNode(client: KubeClient): Promise<void> {
  const metadata = { name: "node", labels: { [POOL_LABEL]: "worker" } };
  await client.apply({ apiVersion: "v1", kind: "Node", metadata });
  const conditions = [{ type: "Ready", status: "True", reason: "Test", message: "" }];
  await client.patch(refTo(Node, { name: "node" }), { status: { conditions } }, { subresource: "status" });
}
