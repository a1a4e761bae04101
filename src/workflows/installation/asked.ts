import type { InstallationView } from "../../activities/installation/activities.ts";
import type { InstallationRun } from "../../api/registration/run.ts";

/**
 * Whether what an installation asks for now is what this run does: a run that has just recorded its success is let finish.
 * A Seed that goes while its removal is under way leaves nothing to wait for.
 */
export const asksForTheSame = (
  view: InstallationView | null,
  { operation, replaced, hash, seedExists }: InstallationRun,
): boolean =>
  view !== null &&
  (view.run.operation === "Delete") === (operation === "Delete") &&
  view.run.replaced === replaced &&
  (operation === "Delete" || view.run.hash === hash) &&
  view.run.seedExists === seedExists;
