import { setTimeout as sleep } from "node:timers/promises";
import type { WorkflowHandle } from "@temporalio/client";
import { createGardenActivities } from "../src/activities/garden.ts";
import { createLeaderLookup, createZoneServers } from "../src/dns/index.ts";
import type { SeedActivities, WaitTarget } from "../src/activities/index.ts";
import { extensionReady } from "../src/activities/waits/readiness.ts";
import { createSeedActivities } from "../src/activities/seed.ts";
import { createShootClients } from "../src/activities/shoot/clients.ts";
import { createSigner } from "../src/activities/waits/signature.ts";
import { createWaits } from "../src/activities/waits/waits.ts";
import { createBuilds } from "../src/client/builds.ts";
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
import { eventually } from "../test/support/eventually.ts";
import { createShoot } from "../test/support/garden-objects.ts";
import { newKeyring, newStateKey } from "../test/support/state-keys.ts";
import type { TemporalServer } from "../test/support/temporal.ts";
import { criticalPath } from "./critical-path.ts";
import { startStandIns } from "./stand-ins.ts";

/** All in ms. */
export interface FlowFigures {
  readonly extensionTakes: number;
  readonly criticalPath: number;
  /** With extensions that take nothing. */
  readonly own: number;
  readonly watching: number;
  readonly polling: number;
}

const EXTENSION_TAKES = 2_000;

/** Upstream's `DefaultInterval` of waiting for extensions. */
const POLL_INTERVAL = 5_000;

/** Runs the real reconcile flow, for a Shoot of its own each time; the first one warms everything up. */
export async function measureFlow(
  kube: KubeClient,
  temporal: TemporalServer,
  say: (text: string) => void,
): Promise<FlowFigures> {
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
      ? void (await Promise.all(targets.map((target) => poll(kube, target))))
      : await real.waitFor(run, targets);
  const build = await buildWorkflows();
  const workers = await Promise.all([
    createGardenWorker({
      connection: temporal.connection,
      namespace: "default",
      build,
      activities: createGardenActivities({
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
  await eventually(() => makeCurrent(temporal, build.id));

  const measure = async (name: string) => {
    say(`flow: ${name}`);
    const run = { ...(await createShoot(kube, name)), hasBackup: false }; // its Seed names no place for backups
    const begun = performance.now();
    const flow = await temporal.client.workflow.start(workflowTypes.reconcile, {
      workflowId: flowWorkflowId(run, "reconcile"),
      taskQueue: gardenQueue,
      args: [run],
    });
    await inTime(flow);
    return Math.round(performance.now() - begun);
  };
  try {
    await measure("warm-up");
    const own = await measure("own");
    standIns.take(EXTENSION_TAKES);
    const watching = await measure("watching");
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
    const path = criticalPath(reconcile, (step) => (extensions.has(step) ? EXTENSION_TAKES : 0));
    return { extensionTakes: EXTENSION_TAKES, criticalPath: path, own, watching, polling };
  } finally {
    workers.forEach((worker) => worker.shutdown());
    await Promise.all([...running, standIns.stop(), waits.stop()]);
  }
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
    initializeShootClients: async () => {},
    encryptResources: async () => {},
    publishKubeconfig: async () => {},
    deployNodeAgentSecrets: async () => {},
    waitFor: async (run, targets) => {
      if (targets[0]?.until !== "nodesReady") await waitFor(run, targets);
    },
  };
}

/** Looks at once, and then every five seconds, as upstream's flows do. */
async function poll(kube: KubeClient, target: WaitTarget): Promise<void> {
  for (;;) {
    const object = await kube.read(target);
    if (object !== undefined && extensionReady(object, target).reached) return;
    await sleep(POLL_INTERVAL);
  }
}

async function makeCurrent({ client }: TemporalServer, build: string): Promise<boolean> {
  const builds = createBuilds(client);
  const seen = await builds.read();
  return seen !== undefined && (await builds.makeCurrent(build, seen, "bench"));
}
