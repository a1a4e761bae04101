import type { Guard, GuardedOperation, Permit } from "../extension/index.ts";

/** Does something between operations as one would be done: only if the guard allows it, and as long as it does. */
export async function permitted(
  guard: Guard,
  operation: GuardedOperation,
  work: (permit: Permit) => Promise<void>,
): Promise<void> {
  const permit = await guard.enter(operation);
  try {
    await work(permit);
  } finally {
    permit.release();
  }
}
