import { commandLines } from "../../api/command-lines.ts";
import type { FlowReset } from "../../client/flow-reset.ts";
import { defineCommand } from "../command.ts";
import { confirm } from "../confirm.ts";
import { clusterOptions } from "../connection.ts";
import { demanded, flag, required, text } from "../option.ts";

/** `perennial flow reset` */
export const reset = defineCommand({
  name: "reset",
  summary: "Set a running operation back to a step: it is done again, with everything that came after it",
  description:
    `For what a retry cannot mend: \`${commandLines.retryShoot("local")}\` does a step that is parked again, and only that. Says first what ` +
    "would be done again. Refused across the flip of a migration, for an operation that has ended, and wherever the " +
    "workflow's end, or a child's, would not reach its parent.",
  examples: ["perennial flow reset shoot/garden-dev/local/5f0c/migrate --to migrateInfrastructure"],
  args: { id: required(`Id of the operation's workflow: see ${commandLines.listFlows()}`) },
  options: {
    to: demanded(
      text("step", "The step that is done again first"),
      "say which step is done again first: add --to STEP",
    ),
    reason: text("text", "Why; it is kept with the workflow"),
    yes: flag("Do not ask for confirmation", "y"),
    ...clusterOptions,
  },
  async run({ args, options, context }) {
    const flows = await context.flows(options);
    const prepared = await flows.prepareReset(args.id, options.to);
    const { workflowId, step } = prepared;
    const { err, out } = context.terminal;
    err.write(describeReset(prepared));
    if (!options.yes)
      await confirm(context.terminal, {
        doing: `setting ${workflowId} back`,
        words: [step],
        otherwise: `${workflowId} goes on as it is`,
      });
    const runId = await prepared.carryOut(options.reason ?? "reset from the command line");
    out.write(`${workflowId} goes on from step ${step} in run ${runId}\n`);
  },
});

/** The consequences of a reset, for the operator who decides about it. */
export function describeReset({ workflowId, step, again }: FlowReset): string {
  return [
    `Sets ${workflowId} back to the beginning of step ${step}.`,
    `Done again, although some of it is done: ${again.join(", ")}.`,
    "What its run is doing at this moment may end beside the new run: every step is safe to do twice.",
    "Retries that were asked for since are forgotten.",
    "",
  ].join("\n");
}
