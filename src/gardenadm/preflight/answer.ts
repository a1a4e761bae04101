import type { Run } from "../../node-agent/commands.ts";

/** In ms: what has not answered by then is taken for broken. */
const LONGEST = 10_000;

/** What a program of the machine says, or `what` with the reason why it does not. */
export async function answerOf(
  run: Run,
  args: readonly string[],
  what: string,
): Promise<{ readonly text: string; readonly faults: readonly string[] }> {
  return await run(args, AbortSignal.timeout(LONGEST)).then(
    (text) => ({ text, faults: [] }),
    (error: unknown) => ({ text: "", faults: [`${what}: ${error instanceof Error ? error.message : String(error)}`] }),
  );
}
