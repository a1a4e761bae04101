import type { MigrationPlan } from "./plan.ts";
import { renderTable, type Column } from "../display/table.ts";
import { paint } from "../display/style.ts";
import type { Output } from "../display/terminal.ts";
import { wrap } from "../display/wrap.ts";

/** The plan as text: from where to where, what it costs, every step of its flows, and last, above the prompt, what stands against it. */
export function renderMigration(out: Output, plan: MigrationPlan): string {
  const steps = plan.flows.flatMap(({ title, steps }) => ["", paint(out, "strong", title), renderSteps(out, steps)]);
  return [renderSummary(out, plan), ...steps, "", "Nothing was touched.", ...renderObstacles(out, plan), ""].join("\n");
}

/** The same without the steps: what is asked about before a move. */
export function renderSummary(out: Output, plan: MigrationPlan): string {
  const { shoot, from, to, takeover, obstacles, notes } = plan;
  const what = `${takeover ? "Take over" : "Migrate"} Shoot ${shoot} from Seed ${from} to Seed ${to}`;
  const verdict = obstacles.length === 0 ? [paint(out, "good", "Nothing stands against it.")] : [];
  return [paint(out, "strong", what), ...verdict, ...notes.map((note) => wrap(note, out.width))].join("\n");
}

function renderObstacles(out: Output, { obstacles }: MigrationPlan): string[] {
  if (obstacles.length === 0) return [];
  const reasons = obstacles.map(({ field, message }) => wrap(`  ${field}: ${message}`, out.width, 4));
  return ["", paint(out, "bad", "It cannot be done:"), ...reasons];
}

/** A step that is skipped says why in the place of what it would have come after. */
function renderSteps(out: Output, steps: MigrationPlan["flows"][number]["steps"]): string {
  const skipped = steps.some((step) => step.skipped);
  const columns: Column<(typeof steps)[number]>[] = [
    { title: "STEP", value: ({ step }) => step },
    { title: "WOULD", value: (step) => (step.skipped ? "skip" : "run") },
    {
      title: skipped ? "AFTER, OR WHY NOT" : "AFTER",
      value: (step) => (step.skipped ? step.because : step.after.join(",")),
    },
  ];
  return renderTable(steps, columns, out.width).trimEnd();
}
