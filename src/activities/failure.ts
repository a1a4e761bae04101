import { ApplicationFailure, CancelledFailure, CompleteAsyncError } from "./temporal.ts";
import { KubeError } from "../kube/index.ts";
import { withoutSecrets } from "../redaction.ts";
import { StepError } from "./step-error.ts";

/**
 * The one place that decides what is worth retrying. The failure's only detail is `{ message, codes, retryable }`, with
 * `unavailable` where an API server has not answered, or could not do its work, and `within` where the error says so.
 */
export function toFailure(error: unknown): Error {
  if (error instanceof CompleteAsyncError || error instanceof CancelledFailure || error instanceof ApplicationFailure) {
    return error;
  }
  const { message: said, codes, retryable, type } = judge(error);
  const within = error instanceof StepError ? error.within : undefined;
  const isUnavailable = error instanceof KubeError && (error.status === 0 || error.status >= 500);
  const message = withoutSecrets(said); // it goes into a history, and into the Shoot's status
  return ApplicationFailure.create({
    message,
    type,
    nonRetryable: !retryable,
    details: [
      {
        message,
        codes,
        retryable,
        ...(isUnavailable && { unavailable: true }),
        ...(within !== undefined && { within }),
      },
    ],
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

interface Judgement {
  readonly message: string;
  readonly codes: readonly string[];
  readonly retryable: boolean;
  readonly type: string;
}

function judge(error: unknown): Judgement {
  if (error instanceof StepError) {
    return { message: error.message, codes: error.codes, retryable: error.retryable, type: error.name };
  }
  if (error instanceof KubeError) {
    return {
      message: error.message,
      codes: [],
      retryable: error.retryable,
      type: `Kube${error.reason || error.status}`,
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { message, codes: [], retryable: true, type: error instanceof Error ? error.name : "Error" };
}
