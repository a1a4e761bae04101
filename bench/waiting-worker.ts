import { fileURLToPath } from "node:url";
import { NativeConnection } from "@temporalio/worker";
import { createGardenActivities } from "../src/activities/garden.ts";
import { listedShoots } from "../src/activities/shoot/garden-shoots.ts";
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
import { buildWorkflows } from "../src/worker/build.ts";
import { createGardenWorker } from "../src/worker/garden.ts";
import { createSeedWorker } from "../src/worker/seed.ts";
import { newKeyring, newStateKey } from "../test/support/state-keys.ts";
import { noExtensions } from "./no-extensions.ts";
import { beQuiet } from "./quiet.ts";

/** A worker in a process of its own, so that its memory can be read: `waiting-worker.ts garden|seed <address> <kubeconfig>`. */
await main(process.argv.slice(2));

async function main([role, address = "", file = ""]: readonly string[]): Promise<void> {
  beQuiet({ shutdownSignals: [] });
  const connection = await NativeConnection.connect({ address });
  const client = await connectTemporal({ address, namespace: "default" });
  const log = createLogger({ name: "bench", level: "error" });
  const kube = createKubeClient({ file }, { log });
  const { worker, build } = await (role === "garden" ? gardenWorker() : seedWorker());
  process.once("disconnect", () => process.exit(0));
  const running = worker.run();
  process.send?.(build);
  await running;

  async function gardenWorker() {
    const periods = {
      syncPeriod: 3_600_000,
      retryDuration: 60_000,
      leaseSeconds: 60,
      dnsTtl: 120,
      seedDeadline: 120_000,
    };
    const build = await buildWorkflows({
      path: fileURLToPath(new URL("../test/support/waiting-workflow.ts", import.meta.url)),
    });
    const worker = await createGardenWorker({
      connection,
      namespace: "default",
      build,
      activities: createGardenActivities({
        extensions: noExtensions,
        shoots: listedShoots(kube),
        gardenClient: kube,
        periods,
        operations: createOperations(client),
        lookup: createLeaderLookup(createZoneServers()),
        keys: async () => [newStateKey("garden")],
        log,
      }),
    });
    return { worker, build: build.id };
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
    const worker = await createSeedWorker({
      connection,
      namespace: "default",
      seedName: "seed-1",
      activities: createSeedActivities({ ...deps, keys: newKeyring() }),
    });
    return { worker, build: "none" };
  }
}
