import { ActivityCancellationType, proxyActivities, setHandler } from "@temporalio/workflow";
import type { InstallationGardenActivities } from "../../activities/installation/activities.ts";
import type { InstallationRef, InstallationRun } from "../../api/registration/run.ts";
import { carryThrough } from "../carry-through.ts";
import { changedSignal, gardenQueue } from "../contract.ts";
import { asksForTheSame } from "./asked.ts";
import { handOver } from "./hand-over.ts";
import type { Outcome } from "../perform.ts";
import { install } from "./install.ts";
import { performInstallation } from "./perform.ts";
import { uninstall } from "./uninstall.ts";

/**
 * Brings one installation to what it asks for, and ends; a change that comes meanwhile is looked at, and where it asks for
 * something else, the flow is stopped between steps and the right one begins.
 */
export async function installation(ref: InstallationRef): Promise<void> {
  const inbox = { changed: false };
  setHandler(changedSignal, () => void (inbox.changed = true), {
    description: "something about the installation changed",
  });
  /** A run was stopped between steps: the seed may have some of what it was to install, whatever was installed before. */
  let isHalfDone = false;
  do {
    inbox.changed = false; // before reading: a signal during the read must not get lost
    const view = await garden.readInstallation(ref);
    if (view === null || (view.installed === true && !isHalfDone)) continue;
    const { run } = view;
    const outcome = await carryThrough(
      inbox,
      () => perform(run),
      async () => asksForTheSame(await garden.readInstallation(run), run),
    );
    isHalfDone = run.operation !== "Delete" && outcome !== "succeeded";
  } while (inbox.changed);
}

/** A removal is not given up; no operation of users waits for it, so it has all the time that it needs. */
const perform = (run: InstallationRun): Promise<Outcome> =>
  run.operation === "Delete"
    ? performInstallation(run.replaced === true ? handOver : uninstall, {
        ...run,
        retryDuration: Number.MAX_SAFE_INTEGER,
      })
    : performInstallation(install, run);

const garden = proxyActivities<Pick<InstallationGardenActivities, "readInstallation">>({
  taskQueue: gardenQueue,
  summary: "read",
  startToCloseTimeout: "30 seconds",
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { maximumInterval: "30s" },
});
