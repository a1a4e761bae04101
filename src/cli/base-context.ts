import type { Terminal } from "./display/terminal.ts";

/** What the verbs of any program work with; each program adds what its own ask for. */
export interface BaseContext {
  readonly terminal: Terminal;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  now(): number;
}
