/** A worker of a seed whose activities act in the folder of the third argument; the first two are Temporal's address and the seed's name. */
import { Context, CompleteAsyncError } from "@temporalio/activity";
import { NativeConnection } from "@temporalio/worker";
import { guarded } from "../../src/activities/failure.ts";
import type { SeedActivities, WaitTarget } from "../../src/activities/index.ts";
import { stepOfActivity } from "../../src/api/activity-ids.ts";
import { createSeedWorker } from "../../src/worker/seed.ts";
import { actInWorld } from "./engine-world.ts";
import "./quiet-runtime.ts";

const [, , address = "", seedName = "", folder = ""] = process.argv;
const act = async () => await actInWorld(folder, stepOfActivity(Context.current().info.activityId) ?? "");
const target: WaitTarget = {
  ...{ apiVersion: "v1", kind: "ConfigMap", name: "told", until: "ready" },
  ...{ severeAfter: 0, deadline: 600_000 },
};

const activities: Partial<SeedActivities> = {
  deploySecrets: act,
  async stopWorkloads() {
    await act();
    return [target];
  },
  waitFor: () => Promise.reject(new CompleteAsyncError()),
  syncCluster: async () => {},
};

const connection = await NativeConnection.connect({ address });
const worker = await createSeedWorker({
  ...{ connection, namespace: "default", seedName },
  // The table asks for these only.
  activities: guarded(activities) as SeedActivities,
});
process.stdout.write("begun\n");
await worker.run();
