import type { BastionGardenActivities } from "../../src/activities/bastion/activities.ts";
import type { InstallationGardenActivities } from "../../src/activities/installation/activities.ts";
import type { GardenActivities } from "../../src/activities/index.ts";
import { createBuilds } from "../../src/client/builds.ts";
import { createRuns } from "../../src/client/runs.ts";
import { createLogger } from "../../src/log.ts";
import { buildWorkflows } from "../../src/worker/build.ts";
import { createGardenWorker } from "../../src/worker/garden.ts";
import { createReplayer } from "../../src/worker/replay.ts";
import { createRollout } from "../../src/worker/rollout.ts";
import type { TemporalServer } from "./temporal.ts";

/** A build of the garden's worker; today's workflows unless told otherwise. Times are ms. */
export interface DeployedBuild {
  readonly id?: string;
  /** The file of its workflows. */
  readonly path?: string;
  readonly drainPeriod?: number;
  readonly silence?: number;
}

/** A worker of one build. */
export interface GardenWorker {
  readonly build: string;
  stop(): Promise<void>;
}

/** What a garden's worker does to the world. */
interface Doing {
  readonly activities: GardenActivities;
  readonly installations?: InstallationGardenActivities;
  readonly bastions?: BastionGardenActivities;
}

/** Starts a real worker of the garden, and returns when its build is current, or stays beside the current one. */
export async function startGardenWorker(
  { client, connection }: Pick<TemporalServer, "client" | "connection">,
  doing: Doing,
  { drainPeriod = 3_600_000, silence, ...workflows }: DeployedBuild = {},
): Promise<GardenWorker> {
  const build = await buildWorkflows(workflows);
  const worker = await createGardenWorker({ connection, namespace: "default", ...doing, build });
  const working = worker.run();
  const rollout = createRollout({
    build: build.id,
    builds: createBuilds(client),
    runs: createRuns(client),
    replayer: await createReplayer(build.bundle),
    drainPeriod,
    ...(silence === undefined ? {} : { silence }),
    period: 250,
    log: createLogger({ name: "lab", level: "silent" }),
  });
  const rollingOut = rollout.run();
  await rollout.settled;
  return {
    build: build.id,
    async stop() {
      rollout.stop();
      worker.shutdown();
      await Promise.all([working, rollingOut]);
    },
  };
}
