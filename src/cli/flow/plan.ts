import type { PlannedStep } from "../../flow/plan.ts";
import { defineCommand } from "../command.ts";
import { clusterOptions } from "../connection.ts";
import { CliError } from "../exit.ts";
import { findShoot, namespaceOption, shootArgument, shootRef } from "../find-shoot.ts";
import { choice } from "../option.ts";
import { printObject, renderTable, type Column } from "../output.ts";
import { planShoot, type ShootPlan } from "../shoot-plan.ts";
import { paint } from "../style.ts";
import type { Output } from "../terminal.ts";

/** `perennial flow plan` */
export const plan = defineCommand({
  name: "plan",
  summary: "Show what an operation would do to a Shoot, and what it would skip and why; touches nothing",
  examples: ["perennial flow plan local", "perennial flow plan local --operation delete"],
  args: { shoot: shootArgument },
  options: {
    namespace: namespaceOption,
    operation: choice(["reconcile", "delete"], "Operation [the one the Shoot asks for]"),
    output: choice(["json", "yaml", "wide"], "Output", "o"),
    ...clusterOptions,
  },
  async run({ args, options, context }) {
    const garden = await context.garden(options);
    const shoot = await findShoot(garden, { shoot: args.shoot, namespace: options.namespace });
    const [{ readShootView }, { reconcile }, { deleteShoot }] = await Promise.all([
      import("../../activities/shoot-view.ts"),
      import("../../workflows/reconcile.ts"),
      import("../../workflows/delete.ts"),
    ]);
    const view = await readShootView(garden.client, shootRef(shoot), defaultPeriods);
    if (!view) throw new CliError("notFound", `Shoot ${args.shoot} has just gone: see 'perennial shoot list'`);
    const planned = planShoot(shoot, {
      view,
      tables: { reconcile, delete: deleteShoot },
      operation: options.operation,
      now: context.now(),
    });
    const { out } = context.terminal;
    if (options.output === "json" || options.output === "yaml") printObject(out, planned, options.output);
    else out.write(renderPlan(out, planned, options.output === "wide"));
  },
});

/** The periods of a worker that was not told otherwise, in ms; they only decide what the plan says of the next resync. */
const defaultPeriods = { syncPeriod: 3_600_000, retryDuration: 43_200_000, leaseSeconds: 60, dnsTtl: 120 };

/** The plan as text: what and why, then a line per step; with what comes before each step when it is wide. */
export function renderPlan(out: Output, planned: ShootPlan, wide: boolean): string {
  const skipped = planned.steps.filter((step) => step.skipped).length;
  const after: Column<PlannedStep> = { title: "AFTER", value: (step) => step.after.join(",") };
  const because: Column<PlannedStep> = { title: "WHY NOT", value: (step) => step.because };
  const table = renderTable(planned.steps, [
    { title: "STEP", value: (step) => step.step },
    { title: "WOULD", value: (step) => (step.skipped ? "skip" : "run") },
    ...(wide ? [after] : []),
    ...(skipped > 0 ? [because] : []),
  ]);
  return [
    `${paint(out, "strong", `${planned.operation} ${planned.shoot}`)} (${planned.flow})`,
    `${planned.due.charAt(0).toUpperCase()}${planned.due.slice(1)}.`,
    ...(planned.assumes ? [`Assumed: ${planned.assumes}.`] : []),
    `${planned.steps.length - skipped} steps would run, ${skipped} would be skipped. Nothing was touched.`,
    "",
    table,
  ].join("\n");
}
