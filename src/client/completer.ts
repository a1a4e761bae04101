import { ActivityCompletionError, ActivityNotFoundError, type Client } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";

/** The run of the workflow whose activity waits. */
export interface WaitingActivity {
  readonly workflowId: string;
  readonly runId: string;
  readonly activityId: string;
}

/** Why an activity that waits can't have what it waits for. */
export interface WaitingFailure {
  readonly message: string;
  readonly name: string;
  readonly codes: readonly string[];
  readonly retryable: boolean;
}

/** Completes activities from outside. False when no activity waits: not yet, between two attempts, or no more. */
export function createCompleter(client: Client) {
  return {
    complete: (waiter: WaitingActivity): Promise<boolean> => found(client.activity.complete(waiter, undefined)),
    fail: (waiter: WaitingActivity, error: WaitingFailure): Promise<boolean> =>
      found(client.activity.fail(waiter, failure(error))),
  };
}

/** The step decides about the next try itself, so the activity is not retried: it would wait for the same again. */
const failure = ({ message, name, codes, retryable }: WaitingFailure): ApplicationFailure =>
  ApplicationFailure.nonRetryable(message, name, { message, codes, retryable });

async function found(completion: Promise<void>): Promise<boolean> {
  try {
    await completion;
    return true;
  } catch (error) {
    if (error instanceof ActivityNotFoundError) return false;
    if (error instanceof ActivityCompletionError)
      throw new Error("cannot complete a waiting activity", { cause: error });
    throw error;
  }
}
