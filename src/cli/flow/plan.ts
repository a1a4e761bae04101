import type { ShootView } from "../../activities/index.ts";
import { counted } from "../../api/counted.ts";
import type { KubeClient } from "../../kube/index.ts";
import { defineCommand } from "../command.ts";
import { clusterOptions } from "../connection.ts";
import type { ClusterOptions, Context, Garden } from "../context.ts";
import { findShoot, namespaceOption, shootArgument } from "../find-shoot.ts";
import { flowTables, readView } from "../report/flow-tables.ts";
import { explainFully } from "../exit.ts";
import { choice, text } from "../option.ts";
import { printObject } from "../display/output.ts";
import { renderTable, type Column } from "../display/table.ts";
import { planShoot, type ShootPlan } from "../report/plan.ts";
import type { JudgedStep } from "../report/changes.ts";
import { paint } from "../display/style.ts";
import type { Output } from "../display/terminal.ts";
import { wrap } from "../display/wrap.ts";

/** `perennial flow plan` */
export const plan = defineCommand({
  name: "plan",
  summary: "Show what an operation would do to a Shoot, and what it would skip and why; touches nothing",
  description:
    "Where the seed's kubeconfig is at hand, as in a local environment, a Reconcile is compared with what is in the seed, by dry " +
    "runs: steps change something, ask an extension's controller to act, or look again and find everything in place.",
  examples: [
    "perennial flow plan local",
    "perennial flow plan local --operation delete",
    "perennial flow plan local --operation restore --to seed-2 -o wide",
  ],
  args: { shoot: shootArgument },
  options: {
    namespace: namespaceOption,
    operation: choice(
      ["reconcile", "delete", "force-delete", "migrate", "restore"],
      "Operation [the one the Shoot asks for]",
    ),
    to: text("seed", "With migrate or restore: the Seed to go to [the one the Shoot is on its way to]"),
    output: choice(["json", "yaml", "wide"], "Output", "o"),
    ...clusterOptions,
  },
  async run({ args, options, context }) {
    const garden = await context.garden(options);
    const shoot = await findShoot(garden, { shoot: args.shoot, namespace: options.namespace });
    const view = await readView(garden, shoot);
    const { operation, to } = options;
    const unjudged = planShoot(shoot, { view, tables: flowTables, operation, to, now: context.now() });
    const planned = await judgePlan(unjudged, { view, garden, seedClient: await seedOf(view, context, options) });
    const { out } = context.terminal;
    if (options.output === "json" || options.output === "yaml") printObject(out, planned, options.output);
    else out.write(renderPlan(out, planned, options.output === "wide"));
  },
});

/** The seed that holds the Shoot's control plane, where it has one and its kubeconfig is at hand. */
async function seedOf({ initialised, run }: ShootView, context: Context, options: ClusterOptions) {
  return initialised && run !== undefined ? await context.seed(run.seedName, options) : undefined;
}

interface Known {
  readonly view: ShootView;
  readonly garden: Pick<Garden, "client">;
  readonly seedClient: KubeClient | undefined;
}

/** The plan with what each step would change. What makes, moves or deletes a control plane acts at every step. */
export async function judgePlan(planned: ShootPlan, { view, garden, seedClient }: Known): Promise<ShootPlan> {
  const { operation, steps } = planned;
  if (operation !== "Reconcile" || view.run === undefined) return planned;
  const unknown = (why: string) => ({
    ...planned,
    unjudged: `Which of them would change something is not known here: ${why}`,
  });
  if (seedClient === undefined) return unknown(`the kubeconfig of Seed ${view.run.seedName} is not at hand`);
  const { judgeSteps } = await import("../report/changes.ts");
  const { readContext } = await import("../../activities/control-plane/context.ts");
  const run = { ...view.run, operation };
  try {
    await readContext(garden.client, seedClient, run); // or no step can be judged
    const judging = { gardenClient: garden.client, seedClient, run };
    return { ...planned, steps: await judgeSteps(judging, flowTables.reconcile, steps) };
  } catch (error) {
    return unknown(explainFully(error));
  }
}

/** The plan as text: what and why, then a line per step; with what comes before each step when it is wide. */
export function renderPlan(out: Output, planned: ShootPlan, wide: boolean): string {
  const after: Column<JudgedStep> = { title: "AFTER", rank: 1, value: (step) => step.after.join(",") };
  const because: Column<JudgedStep> = { title: "WHY", value: (step) => step.because ?? step.why };
  const table = renderTable(
    planned.steps,
    [
      { title: "STEP", value: (step) => step.step },
      { title: "WOULD", value: verbOf },
      ...(wide ? [after] : []),
      ...(planned.steps.some((step) => step.because ?? step.why) ? [because] : []),
    ],
    out.width,
  );
  return [
    `${paint(out, "strong", `${planned.operation} ${planned.shoot}`)} (${planned.flow})`,
    wrap(`${planned.due.charAt(0).toUpperCase()}${planned.due.slice(1)}.`, out.width),
    ...(planned.assumes ? [wrap(`Assumed: ${planned.assumes}.`, out.width)] : []),
    wrap(`${summaryOf(planned)} Nothing was touched.`, out.width),
    "",
    table,
  ].join("\n");
}

function verbOf({ skipped, would }: JudgedStep): string {
  if (skipped) return "skip";
  return would === "look" ? "look again" : (would ?? "run");
}

function summaryOf({ steps, unjudged }: ShootPlan): string {
  const count = (verb: string) => steps.filter((step) => verbOf(step) === verb).length;
  const skipped = `${count("skip")} would be skipped.`;
  if (steps.every(({ would }) => would === undefined))
    return [`${counted(count("run"), "step")} would run, ${skipped}`, unjudged && `${unjudged}.`]
      .filter(Boolean)
      .join(" ");
  return [
    `${counted(count("change"), "step")} would change something`,
    `${count("ask")} would ask a controller to act`,
    `${count("look again")} would look again and find all in place`,
    `${count("run")} would do what only a run can tell`,
    skipped,
  ].join(", ");
}
