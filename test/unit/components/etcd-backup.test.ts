import { expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/index.ts";
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

it("etcd is alone in its pods: a CronJob saves it, and no sidecar", () => {
  const sets = components.etcd.objects(exampleContext()).filter(({ kind }) => kind === "StatefulSet") as PodOwner[];
  const containers = sets.map(({ spec }) => spec.template.spec.containers.map(({ name }) => name));
  expect(containers).toEqual([["etcd"], ["etcd"]]);
  expect(sets.flatMap(({ spec }) => spec.template.spec.initContainers ?? [])).toEqual([]);
  expect(components["etcd-backup"].objects(exampleContext()).map(({ kind }) => kind)).toContain("CronJob");
});

interface PodOwner extends KubeObject {
  readonly spec: { readonly template: { readonly spec: PodSpec } };
}

interface PodSpec {
  readonly containers: readonly { readonly name: string }[];
  readonly initContainers?: readonly object[];
}

function firstMinute(change: Parameters<typeof exampleContext>[0], period: number): number {
  const [schedule] = components["etcd-backup"].objects(exampleContext(change)) as { spec?: { schedule: string } }[];
  const [, first, every] = /^(\d+)-59\/(\d+) \* \* \* \*$/.exec(schedule?.spec?.schedule ?? "") ?? [];
  expect(Number(every)).toBe(period);
  return Number(first);
}
