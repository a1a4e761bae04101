/** What a field or a cause of a refused request says: `details.causes[]` of the API server's Status. */
export interface ErrorCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** Everything that can be said about a failed call; `status` is 0 when no answer came. */
export interface KubeErrorDetails {
  readonly status: number;
  readonly reason: string;
  /** Base URL of the API server that was called; undefined where the call was not made. */
  readonly server?: string | undefined;
  readonly retryable: boolean;
  /** Seconds, from the Retry-After header: a minute at most. */
  readonly retryAfter?: number | undefined;
  readonly causes?: readonly ErrorCause[];
  /** With status 410 of a list: the token that continues the list at a later version of the cluster. */
  readonly continueWith?: string | undefined;
}

/** Why a call to an API server failed; `retryable` says whether the same call may succeed later. */
export class KubeError extends Error {
  override readonly name = "KubeError";
  readonly status: number;
  readonly reason: string;
  readonly server: string | undefined;
  readonly retryable: boolean;
  readonly retryAfter: number | undefined;
  readonly causes: readonly ErrorCause[];
  readonly continueWith: string | undefined;

  constructor(message: string, details: KubeErrorDetails, options?: ErrorOptions) {
    super(message, options);
    this.status = details.status;
    this.reason = details.reason;
    this.server = details.server;
    this.retryable = details.retryable;
    this.causes = details.causes ?? [];
    this.retryAfter = details.retryAfter;
    this.continueWith = details.continueWith;
  }
}

/** The object has changed meanwhile, or another field manager owns a field: read again, then decide. */
export function isConflict(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 409 && error.reason !== "AlreadyExists";
}

/** The object, or its kind, does not exist. */
export function isNotFound(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 404;
}

/** The caller has no right to do this, or an admission policy refuses it. */
export function isForbidden(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 403;
}

/**
 * Takes what may not be read for nothing, in a `catch`: rights that name objects come and go with these, so a seed that may
 * not read an object has no business with it, or it does not exist.
 */
export function unlessForbidden(error: unknown): undefined {
  if (!isForbidden(error)) throw error;
}

/** An object of that name exists already. */
export function isAlreadyExists(error: unknown): error is KubeError {
  return error instanceof KubeError && error.reason === "AlreadyExists";
}

/** Nothing can be created in the namespace any more, because it is being deleted. */
export function isNamespaceTerminating(error: unknown): error is KubeError {
  return error instanceof KubeError && error.causes.some((cause) => cause.reason === "NamespaceTerminating");
}

/** The resource version to go on from is too old for the server: list again. */
export function isExpired(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 410;
}

/** What a call has returned; undefined when the object, or its kind, does not exist. */
export async function unlessGone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
