import { CancellationScope, condition, isCancellation } from "@temporalio/workflow";

/** Whether a workflow was told, since it last looked, that something has changed. */
export interface Inbox {
  changed: boolean;
}

/**
 * Does the work to its end. When something changes meanwhile, it is looked whether the same is still asked for; where it is
 * not, the work stops between steps, the inbox stays full, and the answer is undefined.
 */
export async function carryThrough<T>(
  inbox: Inbox,
  work: () => Promise<T>,
  isStillAsked: () => Promise<boolean>,
): Promise<T | undefined> {
  const scope = new CancellationScope();
  const state = { ended: false };
  const working = scope.run(work).finally(() => void (state.ended = true));
  working.catch(() => {}); // awaited below, also where it fails while a change is being looked at
  while (!state.ended) {
    await condition(() => inbox.changed || state.ended);
    if (state.ended) break;
    inbox.changed = false;
    if (!(await isStillAsked())) {
      inbox.changed = true; // what is asked for now is read once this has stopped
      scope.cancel();
      break;
    }
  }
  return await working.catch((error: unknown) => {
    if (!isCancellation(error) || !scope.consideredCancelled) throw error;
    return undefined;
  });
}
