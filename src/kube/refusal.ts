import type { TypeRef } from "../api/schema/kind.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { KubeError, type ErrorCause } from "./errors.ts";

/** An answer of an API server that is not a success. `body` is its Status, or whatever a proxy put there. */
export interface Refusal {
  readonly status: number;
  readonly body: unknown;
  /** Base URL of the API server. */
  readonly server: string;
  /** Seconds, from the Retry-After header. */
  readonly retryAfter?: number | undefined;
}

/** The error for an answer: `what` is the call in words ("apply Deployment ns/name"). */
export function refusalError(what: string, { status, body, server, retryAfter }: Refusal): KubeError {
  const { message, ...parsed } = parseStatus(status, body);
  const retryable = isRetryable(status, parsed.reason, message, parsed.causes);
  return new KubeError(`cannot ${what}: ${message}`, { status, server, retryable, retryAfter, ...parsed });
}

/** The error for a call that got no answer: connection refused or lost, a timeout, a bad certificate. */
export function connectionError(what: string, server: string, cause: unknown): KubeError {
  const reason = isTimeout(cause) ? "Timeout" : "Unreachable";
  const message = `cannot ${what}: ${server} ${reason === "Timeout" ? "did not answer in time" : "is unreachable"}`;
  return new KubeError(`${message}: ${innermost(cause)}`, { status: 0, reason, server, retryable: true }, { cause });
}

/** The error for a call that was not made for want of credentials: a file is missing, a plugin failed. */
export function credentialsError(what: string, server: string, cause: unknown): KubeError {
  const message = `cannot ${what}: no credentials for ${server}: ${innermost(cause)}`;
  return new KubeError(message, { status: 0, reason: "NoCredentials", server, retryable: true }, { cause });
}

/** The error for a kind the server does not know (yet): its CRD may still come. */
export function unknownKindError(what: string, { apiVersion, kind }: TypeRef, server: string): KubeError {
  const details = { status: 404, reason: "UnknownKind", server, retryable: true };
  return new KubeError(`cannot ${what}: the API server has no kind ${kind} in ${apiVersion}`, details);
}

/** The error for a call that was not made, because a name in it would have made another call of it. */
export function malformedError(what: string, problem: string): KubeError {
  return new KubeError(`cannot ${what}: ${problem}`, { status: 400, reason: "BadRequest", retryable: false });
}

/** An error on the way to a call, told as the error of that call. */
export function errorOnTheWay(what: string, error: unknown): unknown {
  return error instanceof KubeError
    ? new KubeError(`cannot ${what}: ${error.message}`, error, { cause: error })
    : error;
}

interface Status {
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly ErrorCause[];
  readonly continueWith?: string;
}

function parseStatus(status: number, body: unknown): Status {
  if (typeof body !== "object" || body === null) {
    const message = typeof body === "string" && body.trim() !== "" ? body.trim().slice(0, 500) : `HTTP ${status}`;
    return { reason: "", message, causes: [] };
  }
  const { reason, message, details, metadata } = body as {
    readonly reason?: unknown;
    readonly message?: unknown;
    readonly details?: { readonly causes?: unknown };
    readonly metadata?: { readonly continue?: unknown };
  };
  return {
    reason: typeof reason === "string" ? reason : "",
    message: typeof message === "string" ? message.slice(0, LONGEST_MESSAGE) : `HTTP ${status}`,
    causes: Array.isArray(details?.causes) ? (details.causes as ErrorCause[]).slice(0, MOST_CAUSES) : [],
    ...(status === 410 && omitUndefined({ continueWith: nonEmpty(metadata?.continue) })),
  };
}

const nonEmpty = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** In characters. Users' webhooks and aggregated APIs answer what they like, and it goes into errors and logs. */
const LONGEST_MESSAGE = 16_384;
const MOST_CAUSES = 100;

function isRetryable(status: number, reason: string, message: string, causes: readonly ErrorCause[]): boolean {
  // A field the schema does not know comes back from server-side apply as a 500: it looks transient and never is.
  if (status === 500) return !/failed to (create|convert).*typed|field not declared in schema/.test(message);
  if (status === 409) return isLostRace(reason, message, causes);
  // Rights follow what they are for, a moment later. The next: what admission plugins of an API server that has just
  // started say until they have read what they go by. The last: upstream's framework denies whatever an extension's webhook
  // fails over, be it a cache that is late.
  if (status === 403)
    return /cannot \w+ resource|not yet ready to handle request|webhook "\S+\.extensions\.gardener\.cloud" denied/.test(
      message,
    );
  // 401: credentials rotate. 404 and the rest of 4xx stay as they are until an object or a right changes.
  return status > 500 || [401, 408, 410, 429].includes(status);
}

function isLostRace(reason: string, message: string, causes: readonly ErrorCause[]): boolean {
  if (reason === "AlreadyExists") return message.includes("object is being deleted");
  const ownedByOther = causes.some((cause) => cause.reason === "FieldManagerConflict");
  return !ownedByOther && !/uid mismatch|UID in the precondition/.test(message);
}

function isTimeout(cause: unknown): boolean {
  return /timeout|ETIMEDOUT/i.test(codeOf(cause));
}

function codeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return "";
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  return [code, cause.name, codeOf(cause.cause)].join(" ");
}

function innermost(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0) return innermost(cause.errors[0]);
  if (cause instanceof Error) return cause.cause === undefined ? cause.message : innermost(cause.cause);
  return String(cause);
}
