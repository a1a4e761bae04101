import { StepError } from "./failure.ts";

/** What an activity throws when it acts for a leader that leads no more: nobody can mend that, and no other try helps. */
export class Superseded extends StepError {
  override readonly name = "Superseded";

  override get retryable(): boolean {
    return false;
  }
}
