import { expect, test } from "vitest";
import type { Shoot } from "../../../../src/api/index.ts";
import { reportOutcome, type ReportDeps } from "../../../../src/controllers/scheduler/report.ts";
import { KubeError } from "../../../../src/kube/index.ts";
import { exampleShoot } from "../../../support/control-plane-context.ts";

interface Patch {
  readonly metadata: { readonly resourceVersion: string };
  readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
}

const conflict = () =>
  new KubeError("the Shoot has changed", { status: 409, reason: "Conflict", server: "garden", retryable: true });

/** A garden in which others write the Shoot's conditions before each of the first patches. */
function garden(times: number, isGone = false) {
  const patches: Patch[] = [];
  const events: string[] = [];
  let version = 1;
  const shoot = (): Shoot => ({
    ...exampleShoot(),
    metadata: { ...exampleShoot().metadata, resourceVersion: String(version) },
    status: {
      conditions:
        version === 1
          ? []
          : [
              {
                type: "Other",
                status: "True",
                lastTransitionTime: "t",
                lastUpdateTime: "t",
                reason: "R",
                message: "m",
              },
            ],
    },
  });
  const gardenClient = {
    read: async () => (isGone ? undefined : shoot()),
    patch: async (_: unknown, patch: Patch) => {
      patches.push(patch);
      if (version <= times) version += 1;
      if (patch.metadata.resourceVersion !== String(version)) throw conflict();
      return shoot();
    },
  } as unknown as ReportDeps["gardenClient"];
  const deps: ReportDeps = { gardenClient, events: { record: ({ reason }) => void events.push(reason) } };
  return { deps, patches, events, shoot: shoot() };
}

test("an outcome is told although others write the Shoot meanwhile, whose conditions stay", async () => {
  const { deps, patches, events, shoot } = garden(3);
  await reportOutcome(deps, shoot, { seed: "seed-1" });
  expect(patches.at(-1)?.status.conditions.map(({ type, status }) => `${type} ${status}`)).toEqual([
    "Other True",
    "Scheduled True",
  ]);
  expect(patches).toHaveLength(4);
  expect(events).toEqual(["SchedulingSuccessful"]);
});

test("a Shoot that is written all the time is tried again by the scheduler", async () => {
  const { deps, shoot, events } = garden(99);
  await expect(reportOutcome(deps, shoot, { seed: "seed-1" })).rejects.toThrow("the Shoot has changed");
  expect(events).toEqual([]);
});

test("a Shoot that is gone meanwhile is told nothing", async () => {
  const { deps, shoot, events } = garden(1, true);
  await reportOutcome(deps, shoot, { why: "There is no Seed yet." });
  expect(events).toEqual([]);
});
