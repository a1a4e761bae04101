import type { ControlPlane } from "../test/support/control-plane.ts";
import type { TemporalServer } from "../test/support/temporal.ts";

/** A subject that is measured; a line in the list of `main.ts`. */
export interface Bench {
  /** As `--only` names it. */
  readonly name: string;
  measure(ground: Ground): Promise<Findings>;
}

/** A subject that is measured on machines that the bench makes itself, as root, and not beside the servers of others. */
export interface MachineBench {
  readonly name: string;
  measureMachines(order: Order): Promise<Findings>;
}

/** How much a bench is to do, and where it says what it does. */
export type Order = Pick<Ground, "short" | "say">;

/** What a bench measures on: servers on loopback, and how much it is to do. */
export interface Ground {
  /** An API server with all kinds, and a garden in it; it is the seeds', too. The benches share it. */
  readonly controlPlane: ControlPlane;
  /** Of this bench alone: where a build of the garden's worker was made current, no other worker gets workflows. */
  readonly temporal: TemporalServer;
  /** How many Shoots, where a bench takes many. */
  readonly shoots: number;
  /** Whether only to show that the figures come out, in seconds rather than minutes. */
  readonly short: boolean;
  /** Tells whoever waits what is being done. */
  readonly say: (text: string) => void;
}

/** What came out: for machines, and for people. */
export interface Findings {
  /** Numbers, or several of one kind, by name; groups of them have names, too. */
  readonly figures: object;
  readonly tables: readonly Table[];
}

/** What was measured and what came out, a row each. */
export interface Table {
  readonly title: string;
  readonly rows: readonly (readonly [what: string, value: string])[];
}

/** Milliseconds as people read them. */
export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;

/** Names of the figures that did not come out: a figure is a number, or several, and none is below zero. */
export function missingFigures(figures: object, path: readonly string[] = []): readonly string[] {
  const entries = Object.entries(figures) as [string, unknown][];
  if (entries.length === 0) return [path.join(".")];
  return entries.flatMap(([name, value]) => {
    const here = [...path, name];
    if (typeof value === "object" && value !== null) return missingFigures(value, here);
    return typeof value === "number" && Number.isFinite(value) && value >= 0 ? [] : [here.join(".")];
  });
}
