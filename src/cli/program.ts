import {
  Argument as CommanderArgument,
  Command as Commander,
  CommanderError,
  Option as CommanderOption,
} from "commander";
import type { BaseContext } from "./base-context.ts";
import { CliError, exitCodeHelp, exitCodes, explainError, type Exit, type ExitMeanings } from "./exit.ts";
import { lastName, loadVerbs, nest, type Group, type Verb } from "./group.ts";
import { argumentInWords, flagOf, usageOf, type Option } from "./option.ts";
import { paint } from "./display/style.ts";
import type { Terminal } from "./display/terminal.ts";
import { wrap } from "./display/wrap.ts";

/** A program as its command line and its help know it. */
export interface Program<C extends BaseContext> {
  readonly name: string;
  readonly description: string;
  readonly exits: ExitMeanings;
  readonly groups: readonly Group<C>[];
}

/** Runs one command line of a program and answers with the exit code; never throws, never ends the process. */
export async function runProgram<C extends BaseContext>(
  argv: readonly string[],
  program: Program<C>,
  context: C,
): Promise<number> {
  const outcome: Outcome = { exit: "done" };
  try {
    const words = /^(-V|--version)$/.test(argv[0] ?? "") ? ["version", ...argv.slice(1)] : argv;
    const commander = await buildProgram(words, program, context, outcome);
    await commander.parseAsync([...words], { from: "user" });
    return typeof outcome.exit === "number" ? outcome.exit : exitCodes[outcome.exit];
  } catch (error) {
    return report(error, context);
  }
}

/** What the verb has answered. */
interface Outcome {
  exit: Exit | number;
}

/** Only the verbs of the group that is named are loaded, so that start-up does not pay for the others. */
async function buildProgram<C extends BaseContext>(
  argv: readonly string[],
  { name, description, exits, groups }: Program<C>,
  context: C,
  outcome: Outcome,
): Promise<Commander> {
  const program = quiet(new Commander(name), context)
    .helpCommand(...helpCommand)
    .description(description)
    .option("-V, --version", "Print the version")
    .addHelpText("after", exitCodeHelp(exits));
  const named = findNamed(argv, groups);
  for (const { group, within } of nest(groups)) {
    const parent = await buildGroup(group, group === named, context, outcome);
    for (const inner of within) parent.addCommand(await buildGroup(inner, inner === named, context, outcome));
    program.addCommand(parent);
  }
  return program;
}

/** The innermost group that the words name. */
function findNamed<C extends BaseContext>(argv: readonly string[], groups: readonly Group<C>[]): Group<C> | undefined {
  const typed = `${argv.filter((word) => !word.startsWith("-") && word !== "help").join(" ")} `;
  const named = groups.filter(({ name }) => typed.startsWith(`${name} `));
  return named.sort((one, other) => other.name.length - one.name.length)[0];
}

const helpCommand = ["help [command]", "Show the help of a command"] as const;

async function buildGroup<C extends BaseContext>(
  group: Group<C>,
  isNamed: boolean,
  context: C,
  outcome: Outcome,
): Promise<Commander> {
  const verbs = isNamed ? await loadVerbs(group) : [];
  const [verb] = verbs;
  if ("load" in group && verb) return buildVerb(verb, context, outcome);
  const commander = quiet(new Commander(lastName(group)), context);
  if ("load" in group) return commander.summary(group.summary);
  commander.helpCommand(...helpCommand).description(group.summary);
  for (const one of verbs) commander.addCommand(buildVerb(one, context, outcome));
  return commander;
}

function buildVerb<C extends BaseContext>(verb: Verb<C>, context: C, outcome: Outcome): Commander {
  const commander = quiet(new Commander(verb.name), context).summary(verb.summary);
  commander.description([verb.summary, verb.description].filter(Boolean).join("\n\n"));
  if (verb.examples)
    commander.addHelpText("after", `\nExamples:\n${verb.examples.map((line) => `  ${line}\n`).join("")}`);
  for (const [name, argument] of Object.entries(verb.args)) {
    commander.addArgument(new CommanderArgument(argumentInWords(name, argument), argument.summary));
  }
  for (const [key, option] of Object.entries(verb.options)) commander.addOption(buildOption(key, option));
  commander.usage(usageOf(verb.args, verb.options));
  return commander.action(async () => {
    outcome.exit = (await verb.run({ ...parseValues(verb, commander), context })) ?? "done";
  });
}

function buildOption(key: string, { summary, short, placeholder }: Option<unknown>): CommanderOption {
  const long = `${flagOf(key)}${placeholder ? ` <${placeholder}>` : ""}`;
  const option = new CommanderOption(short ? `-${short}, ${long}` : long, summary);
  return placeholder ? option.argParser((text: string, before: string[] = []) => [...before, text]) : option;
}

/** Commander has split the words; what they mean is decided by the verb's own declarations. */
function parseValues({ args: declared, options: known }: Pick<Verb, "args" | "options">, commander: Commander) {
  const given: Record<string, unknown> = commander.opts();
  const args: Record<string, unknown> = {};
  for (const [index, [name, argument]] of Object.entries(declared).entries()) {
    args[name] = argument.parse(commander.args[index], commander.args.slice(index + 1));
  }
  const options: Record<string, unknown> = {};
  for (const [key, option] of Object.entries(known)) {
    const { needs } = option;
    if (needs !== undefined && key in given && !(needs in given))
      throw new CliError("usage", `${flagOf(key)} is for ${flagOf(needs)} only: add ${flagOf(needs)}, or leave it out`);
    options[key] = option.parse(textsOf(given[key]), flagOf(key));
  }
  return { args, options };
}

/** A flag that was named counts as one text. */
function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  return value === true ? ["true"] : [];
}

/** Writes to the context's terminal and throws instead of ending the process. */
function quiet(commander: Commander, { terminal }: BaseContext): Commander {
  return commander
    .exitOverride()
    .helpOption("-h, --help", "Show this help")
    .configureHelp({ minWidthToWrap: 20 }) // so that a window of 60 columns breaks no word
    .configureOutput({
      writeOut: (text) => terminal.out.write(text),
      writeErr: (text) => terminal.err.write(text),
      getOutHelpWidth: () => terminal.out.width ?? 100,
      getErrHelpWidth: () => terminal.err.width ?? 100,
      getOutHasColors: () => terminal.out.colour,
      getErrHasColors: () => terminal.err.colour,
      outputError: () => {},
    });
}

function report(error: unknown, { terminal, signal }: BaseContext): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.done;
    if (error.code === "commander.help") return exitCodes.usage; // a group without a verb: its help is the answer
    const sentence = error.message.replace(/^error: /, "").replaceAll("\n", " ");
    terminal.err.write(`${paint(terminal.err, "bad", "error:")} ${sentence}; see --help\n`);
    return exitCodes.usage;
  }
  if (signal.aborted && !(error instanceof CliError)) return exitCodes.interrupted;
  const { exit, sentence } = explainError(error);
  terminal.err.write(`${paint(terminal.err, "bad", "error:")} ${wrap(sentence, widthOf(terminal), 2)}\n`);
  return exitCodes[exit];
}

/** What "error: " leaves of a line. */
const widthOf = ({ err }: Terminal): number | undefined => (err.width === undefined ? undefined : err.width - 7);
