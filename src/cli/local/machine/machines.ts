import { commandLines, defaultSet } from "../../../api/command-lines.ts";
import type { BareMachines } from "../../../local/bare/machines.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../exit.ts";
import { several, text } from "../../option.ts";

/** The argument of verbs that act on machines, one after another. */
export const namesArgument = several("The machines");

/** The option of every verb about bare machines. */
export const setOption = text("set", `Name of the set of machines that reach each other [${defaultSet}]`);

/** The set's machines, with what there is to say while they are made. */
export async function openMachines(set: string | undefined, { terminal }: Pick<Context, "terminal">) {
  const [{ createBareMachines }, { createLogger }] = await Promise.all([
    import("../../../local/bare/machines.ts"),
    import("../../../log.ts"),
  ]);
  const log = createLogger({ name: "local", level: "silent" });
  return createBareMachines(set ?? defaultSet, log, (message) => terminal.err.write(`${message}\n`));
}

/** Throws which of these machines there is not. */
export async function requireMachines(
  machines: BareMachines,
  names: readonly string[],
  set: string | undefined,
): Promise<void> {
  const known = new Set((await machines.list()).map(({ name }) => name));
  const missing = names.find((name) => !known.has(name));
  if (missing !== undefined)
    throw new CliError(
      "notFound",
      `there is no machine ${missing}: make it with '${commandLines.createMachine(missing, set)}'`,
    );
}
