import { expect } from "vitest";
import { readShootView } from "../../src/activities/shoot/view.ts";
import { Shoot } from "../../src/api/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createGardenShoots } from "../../src/worker/garden-shoots.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";

const log = createLogger({ name: "test", level: "silent" });
const periods = { syncPeriod: 1, retryDuration: 1, leaseSeconds: 60, dnsTtl: 120, seedDeadline: 1 };

test("the garden's worker judges Shoots that begin by its watch: it lists Shoots once, and is never behind", async ({
  cluster,
}) => {
  await applyGarden(cluster.client);
  const { client, lists } = countLists(cluster.client);
  const shoots = createGardenShoots(client, log);
  shoots.start();
  await shoots.synced();
  const view = (run: Parameters<typeof readShootView>[1]) => readShootView(client, run, periods, { shoots });
  for (let pair = 0; pair < 5; pair += 1) {
    const dns = { domain: `pair-${pair}.dev.perennial.test` };
    const one = await createShoot(cluster.client, `one-${pair}`, { dns });
    expect((await view(one))?.run?.technicalID).toBe(one.technicalID);
    const two = await createShoot(cluster.client, `two-${pair}`, { dns });
    expect((await view(two))?.problem?.message).toContain(`overlaps with the domain of Shoot garden-dev/one-${pair}`);
  }
  await shoots.stop();
  expect(lists.filter((kind) => kind === Shoot.kind)).toHaveLength(1);
});

/** Notes the kind of each list that the client is asked for. */
function countLists(client: KubeClient): { readonly client: KubeClient; readonly lists: string[] } {
  const lists: string[] = [];
  const counted = {
    ...client,
    list: (...asked: Parameters<KubeClient["list"]>) => (lists.push(asked[0].kind), client.list(...asked)),
    snapshot: (...asked: Parameters<KubeClient["snapshot"]>) => (lists.push(asked[0].kind), client.snapshot(...asked)),
  };
  return { client: counted as KubeClient, lists }; // generic methods, called with what they are given
}
