import { activityInfo, type ActivityInfo } from "../temporal.ts";
import { Shoot } from "../../api/index.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { typeMeta, writeEvent, type Reporter } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { withoutSecrets } from "../../redaction.ts";
import type { Chapter } from "./story.ts";

/** Tells users what became of a Shoot. */
export type Tell = (run: Teller, chapters: readonly Chapter[]) => Promise<void>;

type Teller = Pick<ShootRun, "namespace" | "name" | "uid" | "operation">;

/** Who writes the Events, and for which activity; the calling one by default. */
export interface TellDeps {
  readonly reporter: Reporter;
  readonly log: Logger;
  readonly asking?: () => Pick<ActivityInfo, "workflowExecution" | "scheduledTimestampMs">;
}

/**
 * Writes each chapter as an Event of the Shoot, once, however often the activity is tried again. Its name begins with the
 * time, because kubectl lists Events in the order of their names. Nothing fails for the sake of an Event.
 */
export function createTell({ reporter, log, asking = activityInfo }: TellDeps): Tell {
  return async ({ namespace, name, uid, operation }, chapters) => {
    if (chapters.length === 0) return;
    const { workflowExecution, scheduledTimestampMs } = asking();
    const activity = `${scheduledTimestampMs.toString(16)}-${workflowExecution?.runId.slice(0, 8)}`;
    const regarding = { ...typeMeta(Shoot), metadata: { namespace, name, uid } };
    for (const [index, { note, ...chapter }] of chapters.entries()) {
      const occurrence = { ...chapter, regarding, action: operation, note: withoutSecrets(note) };
      await writeEvent(reporter, `${name}.${activity}-${index}`, occurrence).catch((error: unknown) =>
        log.warn({ shoot: `${namespace}/${name}`, reason: chapter.reason, err: error }, "event not written"),
      );
    }
  };
}
