import { ApplicationFailure, CancelledFailure, TerminatedFailure, WorkflowFailedError } from "@temporalio/client";
import type { ErrorCode } from "../../api/index.ts";
import { ExtensionError } from "../errors.ts";

/**
 * Why a run failed, as an ExtensionError: in the words of the innermost cause, with every code among the causes. A failure
 * carries a code as its type, or several as `codes` of its first detail. Another error than a failed run is returned as it is.
 */
export function extensionErrorOf(error: unknown): unknown {
  if (!(error instanceof WorkflowFailedError)) return error;
  const causes = causesOf(error.cause);
  const codes = [...new Set(causes.flatMap(codesOf))];
  return new ExtensionError(wordsOf(causes.at(-1) ?? error), codes, { cause: error });
}

function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

function codesOf(error: Error): ErrorCode[] {
  if (!(error instanceof ApplicationFailure)) return [];
  const { codes = [] } = (error.details?.[0] ?? {}) as { readonly codes?: readonly unknown[] };
  return [error.type, ...codes].filter(isCode);
}

/** Gardener's codes are words of this form; which there are is for the reader to know. */
const isCode = (word: unknown): word is ErrorCode => typeof word === "string" && /^ERR_[A-Z_]+$/.test(word);

function wordsOf(error: Error): string {
  if (error instanceof CancelledFailure) return "its workflow was cancelled";
  if (error instanceof TerminatedFailure) return "its workflow was terminated";
  return error.message;
}
