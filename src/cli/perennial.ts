import type { Context } from "./context.ts";
import type { Group } from "./group.ts";
import { runProgram, type Program } from "./program.ts";

/** The program `perennial`, but for its groups. */
export const perennial: Omit<Program<Context>, "groups"> = {
  name: "perennial",
  description: "Keeps Kubernetes clusters alive: Gardener's APIs and extensions, driven by durable workflows.",
  exits: {
    unreachable: "the garden cluster or Temporal does not answer",
    timeout: "the timeout passed; the operation goes on",
    interrupted: "interrupted; the operation goes on",
  },
};

/** Runs one command line of `perennial` and answers with the exit code; never throws, never ends the process. */
export async function runCli(argv: readonly string[], groups: readonly Group[], context: Context): Promise<number> {
  return await runProgram(argv, { ...perennial, groups }, context);
}
