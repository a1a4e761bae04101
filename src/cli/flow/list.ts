import type { FlowSummary } from "../../client/shoots.ts";
import { defineCommand } from "../command.ts";
import { clusterOptions } from "../connection.ts";
import { CliError } from "../exit.ts";
import { isName } from "../find-shoot.ts";
import { flag, text } from "../option.ts";
import { outputOption, printList } from "../display/output.ts";
import type { Column } from "../display/table.ts";
import { formatAge, formatDuration } from "../display/time.ts";

/** `perennial flow list` */
export const list = defineCommand({
  name: "list",
  summary: "List operations, newest first",
  args: {},
  options: {
    shoot: { ...text("namespace/name", "Only those of this Shoot"), parse: parseShoot },
    running: flag("Only those that have not ended"),
    output: outputOption,
    ...clusterOptions,
  },
  async run({ options, context }) {
    const flows = await context.flows(options);
    const found = (await flows.flows(options.shoot)).filter((flow) => !options.running || flow.closedAt === undefined);
    const { out, err } = context.terminal;
    if (found.length === 0 && options.output !== "json" && options.output !== "yaml")
      return void err.write("No operations found.\n");
    printList(out, found, {
      format: options.output,
      columns: flowColumns(context.now()),
      name: (flow) => flow.workflowId,
    });
  },
});

/** Operations are found by the Shoot's whole name, and Temporal is asked for them with it. */
function parseShoot(texts: readonly string[], name: string): string | undefined {
  const given = texts.at(-1);
  const words = given?.split("/") ?? [];
  if (given !== undefined && (words.length !== 2 || !words.every(isName)))
    throw new CliError("usage", `${name} cannot be "${given}": say NAMESPACE/NAME`);
  return given;
}

/** The columns of operations; in a narrow window what they belong to and how they stand stays. */
export function flowColumns(now: number): readonly Column<FlowSummary>[] {
  return [
    { title: "SHOOT", value: subjectOf },
    { title: "OPERATION", value: (flow) => flow.operation ?? flow.type },
    { title: "PHASE", value: phase },
    { title: "ERROR CODE", rank: 1, value: (flow) => flow.errorCode },
    { title: "SEED", rank: 2, value: (flow) => flow.seedName },
    {
      title: "DURATION",
      rank: 4,
      value: (flow) => formatDuration((flow.closedAt?.getTime() ?? now) - flow.startedAt.getTime()),
    },
    { title: "AGE", rank: 3, value: (flow) => formatAge(flow.startedAt.toISOString(), now) },
    { title: "WORKFLOW", wide: true, value: (flow) => flow.workflowId },
    { title: "RUN", wide: true, value: (flow) => flow.runId },
    { title: "BUILD", wide: true, value: (flow) => flow.build },
  ];
}

/** The Shoot, or the installation, in the word by which `flow show` takes it. */
function subjectOf({ shoot, workflowId }: FlowSummary): string | undefined {
  return shoot ?? /^installation\/[^/]+/.exec(workflowId)?.[0];
}

/** A flow that has ended says how; one that runs says what its Shoot's status says. */
function phase(flow: FlowSummary): string {
  if (flow.closedAt === undefined) return flow.phase ?? "Processing";
  return flow.status === "COMPLETED"
    ? (flow.phase ?? "Completed")
    : flow.status.charAt(0) + flow.status.slice(1).toLowerCase();
}
