import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { commandLines } from "../../api/command-lines.ts";
import { counted } from "../../api/counted.ts";
import type { History } from "../../client/history.ts";
import type { Replay } from "../../worker/replay.ts";
import { defineCommand } from "../command.ts";
import { clusterOptions } from "../connection.ts";
import { CliError } from "../exit.ts";
import { choice, required, text } from "../option.ts";
import { printObject } from "../display/output.ts";

/** `perennial flow replay` */
export const replay = defineCommand({
  name: "replay",
  summary: "Replay an operation's history against this version's code, and say at which step they part ways",
  description:
    "Runs no step and touches nothing. Takes the id of a workflow, or a file: what --save, Temporal's UI or `temporal " +
    "workflow show -o json` wrote; a file needs no server. Fails where history and code do not go together.",
  examples: [
    "perennial flow replay shoot/garden-dev/local/5f0c/migrate --save migrate.json",
    "perennial flow replay migrate.json",
  ],
  args: { subject: required("Id of a workflow, or a file with its history") },
  options: {
    save: text("file", "Keep the history in this file as well"),
    output: choice(["json", "yaml"], "Output", "o"),
    ...clusterOptions,
  },
  async run({ args, options, context }) {
    const history = existsSync(args.subject)
      ? await readHistory(args.subject, context.variables.PERENNIAL_PAYLOAD_KEYS_FILE)
      : await (await context.flows(options)).history(args.subject);
    if (history === undefined)
      throw new CliError(
        "notFound",
        `there is no workflow ${args.subject}, and no such file: see '${commandLines.listFlows()}'`,
      );
    if (options.save !== undefined) await writeFile(options.save, `${JSON.stringify(history)}\n`);
    const { createReplayer, silenceRuntime } = await import("../../worker/replay.ts");
    silenceRuntime();
    const { replay } = await createReplayer();
    const result = await replay(history);
    const { out } = context.terminal;
    if (options.output) printObject(out, result, options.output);
    else out.write(describeReplay(result));
    return result.divergence === undefined ? "done" : "failed";
  },
});

/** The outcome of a replay as text. */
export function describeReplay({ type, events, divergence }: Replay): string {
  const subject = `${type}, ${counted(events, "event")}`;
  if (!divergence) return `${subject}: this version's code agrees with the history to its end.\n`;
  const { step, task, history, code, reason } = divergence;
  const asked = history.join(", ") || "nothing";
  const difference = /[Nn]ondeterminism/.test(reason)
    ? `the history asks for ${asked}${code === undefined ? ", the code does not" : `, the code for ${code}`}`
    : `the history asks for ${asked}, the code fails`;
  return [
    `${subject}: history and this version's code part ways${step === undefined ? "" : ` at step ${step}`}.`,
    `  After workflow task ${task} ${difference}.`,
    `  The replayer says: ${reason.replaceAll("\\n", "\n    ")}`,
    "",
  ].join("\n");
}

async function readHistory(file: string, payloadKeysFile: string | undefined): Promise<History> {
  const { readConverter } = await import("../../client/payloads/converter.ts");
  const { decodeHistory } = await import("../../client/payloads/history.ts");
  return await decodeHistory(await parseHistory(file), await readConverter(payloadKeysFile));
}

async function parseHistory(file: string): Promise<History> {
  try {
    const history = JSON.parse(await readFile(file, "utf8")) as History;
    const { workflowTypeOf } = await import("../../client/history.ts");
    workflowTypeOf(history); // throws where it is none
    return history;
  } catch (cause) {
    const message = `${file} is no history in JSON: write one with --save, or download it from Temporal's UI`;
    throw new CliError("usage", message, { cause });
  }
}
