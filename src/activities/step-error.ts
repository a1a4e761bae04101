import { isNonRetryable, type ErrorCode } from "../api/error-codes.ts";

/** Thrown by an activity that knows what is wrong; Gardener's codes tell users' mistakes from passing problems. */
export class StepError extends Error {
  override readonly name: string = "StepError";
  readonly codes: readonly ErrorCode[];
  /** The longest pause, in ms, before another try; without it, pauses grow as for any failure. */
  readonly within?: number;

  constructor(
    message: string,
    codes: readonly ErrorCode[] = [],
    options?: ErrorOptions & { readonly within?: number },
  ) {
    super(message, options);
    this.codes = codes;
    if (options?.within !== undefined) this.within = options.within;
  }

  /** Whether another try may succeed without a change by a user or an operator. */
  get retryable(): boolean {
    return !this.codes.some(isNonRetryable);
  }
}

/** What the user has to mend: wrong or missing input. Not retried by itself. */
export const configurationProblem = (message: string): StepError =>
  new StepError(message, ["ERR_CONFIGURATION_PROBLEM"]);
