import type { Exit } from "../../cli/exit.ts";
import { wrap } from "../../cli/display/wrap.ts";
import { describeSelfHostedAction, reconcileSelfHosted } from "../../workflows/reconcile-self-hosted.ts";
import type { GardenadmContext } from "../context.ts";
import { preflight } from "../preflight/preflight.ts";
import { begunFaults } from "../machine/gate.ts";
import type { StartDeps } from "./actions.ts";
import { candidateFor } from "./candidate.ts";
import { startControlPlane } from "./start-control-plane.ts";
import { zoneFaults } from "./zone.ts";
import { reconcileWrites, startWrites, type Writes } from "./writes.ts";

/** A row as the plan shows it. */
export interface PlannedRow {
  readonly flow: string;
  readonly step: string;
  readonly does: string;
  readonly writes: readonly Writes[];
  /** It is skipped unless all of these hold. */
  readonly when: readonly string[];
}

/** All rows of `init`, in the order of its tables. */
export function plannedRows(): readonly PlannedRow[] {
  const start = [...startControlPlane.steps].map(([step, { do: action, when = [] }]) => ({
    ...{ flow: startControlPlane.title, step, does: action.does, when: when.map(({ text }) => text) },
    writes: startWrites[action.action],
  }));
  const reconcile = [...reconcileSelfHosted.steps].map(([step, { do: action, when = [] }]) => ({
    ...{ flow: reconcileSelfHosted.title, step, when: when.map(({ text }) => text) },
    does: describeSelfHostedAction(action).does,
    writes: reconcileWrites[step] ?? [],
  }));
  return [...start, ...reconcile];
}

/** Shows each row with what it writes, and every reason why it cannot be. */
export async function showPlan({ terminal }: GardenadmContext, wanted: StartDeps): Promise<Exit> {
  const { machine, configuration } = wanted;
  const { faults: found, warnings } = await preflight(await candidateFor(machine, configuration), "control-plane");
  const faults = [...(await begunFaults(machine.root)), ...found, ...(await zoneFaults(wanted))];
  terminal.out.write(renderPlan(plannedRows(), configuration.folder, terminal.out.width));
  terminal.err.write(warnings.map((warning) => `warning: ${warning}\n`).join(""));
  if (faults.length === 0) return "done";
  terminal.err.write(faults.map((fault) => `cannot begin: ${fault}\n`).join(""));
  return "failed";
}

/** The rows below the titles of their tables; `folder` is the configuration's, `width` in columns. */
export function renderPlan(rows: readonly PlannedRow[], folder: string, width?: number): string {
  return [...Map.groupBy(rows, ({ flow }) => flow)]
    .map(([flow, own]) => `${flow}\n\n${own.map((row) => renderRow(row, folder, width)).join("\n")}`)
    .join("\n");
}

function renderRow({ step, does, when, writes }: PlannedRow, folder: string, width?: number): string {
  const lines = writes.flatMap((one) => linesOf(one, folder));
  const below = [
    ...(when.length === 0 ? [] : [`only when ${when.join(" and ")}`]),
    ...(lines.length === 0 ? ["writes nothing"] : lines),
  ];
  const show = (line: string, depth: number) =>
    `${" ".repeat(depth)}${wrap(line, width && width - depth, depth + 4)}\n`;
  return [show(`${step}: ${does}`, 2), ...below.map((line) => show(line, 6))].join("");
}

function linesOf({ paths = [], objects = {}, besides, when, fromThenOn }: Writes, folder: string): string[] {
  const kinds = Object.entries(objects).map(
    ([namespace, own]) => `${namespace === "" ? "the cluster's" : `in ${namespace}:`} ${own.join(", ")}`,
  );
  const files = paths.map((path) => path.replace("FOLDER", folder));
  const lines = [...files, ...kinds, ...(besides === undefined ? [] : [besides])];
  const called = [...(when === undefined ? [] : [`where ${when},`]), ...(fromThenOn ? ["from then on,"] : [])];
  return lines.map((line) => [...called, line].join(" "));
}
