import type { BaseContext } from "../../src/cli/base-context.ts";
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

/** A command that is shown, and how many lines of what it writes. */
export interface Shown {
  readonly command: readonly string[];
  readonly atMost?: number;
}

/** Runs a command that changes nothing, and shows it with what it writes, whether that is good or bad news. */
export async function showInMachine(
  { terminal: { out } }: Pick<BaseContext, "terminal">,
  machines: BareMachines,
  name: string,
  { command, atMost = Infinity }: Shown,
): Promise<void> {
  const { stdout, stderr } = await machines.exec(name, command);
  const lines = `${stdout}${stderr}`.trimEnd().split("\n");
  const left = lines.length - atMost;
  const shown = left > 1 ? [...lines.slice(0, atMost), `… and ${left} lines more`] : lines;
  out.write(`[${name}]$ ${command.join(" ")}\n${shown.join("\n")}\n\n`);
}
