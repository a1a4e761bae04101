import { createGardenActivities } from "../activities/garden.ts";
import { createSeedActivities } from "../activities/seed.ts";
import { createShootClients } from "../activities/shoot/clients.ts";
import { createShootStates } from "../activities/state/shoot-state.ts";
import { readStateKeys } from "../activities/state/keys.ts";
import { createWaits } from "../activities/waits/waits.ts";
import { createBuilds } from "../client/builds.ts";
import { createCompleter } from "../client/completer.ts";
import { connectTemporal } from "../client/connect.ts";
import { createOperations } from "../client/operations.ts";
import { createRuns } from "../client/runs.ts";
import { parseConfig, type Config } from "../config.ts";
import { createLeaderLookup, createZoneServers } from "../dns/index.ts";
import { serveHealth } from "../health.ts";
import { createKubeClient } from "../kube/index.ts";
import { createLogger, type Logger } from "../log.ts";
import { createBackups } from "./backup/backups.ts";
import { buildWorkflows } from "./build.ts";
import { createCare } from "./care.ts";
import { createFence } from "./fence.ts";
import { createGardenWorker } from "./garden.ts";
import { createMirror } from "./mirror/mirror.ts";
import { createReplayer } from "./replay.ts";
import { createRollout } from "./rollout.ts";
import { connectWorker, installRuntime } from "./runtime.ts";
import { createSeedStatus } from "./seed-status.ts";
import { createSeedWorker } from "./seed.ts";

/** `worker garden` runs the workflows and what acts on the garden; `worker seed` what acts on one seed. */
await main(process.argv[2]);

async function main(role: string | undefined): Promise<void> {
  if (role !== "garden" && role !== "seed") throw new Error(`cannot start worker ${role ?? ""}: say garden or seed`);
  await (role === "garden"
    ? runGarden(parseConfig(process.env, "garden worker"))
    : runSeed(parseConfig(process.env, "seed worker")));
}

async function runGarden(config: Config<"garden worker">): Promise<void> {
  const log = startLog("worker-garden", config.logLevel);
  const connection = await connectWorker(config.temporalAddress, log);
  const client = await connectTemporal({ address: config.temporalAddress, namespace: config.temporalNamespace });
  const gardenClient = createKubeClient({ file: config.gardenKubeconfig }, { log });
  const build = await buildWorkflows(config.buildId === undefined ? {} : { id: config.buildId });
  const worker = await createGardenWorker({
    connection,
    build,
    namespace: config.temporalNamespace,
    activities: createGardenActivities({
      gardenClient,
      periods: config,
      lookup: createLeaderLookup(createZoneServers({ resolvers: config.dnsResolvers, servers: config.zoneServers })),
      operations: createOperations(client),
    }),
  });
  const rollout = createRollout({
    build: build.id,
    builds: createBuilds(client),
    runs: createRuns(client),
    replayer: await createReplayer(build.bundle),
    drainPeriod: config.drainPeriod,
    log,
  });
  let settled = false;
  void rollout.settled.then(() => (settled = true));
  const rollingOut = rollout.run();
  await serve(config, log, worker, () => settled);
  rollout.stop();
  await rollingOut;
  await gardenClient.close();
}

async function runSeed(config: Config<"seed worker">): Promise<void> {
  const log = startLog("worker-seed", config.logLevel);
  const { seedName } = config;
  const seedClient = createKubeClient({ file: config.seedKubeconfig }, { log });
  // First of all: it has to work where neither the garden nor Temporal can be reached.
  const { ask } = createLeaderLookup(
    createZoneServers({ resolvers: config.dnsResolvers, servers: config.zoneServers }),
  );
  const fence = createFence({ seedClient, seedName, ask, period: config.leaseSeconds * 250, log });
  fence.start();
  const connection = await connectWorker(config.temporalAddress, log);
  const client = await connectTemporal({ address: config.temporalAddress, namespace: config.temporalNamespace });
  const gardenClient = createKubeClient({ file: config.gardenKubeconfig }, { log });
  const completer = createCompleter(client);
  const shootClients = createShootClients(seedClient, log);
  const waits = createWaits({ client: seedClient, completer, log });
  waits.start();
  await waits.synced(); // before the first activity asks how an object stands
  const keys = await readStateKeys(config.stateKeysFile);
  const activities = createSeedActivities({ gardenClient, seedClient, shootClients, waits, completer, keys, log });
  const worker = await createSeedWorker({
    connection,
    namespace: config.temporalNamespace,
    seedName,
    activities,
  });
  const status = createSeedStatus({ gardenClient, seedClient, seedName, log });
  const care = createCare({ gardenClient, seedClient, seedName, shootClients, log });
  const mirror = createMirror({ gardenClient, seedClient, seedName, keys, log });
  const states = createShootStates({ gardenClient, keys });
  const records = { record: states.recordSnapshot, latest: states.latestSnapshot };
  const backups = createBackups({ gardenClient, seedClient, seedName, records, grace: config.backupGrace, log });
  status.start();
  mirror.start();
  backups.start();
  const caring = care.run();
  await serve(config, log, worker);
  status.stop();
  care.stop();
  await Promise.all([caring, waits.stop(), mirror.stop(), backups.stop(), fence.stop()]);
  await Promise.all([shootClients.close(), gardenClient.close(), seedClient.close()]);
}

function startLog(name: string, level: WorkerConfig["logLevel"]): Logger {
  const log = createLogger({ name, level });
  installRuntime(log);
  return log;
}

type WorkerConfig = Config<"garden worker"> | Config<"seed worker">;

/** Runs until SIGTERM or SIGINT; what is under way is finished within the worker's grace time. */
async function serve(
  config: WorkerConfig,
  log: Logger,
  worker: Awaited<ReturnType<typeof createSeedWorker>>,
  settled = () => true,
): Promise<void> {
  const ready = () => worker.getState() === "RUNNING" && settled();
  const health = await serveHealth({ port: config.healthPort, ready });
  const stop = () => void (worker.getState() === "RUNNING" && worker.shutdown());
  process.once("SIGTERM", stop).once("SIGINT", stop);
  log.info({ temporal: config.temporalAddress }, "worker started");
  await worker.run();
  await health.stop();
  log.info("worker stopped");
}
