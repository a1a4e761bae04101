import { ApplicationFailure, CancelledFailure, CompleteAsyncError } from "./temporal.ts";
import { KubeError } from "../kube/index.ts";
import { judgeError } from "./judge-error.ts";

/**
 * An error as the failure that Temporal understands. Its only detail is `{ message, codes, retryable }`, with `unavailable` where an
 * API server has not answered, or could not do its work, and `within` where the error says so.
 */
export function toFailure(error: unknown): Error {
  if (error instanceof CompleteAsyncError || error instanceof CancelledFailure || error instanceof ApplicationFailure) {
    return error;
  }
  const judged = judgeError(error);
  return ApplicationFailure.create({
    message: judged.message,
    type: typeOf(error),
    nonRetryable: !judged.retryable,
    details: [judged],
    ...(error instanceof KubeError && error.retryAfter !== undefined
      ? { nextRetryDelay: error.retryAfter * 1000 }
      : {}),
  });
}

/** The same activities, with every error turned into the failure that Temporal understands. */
export function guarded<Activities extends object>(activities: Activities): Activities {
  const wrapped = Object.entries(activities).map(
    ([name, activity]: [string, (...args: unknown[]) => Promise<unknown>]) => [
      name,
      (...args: unknown[]) =>
        activity(...args).catch((error: unknown) => {
          throw toFailure(error);
        }),
    ],
  );
  return Object.fromEntries(wrapped) as Activities;
}

function typeOf(error: unknown): string {
  if (error instanceof KubeError) return `Kube${error.reason || error.status}`;
  return error instanceof Error ? error.name : "Error";
}
