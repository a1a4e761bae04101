import { judgeError } from "../../activities/judge-error.ts";
import { StepError } from "../../activities/step-error.ts";
import { StoreAwayError } from "../../etcd-data/snapshots.ts";
import { MembershipError } from "../../etcd/membership-error.ts";
import { KubeError } from "../../kube/index.ts";
import type { StepTrouble } from "../../in-process/run.ts";

/** What another try of gardenadm's own does not mend: the operator does, and runs the same command again. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
}

/** That the API server has not answered for too long for a step to go on; it does so by itself, from where it was, when that answers. */
export class AwayError extends StepError {
  override readonly name = "AwayError";
}

/** In ms: an object store that is away is asked again after this at the most. */
const STORE_PAUSE = 5_000;

/**
 * What a failure of a step means: an API server's, a controller's, an object store's that is away and an etcd's that says so may pass;
 * all else is for the operator.
 */
export function judge(error: unknown): StepTrouble {
  const judged = judgeError(error);
  if (error instanceof AwayError) return { ...judged, silent: "the API server" };
  if (error instanceof StoreAwayError) return { ...judged, retryable: true, within: STORE_PAUSE };
  if (error instanceof KubeError || error instanceof StepError) return judged;
  return { ...judged, retryable: error instanceof MembershipError && error.retryable };
}
