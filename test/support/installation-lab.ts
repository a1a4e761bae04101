import { setTimeout } from "node:timers/promises";
import { Worker } from "@temporalio/worker";
import { ApplicationFailure } from "@temporalio/common";
import type {
  InstallationGardenActivities,
  InstallationSeedActivities,
} from "../../src/activities/installation/activities.ts";
import { park } from "../../src/activities/shoot/park.ts";
import type { GardenActivities } from "../../src/activities/index.ts";
import type { InstallationRun } from "../../src/api/registration/run.ts";
import { createInstallationClient, type InstallationClient } from "../../src/client/installations.ts";
import { seedQueue } from "../../src/workflows/contract.ts";
import { startGardenWorker } from "./garden-worker.ts";
import { startTemporal, type TemporalServer } from "./temporal.ts";

/** One installation as its activities find it; tests change it while flows run. */
export interface InstallationWorld {
  /** What is asked for; nothing when undefined. */
  run: InstallationRun | undefined;
  /** The hash of what was installed last. */
  installed: string | undefined;
  /** How long, in ms, the seed's worker goes on with `installed` after it has recorded its success. */
  lag: number;
  /** What is asked for besides, by the installation's name. */
  readonly others: Map<string, InstallationRun>;
  /** Every activity that ran, in order. */
  readonly calls: string[];
  /** What calls fail with, for as long as it is here. */
  readonly fail: Record<string, ApplicationFailure | undefined>;
}

/** A real Temporal server, our workflows, and activities that act on a world in memory, passed in at the workers' seam. */
export interface InstallationLab extends Pick<TemporalServer, "client"> {
  readonly installations: InstallationClient;
  readonly world: InstallationWorld;
  startSeed(name?: string): Promise<void>;
  stopSeed(name?: string): Promise<void>;
  stop(): Promise<void>;
}

/** What the activities fail with that a user has to mend, or that may pass. */
export const failure = (message: string, retryable: boolean): ApplicationFailure =>
  ApplicationFailure.create({
    message,
    nonRetryable: !retryable,
    details: [{ message, codes: retryable ? [] : ["ERR_CONFIGURATION_PROBLEM"], retryable }],
  });

/** Starts the lab, with one worker for the garden and one for seed-1. */
export async function startInstallationLab(): Promise<InstallationLab> {
  const temporal = await startTemporal();
  const world: InstallationWorld = {
    run: undefined,
    installed: undefined,
    lag: 0,
    others: new Map(),
    calls: [],
    fail: {},
  };
  const act = (name: string) => async () => {
    world.calls.push(name);
    const failed = world.fail[name];
    if (failed) throw failed;
  };
  const inGarden: InstallationGardenActivities = {
    async readInstallation({ name }) {
      const run = world.others.get(name) ?? (world.run?.name === name ? world.run : undefined);
      if (run === undefined) return null;
      return run.hash === world.installed ? { run, installed: true } : { run };
    },
    holdInstallation: act("hold"),
    async releaseInstallation() {
      await act("release")();
      world.run = undefined;
    },
  };
  const inSeed: InstallationSeedActivities & { answer(): Promise<void> } = {
    prepareExtensionNamespace: act("namespace"),
    deployResourceManager: act("resourceManager"),
    deployGardenAccess: act("gardenAccess"),
    applyChart: act("chart"),
    async confirmInstalled({ name, hash }) {
      if (world.others.delete(name)) return;
      await act("installed")();
      world.installed = hash;
      await setTimeout(world.lag);
    },
    confirmUnneeded: act("unneeded"),
    removeChart: act("removeChart"),
    announceReplaced: act("replaced"),
    withdrawStatus: act("withdraw"),
    confirmRemoved: act("removed"),
    answer: async () => {},
  };
  const garden = await startGardenWorker(temporal, {
    activities: { park } as GardenActivities,
    installations: inGarden,
  });
  const seeds = new Map<string, { readonly worker: Worker; readonly running: Promise<void> }>();
  const stopSeed = async (name = "seed-1") => {
    seeds.get(name)?.worker.shutdown();
    await seeds.get(name)?.running;
    seeds.delete(name);
  };
  const startSeed = async (name = "seed-1") => {
    const { connection } = temporal;
    const made = await Worker.create({ connection, taskQueue: seedQueue(name), activities: inSeed });
    seeds.set(name, { worker: made, running: made.run() });
  };
  await startSeed();

  return {
    client: temporal.client,
    installations: createInstallationClient(temporal.client),
    world,
    startSeed,
    stopSeed,
    async stop() {
      await Promise.all([garden.stop(), ...[...seeds.keys()].map((name) => stopSeed(name))]);
      await temporal.stop();
    },
  };
}
