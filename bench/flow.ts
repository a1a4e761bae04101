import { setTimeout as sleep } from "node:timers/promises";
import type { WorkflowHandle } from "@temporalio/client";
import { createGardenActivities } from "../src/activities/garden.ts";
import { listedShoots } from "../src/activities/shoot/garden-shoots.ts";
import { createLeaderLookup, createZoneServers } from "../src/dns/index.ts";
import type { SeedActivities, WaitTarget } from "../src/activities/index.ts";
import { extensionReady } from "../src/activities/waits/readiness.ts";
import { createSeedActivities } from "../src/activities/seed.ts";
import { createShootClients } from "../src/activities/shoot/clients.ts";
import { createSigner } from "../src/activities/waits/signature.ts";
import { createWaits } from "../src/activities/waits/waits.ts";
import { createCompleter } from "../src/client/completer.ts";
import { createOperations } from "../src/client/operations.ts";
import { components } from "../src/components/index.ts";
import type { KubeClient } from "../src/kube/index.ts";
import { createLogger } from "../src/log.ts";
import { buildWorkflows } from "../src/worker/build.ts";
import { createGardenWorker } from "../src/worker/garden.ts";
import { createSeedWorker } from "../src/worker/seed.ts";
import { flowWorkflowId, gardenQueue, progressQuery, workflowTypes } from "../src/workflows/contract.ts";
import { reconcile } from "../src/workflows/reconcile.ts";
import { createShoot } from "../test/support/garden-objects.ts";
import { newKeyring, newStateKey } from "../test/support/state-keys.ts";
import { noExtensions } from "./no-extensions.ts";
import { seconds, type Bench, type Findings, type Ground } from "./bench.ts";
import { criticalPath } from "./critical-path.ts";
import { becomesCurrent } from "./current-build.ts";
import { median } from "./percentiles.ts";
import { startStandIns } from "./stand-ins.ts";

/** One Shoot's real reconcile flow against its critical path. */
export const flow: Bench = { name: "flow", measure: measureFlow };

/** Times are ms; those of several runs, each for a Shoot of its own, in the order of these. */
interface FlowFigures {
  readonly extensionTakes: number;
  readonly criticalPath: number;
  /** With extensions that take nothing. */
  readonly own: readonly number[];
  readonly watching: readonly number[];
  readonly polling: number;
}

/** How long an extension takes, how often upstream's flows look at one (its `DefaultInterval`), and how often a flow runs. */
const whole = { extensionTakes: 2_000, pollInterval: 5_000, runs: 5 };
const short = { extensionTakes: 200, pollInterval: 500, runs: 1 };

/** Runs the real reconcile flow, for a Shoot of its own each time; the first one warms everything up. */
async function measureFlow({ controlPlane, temporal, say, ...ground }: Ground): Promise<Findings> {
  const { extensionTakes, pollInterval, runs } = ground.short ? short : whole;
  const kube = controlPlane.client;
  const log = createLogger({ name: "bench", level: "silent" });
  const completer = createCompleter(temporal.client);
  const waits = createWaits({ client: kube, completer, signer: createSigner([newStateKey("seed-1")]), log });
  waits.start();
  await waits.synced();
  const standIns = await startStandIns(kube);
  let polls = false;
  const asks = ({ until }: WaitTarget) => polls && until === "ready";
  const real = createSeedActivities({
    gardenClient: kube,
    seedClient: kube,
    shootClients: createShootClients(kube, log),
    keys: newKeyring(),
    waits: {
      ...waits,
      soon: async (targets) => (targets.some(asks) ? [...targets] : await waits.soon(targets)),
      group(step, size) {
        const { registration } = waits.group(step, size);
        return { registration: (target, uid) => (asks(target) ? {} : registration(target, uid)) };
      },
    },
    completer,
    log,
  });
  const wait: SeedActivities["waitFor"] = async (run, targets) =>
    targets.every(asks)
      ? void (await Promise.all(targets.map((target) => poll(kube, target, pollInterval))))
      : await real.waitFor(run, targets);
  const build = await buildWorkflows();
  const workers = await Promise.all([
    createGardenWorker({
      connection: temporal.connection,
      namespace: "default",
      build,
      activities: createGardenActivities({
        extensions: noExtensions,
        shoots: listedShoots(kube),
        gardenClient: kube,
        periods: { syncPeriod: 3_600_000, retryDuration: 60_000, leaseSeconds: 60, dnsTtl: 120, seedDeadline: 120_000 },
        operations: createOperations(temporal.client),
        lookup: createLeaderLookup(createZoneServers()),
        keys: async () => [newStateKey("garden")],
        log,
      }),
    }),
    createSeedWorker({
      connection: temporal.connection,
      namespace: "default",
      seedName: "seed-1",
      activities: withoutShoot(real, wait),
    }),
  ]);
  const running = workers.map((worker) => worker.run());
  await becomesCurrent(temporal, build.id);

  const measure = async (name: string) => {
    say(`flow: ${name}`);
    const run = { ...(await createShoot(kube, name)), hasBackup: false }; // its Seed names no place for backups
    const begun = performance.now();
    const started = await temporal.client.workflow.start(workflowTypes.reconcile, {
      workflowId: flowWorkflowId(run, "reconcile"),
      taskQueue: gardenQueue,
      args: [run],
    });
    await inTime(started);
    return Math.round(performance.now() - begun);
  };
  const measureRuns = async (name: string) => {
    const times: number[] = [];
    for (let run = 1; run <= runs; run += 1) times.push(await measure(`${name}-${run}`));
    return times;
  };
  try {
    await measure("warm-up");
    const own = await measureRuns("own");
    standIns.take(extensionTakes);
    const watching = await measureRuns("watching");
    polls = true;
    const polling = await measure("polling");
    const extensions = new Set([
      "infrastructure",
      "controlPlane",
      "operatingSystemConfig",
      "network",
      "worker",
      "internalDns",
      "externalDns",
    ]);
    const path = criticalPath(reconcile, (step) => (extensions.has(step) ? extensionTakes : 0));
    return findings({ extensionTakes, criticalPath: path, own, watching, polling }, pollInterval);
  } finally {
    workers.forEach((worker) => worker.shutdown());
    await Promise.all([...running, standIns.stop(), waits.stop()]);
  }
}

function findings(figures: FlowFigures, pollInterval: number): Findings {
  const path = figures.criticalPath;
  const spread = (times: readonly number[]) =>
    `${seconds(median(times))} (${seconds(Math.min(...times))} to ${seconds(Math.max(...times))})`;
  const rows = [
    ["critical path: what the extensions take", seconds(path)],
    ["the same flow with extensions that take nothing", spread(figures.own)],
    [
      "woken by the watch",
      `${spread(figures.watching)} = ${(median(figures.watching) / path).toFixed(3)} x critical path`,
    ],
    [
      `polling every ${pollInterval / 1_000} s`,
      `${seconds(figures.polling)} = ${(figures.polling / path).toFixed(2)} x critical path`,
    ],
  ] as const;
  const title = `One Shoot's reconcile flow, its extensions take ${seconds(figures.extensionTakes)} each; median of ${figures.watching.length}`;
  return { figures, tables: [{ title, rows }] };
}

/** Throws which steps a flow stands at that takes too long: there is a row that no stand-in answers. */
async function inTime(flow: WorkflowHandle): Promise<void> {
  const late = new AbortController();
  const longest = sleep(LONGEST, "late", { signal: late.signal }).catch(() => "ended");
  const end = await Promise.race([flow.result(), longest]);
  late.abort();
  if (end !== "late") return;
  const { steps } = await flow.query(progressQuery);
  const open = steps.filter(({ state }) => state === "running" || state === "retrying" || state === "parked");
  const where = open.map(({ name, state, error }) => `${name} (${state}: ${error?.message ?? "no error yet"})`);
  throw new Error(`the flow has not ended after ${LONGEST / 1_000} s: it stands at ${where.join("; ")}`);
}

/** In ms. */
const LONGEST = 60_000;

/** There is no cluster behind the control plane: what would act on it does nothing, and takes no time. */
function withoutShoot(real: SeedActivities, waitFor: SeedActivities["waitFor"]): SeedActivities {
  return {
    ...real,
    deployComponent: async (run, component, step) =>
      components[component].target === "shoot" ? [] : real.deployComponent(run, component, step),
    destroyComponent: async (run, component, step) =>
      components[component].target === "shoot" ? [] : real.destroyComponent(run, component, step),
    initializeShootClients: async () => {},
    encryptResources: async () => {},
    publishKubeconfig: async () => {},
    removeStaleResourceManagerWebhooks: async () => {},
    removeUnusedResourceManager: async () => [],
    checkTunnel: async () => {},
    checkRoutes: async () => {},
    deployNodeAgentSecrets: async () => {},
    waitFor: async (run, targets) => {
      if (targets[0]?.until !== "nodesReady") await waitFor(run, targets);
    },
  };
}

/** Looks at once, and then again and again, as upstream's flows do. */
async function poll(kube: KubeClient, target: WaitTarget, interval: number): Promise<void> {
  for (;;) {
    const object = await kube.read(target);
    if (object !== undefined && extensionReady(object, target).reached) return;
    await sleep(interval);
  }
}
