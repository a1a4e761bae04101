import { explainSystemError } from "../system-error.ts";

/** What the process's exit code tells a script; the list is part of each program's contract and of its help. */
export const exitCodes = {
  /** What was asked for is done. */
  done: 0,
  /** The operation failed or waits for an operator, what was asked for cannot be done, or something failed that no other code names. */
  failed: 1,
  /** The command line is wrong; nothing was tried. */
  usage: 2,
  /** The named object does not exist. */
  notFound: 3,
  /** What is asked, such as a cluster or Temporal, did not answer. */
  unreachable: 4,
  /** --timeout passed. */
  timeout: 5,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

/** A name of an exit code. */
export type Exit = keyof typeof exitCodes;

/** What the exits of a program mean that are not the same for all. */
export interface ExitMeanings {
  readonly unreachable: string;
  readonly timeout: string;
  readonly interrupted: string;
}

/** The table of a program's exit codes as its help prints it. */
export function exitCodeHelp(meanings: ExitMeanings): string {
  const lines = Object.entries({ ...sharedMeanings, ...meanings }).map(
    ([exit, meaning]) => `  ${String(exitCodes[exit as Exit]).padEnd(3)}  ${meaning}\n`,
  );
  return `\nExit codes:\n${lines.join("")}`;
}

const sharedMeanings = {
  done: "done",
  failed: "the operation failed or waits for an operator, or what was asked for cannot be done",
  usage: "wrong command line, nothing was tried",
  notFound: "the named object does not exist",
} as const satisfies Partial<Record<Exit, string>>;

/** An error for the user: one sentence that names the field and the remedy, and the exit code that goes with it. */
export class CliError extends Error {
  readonly exit: Exit;

  constructor(exit: Exit, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CliError";
    this.exit = exit;
  }
}

/** The sentence and exit code for anything that was thrown: ours as they are, the network's and Temporal's translated. */
export function explainError(error: unknown): { readonly exit: Exit; readonly sentence: string } {
  if (error instanceof CliError) return { exit: error.exit, sentence: error.message };
  const sentence = explainSystemError(error) ?? (error instanceof Error ? error.message : String(error));
  if (isMissing(error)) return { exit: "notFound", sentence };
  return { exit: unreachable(error) ? "unreachable" : "failed", sentence };
}

/** Whether the error, or what caused it, says that Temporal knows no such workflow. */
function isMissing(error: unknown): boolean {
  return error instanceof Error && (error.name === "WorkflowNotFoundError" || isMissing(error.cause));
}

/** The sentence, with the reason behind it where that says more. */
export function explainFully(error: unknown): string {
  const { sentence } = explainError(error);
  const reason = error instanceof Error ? error.cause : undefined;
  const cause = explainSystemError(reason) ?? (reason instanceof Error ? reason.message : undefined);
  return cause === undefined || sentence.includes(cause) ? sentence : `${sentence}: ${cause}`;
}

/** Whether the error, or what caused it, is a question that got no answer. */
function unreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, status, reason } = error as { code?: unknown; status?: unknown; reason?: unknown };
  const unanswered = status === 0 && reason !== "NoCredentials"; // a KubeError
  return unanswered || noAnswer.includes(code) || unreachable(error.cause);
}

const noAnswer: readonly unknown[] = [
  ...["ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "ETIMEDOUT", "EHOSTUNREACH"],
  ...[4, 14], // gRPC: deadline exceeded, unavailable
];
