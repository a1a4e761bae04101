/** What the process's exit code tells a script; the list is part of the CLI's contract and of its help. */
export const exitCodes = {
  /** What was asked for is done. */
  done: 0,
  /** The operation failed or waits for an operator, what was asked for cannot be done, or something failed that no other code names. */
  failed: 1,
  /** The command line is wrong; nothing was tried. */
  usage: 2,
  /** The named object does not exist. */
  notFound: 3,
  /** The garden cluster or Temporal did not answer. */
  unreachable: 4,
  /** --timeout passed; the operation goes on without us. */
  timeout: 5,
  /** Ctrl-C; the operation goes on without us. */
  interrupted: 130,
} as const;

/** A name of an exit code. */
export type Exit = keyof typeof exitCodes;

/** The table of exit codes as the help prints it. */
export const exitCodeHelp = `
Exit codes:
  0    done
  1    the operation failed or waits for an operator, or what was asked for cannot be done
  2    wrong command line, nothing was tried
  3    the named object does not exist
  4    the garden cluster or Temporal does not answer
  5    the timeout passed; the operation goes on
  130  interrupted; the operation goes on
`;

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
  const sentence = error instanceof Error ? error.message : String(error);
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
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : undefined;
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
