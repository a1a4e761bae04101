import { expect, it } from "vitest";
import { createLeadership } from "../../../src/activities/leadership/leadership.ts";
import type { Chapter } from "../../../src/activities/shoot/story.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { shootRun } from "../../support/shoot-run.ts";

const migration = { source: "seed-1", destination: "seed-2", takeover: false };
const run = shootRun({ operation: "Migrate", leadershipRecord: "moving.dev.test", migration });
const leadership = { record: "moving.dev.test", seed: "seed-1", epoch: run.epoch, leaseSeconds: 60 };

/** A garden of one Shoot, whose writer dies right after its first write; nothing can be published. */
function createGarden() {
  const shoot = {
    metadata: { namespace: run.namespace, name: run.name, uid: run.uid },
    spec: { seedName: "seed-2" },
    status: { leadership: leadership as object },
  };
  const patch = async (_ref: unknown, { status }: { status: { leadership: object } }) => {
    shoot.status = { ...shoot.status, ...status, leadership: { ...status.leadership, since: undefined } };
    throw new Error("killed");
  };
  const read = async ({ kind }: { kind: string }) => (kind === "Shoot" ? shoot : undefined);
  return { read, patch } as unknown as KubeClient;
}

it.each([
  ["by the next attempt of the same activity", true, ["Flipped"]],
  ["by no other, which would tell it once more", false, []],
])("a flip that was decided by a worker that died is told of %s", async (_, triedBefore, reasons) => {
  const told: Chapter[] = [];
  const silent = () => Promise.reject(new Error("the zone is silent"));
  const askAll = async () => [{ server: "server", leader: { seed: "seed-1", epoch: run.epoch } }];
  const { flip } = createLeadership({
    gardenClient: createGarden(),
    lookup: { ask: silent, askAll },
    tell: async (_run, chapters) => void told.push(...chapters),
    triedBefore: () => triedBefore,
  });
  await expect(flip(run)).rejects.toThrow("killed");
  expect(told).toEqual([]);
  await expect(flip(run)).rejects.toThrow();
  expect(told.map(({ reason }) => reason)).toEqual(reasons);
});
