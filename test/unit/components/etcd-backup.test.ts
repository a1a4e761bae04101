import { expect, it } from "vitest";
import { components } from "../../../src/components/index.ts";
import { exampleContext } from "../../support/control-plane-context.ts";

it.each([
  [undefined, 10],
  [1, 1],
  [15, 15],
  [60, 60],
])(
  "the schedule saves etcd every hour in the same minutes: where %s is asked for, every %i minutes",
  (snapshotMinutes, period) => {
    const { shoot } = exampleContext();
    const minutes = Array.from({ length: 50 }, (_, index) => {
      const other = { ...shoot, metadata: { ...shoot.metadata, uid: `uid-${index}` } };
      return firstMinute({ shoot: other, ...(snapshotMinutes && { snapshotMinutes }) }, period);
    });
    expect(Math.max(...minutes)).toBeLessThan(period);
    if (period >= 10) expect(new Set(minutes).size).toBeGreaterThan(5); // so that a seed's etcds take turns
  },
);

function firstMinute(change: Parameters<typeof exampleContext>[0], period: number): number {
  const [schedule] = components["etcd-backup"].objects(exampleContext(change)) as { spec?: { schedule: string } }[];
  const [, first, every] = /^(\d+)-59\/(\d+) \* \* \* \*$/.exec(schedule?.spec?.schedule ?? "") ?? [];
  expect(Number(every)).toBe(period);
  return Number(first);
}
