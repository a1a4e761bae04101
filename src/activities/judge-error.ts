import { KubeError } from "../kube/index.ts";
import { withoutSecrets } from "../redaction.ts";
import { StepError } from "./step-error.ts";

/** What an error of a step means, whichever engine runs the step. */
export interface JudgedError {
  /** Without secrets: it goes into histories, journals and the Shoot's status. */
  readonly message: string;
  /** Gardener's. */
  readonly codes: readonly string[];
  readonly retryable: boolean;
  /** The longest pause, in ms, before the next try. */
  readonly within?: number;
  /** An API server has not answered, or could not do its work. */
  readonly unavailable?: true;
}

/** Decides what is worth a retry: all of which it is not known that people have to act. */
export function judgeError(error: unknown): JudgedError {
  const message = withoutSecrets(error instanceof Error ? error.message : String(error));
  if (error instanceof StepError) {
    const { codes, retryable, within } = error;
    return { message, codes, retryable, ...(within !== undefined && { within }) };
  }
  if (!(error instanceof KubeError)) return { message, codes: [], retryable: true };
  const isUnavailable = error.status === 0 || error.status >= 500;
  return { message, codes: [], retryable: error.retryable, ...(isUnavailable && { unavailable: true }) };
}
