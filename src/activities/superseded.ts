import { StepError } from "./step-error.ts";

/** Thrown by an activity that acts for an epoch that is over. It is never retried: a later leader has the Shoot. */
export class Superseded extends StepError {
  override readonly name = "Superseded";

  override get retryable(): boolean {
    return false;
  }
}
