import { CliError, exitCodes } from "../../src/cli/exit.ts";
import type { BareMachines } from "../../src/local/bare/machines.ts";

/** Runs a command in a machine on this terminal, to its end. Throws where it failed, or was interrupted by Ctrl-C. */
export async function runInMachine(machines: BareMachines, name: string, command: readonly string[]): Promise<void> {
  const code = await machines.shell(name, command);
  if (code === exitCodes.interrupted)
    throw new CliError("interrupted", `${command[0] ?? ""} on ${name} was interrupted`);
  if (code !== 0)
    throw new CliError(
      "failed",
      `${command.join(" ")} on ${name} ended with exit code ${code}: its own words stand above`,
    );
}

/** Runs a command that a person need not see, to its end, and answers what it wrote. Throws what it said where it failed. */
export async function askInMachine(machines: BareMachines, name: string, command: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await machines.exec(name, command);
  if (code !== 0) throw new CliError("failed", `cannot run ${command.join(" ")} on ${name}: ${stderr.trim()}`);
  return stdout;
}
