/** That the members of an etcd cannot be changed, or not be read: one sentence that says which, why, and what helps. */
export class MembershipError extends Error {
  override readonly name = "MembershipError";
  /** Whether the same call may succeed later without a change by people. */
  readonly retryable: boolean;

  constructor(message: string, { retryable, cause }: { readonly retryable: boolean; readonly cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause });
    this.retryable = retryable;
  }
}
