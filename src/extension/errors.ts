import type { ErrorCode } from "../api/index.ts";

/** What an actuator throws to tell users, by code, what kind of failure it is (`status.lastError.codes`). */
export class ExtensionError extends Error {
  override readonly name = "ExtensionError";
  readonly codes: readonly ErrorCode[];

  constructor(message: string, codes: readonly ErrorCode[] = [], options?: { cause?: unknown }) {
    super(message, options);
    this.codes = codes;
  }
}

/** What a guard throws when an operation may not begin or go on; nothing is written to the object then. */
export class OperationRefused extends Error {
  override readonly name = "OperationRefused";
}

/** Every code in an error, its causes and the errors it aggregates, each once. */
export function errorCodes(error: unknown): ErrorCode[] {
  if (!(error instanceof Error)) return [];
  const own = error instanceof ExtensionError ? error.codes : [];
  const inner = error instanceof AggregateError ? error.errors.flatMap(errorCodes) : [];
  return [...new Set([...own, ...inner, ...errorCodes(error.cause)])];
}

/** One line for people: the message of an error, or of each error that it aggregates. */
export function errorMessage(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(errorMessage).join("; ");
  return error instanceof Error ? error.message : String(error);
}
