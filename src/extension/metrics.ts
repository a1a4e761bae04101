import type { OperationType } from "../api/index.ts";
import { exposition, type Family, type Sample } from "./exposition.ts";

/** How an operation ended; one that is aborted is neither: its process stopped, or may not act any more. */
export type OperationResult = "succeeded" | "failed" | "aborted";

/** Whose operations are meant. */
export interface ControllerName {
  readonly kind: string;
  readonly type: string;
}

/** What controllers tell of their work. Pass one of your own to count with a library of yours. */
export interface ControllerObserver {
  /** Called once for each operation that has begun. */
  ended(
    controller: ControllerName,
    end: { readonly operation: OperationType; readonly result: OperationResult; readonly seconds: number },
  ): void;
  /** Called when a controller is made: how many objects wait in its queue can be asked at any time. */
  queued(controller: ControllerName, depth: () => number): void;
}

/** An observer that counts. */
export interface Metrics extends ControllerObserver {
  /** All figures, in Prometheus' text format. */
  text(): string;
}

/** Counts operations by kind, type, operation and result, their durations, and what waits in the queues. */
export function createMetrics(): Metrics {
  const tallies = new Map<string, Tally>();
  const queues = new Map<string, { readonly labels: Sample["labels"]; readonly depth: () => number }>();
  return {
    ended({ kind, type }, { operation, result, seconds }) {
      const labels = { kind, type, operation };
      const key = JSON.stringify(labels);
      const tally = tallies.get(key) ?? newTally(labels);
      tallies.set(key, tally);
      tally.results.set(result, (tally.results.get(result) ?? 0) + 1);
      tally.sum += seconds;
      bounds.forEach((bound, index) => {
        if (seconds <= bound) tally.within[index] = (tally.within[index] ?? 0) + 1;
      });
    },
    queued({ kind, type }, depth) {
      const labels = { kind, type };
      queues.set(JSON.stringify(labels), { labels, depth });
    },
    text() {
      const all = [...tallies.values()];
      const waiting = [...queues.values()].map(({ labels, depth }) => ({ labels, value: depth() }));
      return exposition([
        { ...operations, samples: all.flatMap(countsOf) },
        { ...durations, samples: all.flatMap(durationsOf) },
        { ...depths, samples: waiting },
      ]);
    },
  };
}

const operations: Omit<Family, "samples"> = {
  name: "extension_operations_total",
  type: "counter",
  help: "Operations that have ended, by kind, type, operation and result.",
};
const durations: Omit<Family, "samples"> = {
  name: "extension_operation_duration_seconds",
  type: "histogram",
  help: "How long operations took, by kind, type and operation, however they ended.",
};
const depths: Omit<Family, "samples"> = {
  name: "extension_queue_depth",
  type: "gauge",
  help: "Objects that wait in the queue, by kind and type.",
};

/** In seconds: a DNS record takes a part of one, a pool of machines half an hour. */
const bounds = [0.1, 0.5, 1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600];

/** The operations of one kind, type and sort. */
interface Tally {
  readonly labels: Sample["labels"];
  readonly results: Map<OperationResult, number>;
  /** How many took at most as long as each of the bounds. */
  readonly within: number[];
  sum: number;
}

const newTally = (labels: Sample["labels"]): Tally => ({
  ...{ labels, results: new Map(), sum: 0 },
  within: bounds.map(() => 0),
});

const countsOf = ({ labels, results }: Tally): Sample[] =>
  [...results].map(([result, value]) => ({ labels: { ...labels, result }, value }));

function durationsOf({ labels, results, within, sum }: Tally): Sample[] {
  const count = [...results.values()].reduce((all, one) => all + one, 0);
  const bucket = (le: string, value: number): Sample => ({ suffix: "_bucket", labels: { ...labels, le }, value });
  return [
    ...bounds.map((bound, index) => bucket(String(bound), within[index] ?? 0)),
    bucket("+Inf", count),
    { suffix: "_sum", labels, value: sum },
    { suffix: "_count", labels, value: count },
  ];
}
