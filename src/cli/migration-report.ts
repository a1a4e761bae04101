import type { MigrationPlan } from "./migration-plan.ts";
import { renderTable } from "./output.ts";
import { paint } from "./style.ts";
import type { Output } from "./terminal.ts";

/** The plan as text: from where to where, what stands against it, what it costs, then every step of its flows. */
export function renderMigration(out: Output, plan: MigrationPlan): string {
  const steps = plan.flows.flatMap(({ title, steps }) => ["", paint(out, "strong", title), renderSteps(steps)]);
  return [renderSummary(out, plan), ...steps, "", "Nothing was touched.", ""].join("\n");
}

/** The same without the steps: what is asked about before a move. */
export function renderSummary(out: Output, plan: MigrationPlan): string {
  const { shoot, from, to, takeover, obstacles, notes } = plan;
  const what = `${takeover ? "Take over" : "Migrate"} Shoot ${shoot} from Seed ${from} to Seed ${to}`;
  const verdict =
    obstacles.length === 0
      ? [paint(out, "good", "Nothing stands against it.")]
      : [paint(out, "bad", "It cannot be done:"), ...obstacles.map(({ field, message }) => `  ${field}: ${message}`)];
  return [paint(out, "strong", what), ...verdict, ...notes].join("\n");
}

function renderSteps(steps: MigrationPlan["flows"][number]["steps"]): string {
  const skipped = steps.some((step) => step.skipped);
  return renderTable(steps, [
    { title: "STEP", value: ({ step }) => step },
    { title: "WOULD", value: (step) => (step.skipped ? "skip" : "run") },
    { title: "AFTER", value: ({ after }) => after.join(",") },
    ...(skipped ? [{ title: "WHY NOT", value: ({ because }: (typeof steps)[number]) => because }] : []),
  ]).trimEnd();
}
