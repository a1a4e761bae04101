import type { PlannedStep } from "../../flow/plan.ts";
import { defineCommand } from "../command.ts";
import { clusterOptions } from "../connection.ts";
import { findShoot, namespaceOption, shootArgument } from "../find-shoot.ts";
import { flowTables, readView } from "../report/flow-tables.ts";
import { choice, text } from "../option.ts";
import { printObject } from "../display/output.ts";
import { renderTable, type Column } from "../display/table.ts";
import { planShoot, type ShootPlan } from "../report/plan.ts";
import { paint } from "../display/style.ts";
import type { Output } from "../display/terminal.ts";

/** `perennial flow plan` */
export const plan = defineCommand({
  name: "plan",
  summary: "Show what an operation would do to a Shoot, and what it would skip and why; touches nothing",
  examples: [
    "perennial flow plan local",
    "perennial flow plan local --operation delete",
    "perennial flow plan local --operation restore --to seed-2 -o wide",
  ],
  args: { shoot: shootArgument },
  options: {
    namespace: namespaceOption,
    operation: choice(["reconcile", "delete", "migrate", "restore"], "Operation [the one the Shoot asks for]"),
    to: text("seed", "With migrate or restore: the Seed to go to [the one the Shoot is on its way to]"),
    output: choice(["json", "yaml", "wide"], "Output", "o"),
    ...clusterOptions,
  },
  async run({ args, options, context }) {
    const garden = await context.garden(options);
    const shoot = await findShoot(garden, { shoot: args.shoot, namespace: options.namespace });
    const view = await readView(garden, shoot);
    const { operation, to } = options;
    const planned = planShoot(shoot, { view, tables: flowTables, operation, to, now: context.now() });
    const { out } = context.terminal;
    if (options.output === "json" || options.output === "yaml") printObject(out, planned, options.output);
    else out.write(renderPlan(out, planned, options.output === "wide"));
  },
});

/** The plan as text: what and why, then a line per step; with what comes before each step when it is wide. */
export function renderPlan(out: Output, planned: ShootPlan, wide: boolean): string {
  const skipped = planned.steps.filter((step) => step.skipped).length;
  const after: Column<PlannedStep> = { title: "AFTER", value: (step) => step.after.join(",") };
  const because: Column<PlannedStep> = { title: "WHY NOT", value: (step) => step.because };
  const table = renderTable(
    planned.steps,
    [
      { title: "STEP", value: (step) => step.step },
      { title: "WOULD", value: (step) => (step.skipped ? "skip" : "run") },
      ...(wide ? [after] : []),
      ...(skipped > 0 ? [because] : []),
    ],
    out.width,
  );
  return [
    `${paint(out, "strong", `${planned.operation} ${planned.shoot}`)} (${planned.flow})`,
    `${planned.due.charAt(0).toUpperCase()}${planned.due.slice(1)}.`,
    ...(planned.assumes ? [`Assumed: ${planned.assumes}.`] : []),
    `${planned.steps.length - skipped} steps would run, ${skipped} would be skipped. Nothing was touched.`,
    "",
    table,
  ].join("\n");
}
