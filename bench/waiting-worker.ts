import { fileURLToPath } from "node:url";
import { DefaultLogger, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import { createGardenActivities } from "../src/activities/garden.ts";
import { createLeaderLookup, createZoneServers } from "../src/dns/index.ts";
import { createSeedActivities } from "../src/activities/seed.ts";
import { createShootClients } from "../src/activities/shoot/clients.ts";
import { createSigner } from "../src/activities/waits/signature.ts";
import { createWaits } from "../src/activities/waits/waits.ts";
import { connectTemporal } from "../src/client/connect.ts";
import { createOperations } from "../src/client/operations.ts";
import { createCompleter } from "../src/client/completer.ts";
import { createKubeClient } from "../src/kube/index.ts";
import { createLogger } from "../src/log.ts";
import { createSeedWorker } from "../src/worker/seed.ts";
import { gardenQueue } from "../src/workflows/contract.ts";
import { newKeyring, newStateKey } from "../test/support/state-keys.ts";

/** A worker in a process of its own, so that its memory can be read: `waiting-worker.ts garden|seed <address> <kubeconfig>`. */
await main(process.argv.slice(2));

async function main([role, address = "", file = ""]: readonly string[]): Promise<void> {
  Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: [] });
  const connection = await NativeConnection.connect({ address });
  const client = await connectTemporal({ address, namespace: "default" });
  const log = createLogger({ name: "bench", level: "error" });
  const kube = createKubeClient({ file }, { log });
  const worker = await (role === "garden" ? gardenWorker() : seedWorker());
  process.send?.("ready");
  process.once("disconnect", () => process.exit(0));
  await worker.run();

  function gardenWorker() {
    const periods = {
      syncPeriod: 3_600_000,
      retryDuration: 60_000,
      leaseSeconds: 60,
      dnsTtl: 120,
      seedDeadline: 120_000,
    };
    return Worker.create({
      connection,
      taskQueue: gardenQueue,
      workflowsPath: fileURLToPath(new URL("../test/support/waiting-workflow.ts", import.meta.url)),
      activities: createGardenActivities({
        gardenClient: kube,
        periods,
        operations: createOperations(client),
        lookup: createLeaderLookup(createZoneServers()),
        keys: async () => [newStateKey("garden")],
        log,
      }),
      maxCachedWorkflows: 1_000,
    });
  }

  async function seedWorker() {
    const completer = createCompleter(client);
    const waits = createWaits({ client: kube, completer, signer: createSigner([newStateKey("seed-1")]), log });
    waits.start();
    await waits.synced();
    const deps = {
      gardenClient: kube,
      seedClient: kube,
      shootClients: createShootClients(kube, log),
      waits,
      completer,
      log,
    };
    return createSeedWorker({
      connection,
      namespace: "default",
      seedName: "seed-1",
      activities: createSeedActivities({ ...deps, keys: newKeyring() }),
    });
  }
}
