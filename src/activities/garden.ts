import { hostname } from "node:os";
import { cancellationSignal } from "./temporal.ts";
import { GARDEN_WORKER_CONTROLLER } from "../api/names.ts";
import type { LeaderLookup } from "../dns/index.ts";
import type { ShootRef, ShootRun } from "../api/shoot/run.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { guarded } from "./failure.ts";
import type { GardenActivities } from "./index.ts";
import { createLeadership } from "./leadership/leadership.ts";
import { awaitLeases } from "./leadership/lease-wait.ts";
import { StepError } from "./step-error.ts";
import type { GardenShoots } from "./shoot/garden-shoots.ts";
import { park } from "./shoot/park.ts";
import { createMigrationCheck } from "./shoot/migration-check.ts";
import { createShootStatus } from "./shoot/status.ts";
import { createTell } from "./shoot/tell.ts";
import { createRequiredExtensions, type InstalledExtensions } from "./shoot/required-extensions.ts";
import { readShootView, type Periods } from "./shoot/view.ts";
import type { StateKey } from "./state/keys.ts";
import { createStateSharing } from "./state/sharing.ts";

/** `gardenClient` writes with the rights of the garden's worker; no client of a seed is passed. */
export interface GardenDeps {
  readonly gardenClient: KubeClient;
  readonly periods: Periods;
  readonly operations: Operations;
  /** What is registered, and installed on Seeds. */
  readonly extensions: InstalledExtensions;
  /** The garden's Shoots, by which the names of those that begin are judged. */
  readonly shoots: GardenShoots;
  /** Asks the servers of the record's zone which seed leads. */
  readonly lookup: LeaderLookup;
  /** The garden's keys, which open what is kept of every Shoot; read anew each time. */
  readonly keys: () => Promise<readonly StateKey[]>;
  readonly log: Logger;
}

/** The workflows of operations, by their ids. */
interface Operations {
  /** What the Shoot's running operation was started with; undefined when none is running. */
  running(ref: ShootRef): Promise<ShootRun | undefined>;
  /** Resolves when the workflow has ended, however it ended. */
  ended(workflowId: string): Promise<void>;
  /** Terminates a workflow; one that has ended already is fine. */
  end(workflowId: string, reason: string): Promise<void>;
}

/** The activities of queue `garden`. */
export function createGardenActivities(deps: GardenDeps): GardenActivities {
  const { gardenClient, periods, operations, extensions, shoots, lookup, keys, log } = deps;
  const reporter = { client: gardenClient, controller: GARDEN_WORKER_CONTROLLER, instance: hostname() };
  const tell = createTell({ reporter, log });
  const status = createShootStatus(gardenClient, tell);
  const leadership = createLeadership({ gardenClient, lookup, tell });
  const checkMigration = createMigrationCheck({ gardenClient, shoots });

  /** What keeps an operation from beginning has no step that could say it: the Shoot says it. */
  const reported = async (run: ShootRun, check: Promise<void>): Promise<void> => {
    try {
      await check;
    } catch (error) {
      if (error instanceof StepError) await status.report(run, { message: error.message, codes: error.codes });
      throw error;
    }
  };

  return guarded<GardenActivities>({
    readShoot: (ref) => readShootView(gardenClient, ref, periods, { registered: extensions.registered, shoots }),
    async beginOperation(run, request) {
      // The epoch of a Shoot that returns begins with this write
      if (run.migration?.returning) await reported(run, leadership.requireLatest(run));
      await status.begin(run, request);
    },
    writeStatus: (run, written) => status.write(run, written),
    reportProblem: (ref, problem) => status.report(ref, problem),
    acknowledgeRequest: (ref, request, answered) => status.acknowledge(ref, request, answered),
    async releaseShoot(ref) {
      await leadership.removeLeadership(ref);
      await status.release(ref);
    },
    confirmLeadership: (run) => leadership.confirmLeadership(run),
    ensureLeadership: (run) => leadership.ensureLeadership(run),
    awaitLeases: (run) => awaitLeases(run, cancellationSignal()),
    awaitRequiredExtensions: createRequiredExtensions({ gardenClient, extensions }),
    async checkMigration(run) {
      await leadership.requireLatest(run);
      await checkMigration(run);
    },
    shareState: createStateSharing({ gardenClient, keys }),
    flip: (run) => leadership.flip(run),
    leaveSeed: (run) => status.leave(run),
    findOperation: async (ref) => (await operations.running(ref)) ?? null,
    endFlow: (workflowId, reason) => operations.end(workflowId, reason),
    park,
    followFlow: (workflowId) => operations.ended(workflowId), // the worker sends every activity's heartbeats
  });
}
