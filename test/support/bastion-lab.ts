import { Worker } from "@temporalio/worker";
import type {
  BastionGardenActivities,
  BastionNews,
  BastionSeedActivities,
  BastionSight,
  BastionTask,
} from "../../src/activities/bastion/activities.ts";
import { toFailure } from "../../src/activities/failure.ts";
import { StepError } from "../../src/activities/step-error.ts";
import type { GardenActivities } from "../../src/activities/index.ts";
import type { BastionRef, BastionRun } from "../../src/api/shoot/bastion-run.ts";
import { createBastionClient, type BastionClient } from "../../src/client/bastions.ts";
import { seedQueue } from "../../src/workflows/contract.ts";
import { startGardenWorker, type GardenWorker } from "./garden-worker.ts";
import { startTemporal, type TemporalServer } from "./temporal.ts";

/** One Bastion as its activities find it; tests change it while flows run. */
export interface BastionWorld {
  /** What is to be done for it; null when it is gone. */
  task: BastionTask | null;
  /** How it stands in its seed: throws until its controller says something. */
  sight: BastionSight | undefined;
  /** What is left of it in its seed. */
  left: boolean;
  /** What each call of these activities fails with. */
  readonly fail: Record<string, Error | undefined>;
  /** Every activity that ran, in order; of those that look, the first. */
  readonly calls: string[];
  /** What its users were told, in order. */
  readonly news: BastionNews[];
  /** What each news was about. */
  readonly about: (BastionRef | BastionRun)[];
  /** Since when it was looked at last, in ms since the epoch. */
  since: number | undefined;
}

/** A real Temporal server, our workflows, and activities that act on a world in memory, passed in at the workers' seam. */
export interface BastionLab extends Pick<TemporalServer, "client"> {
  readonly flows: BastionClient;
  world: BastionWorld;
  startGarden(): Promise<void>;
  stopGarden(): Promise<void>;
  startSeed(): Promise<void>;
  stopSeed(): Promise<void>;
  stop(): Promise<void>;
}

/** Before anything was done. */
export const newBastionWorld = (): BastionWorld => ({
  ...{ task: null, sight: undefined, left: false, fail: {}, calls: [], news: [], about: [], since: undefined },
});

/** Starts the lab, with one worker for the garden and one for seed-1. */
export async function startBastionLab(): Promise<BastionLab> {
  const temporal = await startTemporal();
  let garden: GardenWorker | undefined;
  let seed: { readonly worker: Worker; readonly running: Promise<void> } | undefined;
  const lab: BastionLab = {
    client: temporal.client,
    flows: createBastionClient(temporal.client),
    world: newBastionWorld(),
    async startGarden() {
      garden = await startGardenWorker(temporal, {
        activities: {} as GardenActivities,
        bastions: gardenActivities(() => lab.world),
      });
    },
    stopGarden: async () => garden?.stop(),
    async startSeed() {
      const activities = seedActivities(() => lab.world);
      const worker = await Worker.create({
        connection: temporal.connection,
        taskQueue: seedQueue("seed-1"),
        activities,
      });
      seed = { worker, running: worker.run() };
    },
    async stopSeed() {
      seed?.worker.shutdown();
      await seed?.running;
      seed = undefined;
    },
    async stop() {
      await Promise.all([lab.stopGarden(), lab.stopSeed()]);
      await temporal.stop();
    },
  };
  await Promise.all([lab.startGarden(), lab.startSeed()]);
  return lab;
}

const act = (of: () => BastionWorld, name: string) => async () => {
  of().calls.push(name);
  const failed = of().fail[name];
  if (failed !== undefined) throw toFailure(failed);
};

function gardenActivities(of: () => BastionWorld): BastionGardenActivities {
  return {
    readBastion: async () => of().task,
    holdBastion: act(of, "hold"),
    async tellBastion(about: BastionRef | BastionRun, news: BastionNews) {
      of().about.push(about);
      of().news.push(news);
    },
    async releaseBastion() {
      await act(of, "release")();
      of().task = null;
    },
  };
}

function seedActivities(of: () => BastionWorld): BastionSeedActivities {
  return {
    async applyBastion() {
      await act(of, "apply")();
      of().left = true;
      return "2026-11-28T10:00:00Z";
    },
    async lookAtBastion(_: BastionRun, __: string, told?: string, since?: number) {
      const { sight, calls } = of();
      of().since = since;
      if (calls.at(-1) !== "look") calls.push("look");
      if (sight === undefined || (!sight.ready && sight.message === told)) throw toFailure(new StepError("not yet"));
      return sight;
    },
    removeBastion: act(of, "remove"),
    async confirmBastionRemoved() {
      if (of().left) throw toFailure(new StepError("it is not gone"));
    },
  };
}
