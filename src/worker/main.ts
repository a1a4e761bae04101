import { hostname } from "node:os";
import { createBastionGardenActivities } from "../activities/bastion/garden.ts";
import { createBastionSeedActivities } from "../activities/bastion/seed.ts";
import { createGardenActivities } from "../activities/garden.ts";
import { createHelm } from "../activities/installation/helm.ts";
import { createInstallationGardenActivities } from "../activities/installation/garden.ts";
import { createInstallationSeedActivities } from "../activities/installation/seed.ts";
import { createSeedActivities } from "../activities/seed.ts";
import { createShootClients } from "../activities/shoot/clients.ts";
import { createShootStates } from "../activities/state/shoot-state.ts";
import { publishGardenKeys } from "../activities/state/garden-keys.ts";
import { createKeyring } from "../activities/state/keyring.ts";
import { readStateKeys } from "../activities/state/keys.ts";
import { createSigner } from "../activities/waits/signature.ts";
import { createWaits } from "../activities/waits/waits.ts";
import { SEED_WORKER_CONTROLLER } from "../api/names.ts";
import { createMemory, GARDEN_ROLE } from "../binding/memory.ts";
import { watchBinding } from "../binding/watch.ts";
import { createBuilds } from "../client/builds.ts";
import { createCompleter } from "../client/completer.ts";
import { connectTemporal, temporalOf } from "../client/connect.ts";
import { createGardenBinding, createGardenLook } from "../client/garden-binding.ts";
import { createOperations } from "../client/operations.ts";
import { readConverter } from "../client/payloads/converter.ts";
import { createRuns } from "../client/runs.ts";
import { parseConfig, type Config } from "../config.ts";
import { createLeaderLookup, createZoneServers } from "../dns/index.ts";
import { serveHealth } from "../health.ts";
import { createKubeClient, readClusterIdentity } from "../kube/index.ts";
import { createLogger, type Logger } from "../log.ts";
import { createBackups } from "./backup/backups.ts";
import { createSnapshotFailures } from "./backup/snapshot-failures.ts";
import { buildWorkflows } from "./build.ts";
import { createCare } from "./care.ts";
import { createEtcdChecks } from "./etcd/checks.ts";
import { createEtcdReadings } from "./etcd/readings.ts";
import { awaitFirstLists } from "./first-lists.ts";
import { createGardenExtensions } from "./garden-extensions.ts";
import { createGardenShoots } from "./garden-shoots.ts";
import { createGardenWorker } from "./garden.ts";
import { createHandovers } from "./handovers.ts";
import { createInstallationCare } from "./installations/care.ts";
import { createKubeconfigs } from "./kubeconfigs.ts";
import { readGardenAddress } from "./installations/garden-address.ts";
import { createMirror } from "./mirror/mirror.ts";
import { createReplayer } from "./replay.ts";
import { createRollout } from "./rollout.ts";
import { connectWorker, followFiles, installRuntime } from "./runtime.ts";
import { createSeedBinding } from "./seed-binding.ts";
import { createSeedResourceManagerCare } from "./seed-resource-manager.ts";
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
  const connection = await connectWorker(temporalOf(config), log);
  const client = await connectTemporal(temporalOf(config));
  const gardenClient = createKubeClient({ file: config.gardenKubeconfig }, { log });
  const memory = createMemory(gardenClient, GARDEN_ROLE);
  const look = createGardenLook(client, () => readClusterIdentity(gardenClient), memory);
  const binding = await watchBinding({ look, log });
  const keys = () => readStateKeys(config.stateKeysFile);
  await publishGardenKeys(gardenClient, await keys());
  const dataConverter = await readConverter(config.payloadKeysFile);
  const extensions = createGardenExtensions(gardenClient, log);
  const shoots = createGardenShoots(gardenClient, log);
  extensions.start();
  shoots.start();
  const followed = { "ControllerRegistrations and ControllerInstallations": extensions, Shoots: shoots };
  await awaitFirstLists(followed); // before the first Shoot asks whether what it needs is there, and its names are free
  const build = await buildWorkflows({
    dataConverter,
    ...(config.buildId === undefined ? {} : { id: config.buildId }),
  });
  const worker = await createGardenWorker({
    connection,
    dataConverter,
    build,
    namespace: config.temporalNamespace,
    activities: createGardenActivities({
      gardenClient,
      periods: config,
      lookup: createLookup(config),
      operations: createOperations(client),
      extensions,
      shoots,
      keys,
      log,
    }),
    installations: createInstallationGardenActivities({ gardenClient, periods: config }),
    bastions: createBastionGardenActivities({ gardenClient, periods: config, extensions, shoots }),
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
  binding.stop();
  await Promise.all([rollingOut, extensions.stop(), shoots.stop()]);
  await Promise.all([gardenClient.close(), client.connection.close()]);
}

async function runSeed(config: Config<"seed worker">): Promise<void> {
  const log = startLog("worker-seed", config.logLevel);
  const { seedName } = config;
  const seedClient = createKubeClient({ file: config.seedKubeconfig }, { log });
  const connection = await connectWorker(temporalOf(config), log);
  const client = await connectTemporal(temporalOf(config));
  const gardenClient = createKubeClient({ file: config.gardenKubeconfig }, { log });
  const seedBinding = createSeedBinding({ gardenClient, seedClient, seedName });
  const look = async () => {
    await createGardenBinding(client, await readClusterIdentity(gardenClient)).check();
    return await seedBinding.bind();
  };
  const binding = await watchBinding({ look, log });
  const completer = createCompleter(client);
  const shootClients = createShootClients(seedClient, log);
  const own = await readStateKeys(config.stateKeysFile);
  const waits = createWaits({ client: seedClient, completer, signer: createSigner(own), log });
  waits.start();
  await waits.synced(); // before the first activity asks how an object stands
  const keys = createKeyring(own, { gardenClient });
  const activities = createSeedActivities({
    ...{ gardenClient, seedClient, shootClients, waits, completer, keys, log },
    exposureHandlers: config.exposureHandlers,
  });
  const access = { gardenClient, seedClient, gardenAddress: readGardenAddress(config.gardenKubeconfig) };
  const worker = await createSeedWorker({
    connection,
    dataConverter: await readConverter(config.payloadKeysFile),
    namespace: config.temporalNamespace,
    seedName,
    activities,
    installations: createInstallationSeedActivities({
      ...access,
      helm: createHelm({ binary: config.helm }),
    }),
    bastions: createBastionSeedActivities({ gardenClient, seedClient }),
    admitted: binding.bound,
  });
  const { seedCapacity: capacity } = config;
  const stateKey = own[0]?.publicKey;
  const reporter = { client: gardenClient, controller: SEED_WORKER_CONTROLLER, instance: hostname() };
  const failures = createSnapshotFailures({ seedClient, reporter, log });
  const etcds = createEtcdReadings();
  const etcdChecks = createEtcdChecks({ gardenClient, seedClient, seedName, readings: etcds, log });
  const care = createCare({ gardenClient, seedClient, seedName, shootClients, snapshots: failures, etcds, log });
  const status = createSeedStatus({
    ...{ gardenClient, seedClient, seedName, stateKey, capacity, log },
    onReturn: care.tellAgain,
  });
  const kubeconfigs = createKubeconfigs({ gardenClient, seedClient, seedName, shootClients, log });
  const handovers = createHandovers({ gardenClient, seedClient, seedName, log });
  const mirror = createMirror({ gardenClient, seedClient, seedName, keys, log });
  const states = createShootStates({ gardenClient, keys });
  const records = { record: states.recordSnapshot, latest: states.latestSnapshot };
  const backups = createBackups({
    ...{ gardenClient, seedClient, seedName, records, failures },
    grace: config.backupGrace,
    log,
  });
  const installed = createInstallationCare({ ...access, seedName, log });
  const manager = createSeedResourceManagerCare({ seedClient, log });
  status.start();
  manager.start();
  installed.start();
  mirror.start();
  backups.start();
  etcdChecks.start();
  const caring = [care.run(), kubeconfigs.run(), handovers.run()];
  await serve(config, log, worker);
  binding.stop();
  status.stop();
  care.stop();
  kubeconfigs.stop();
  handovers.stop();
  await Promise.all([...caring, waits.stop(), mirror.stop(), backups.stop(), installed.stop(), manager.stop()]);
  await etcdChecks.stop();
  await Promise.all([shootClients.close(), gardenClient.close(), seedClient.close(), client.connection.close()]);
}

function createLookup({
  dnsResolvers: resolvers,
  zoneServers: servers,
  zoneKeyFile: keyFile,
}: Config<"garden worker">) {
  return createLeaderLookup(createZoneServers({ resolvers, servers, keyFile }));
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
  const following = followFiles(worker, temporalOf(config), log);
  log.info({ temporal: config.temporalAddress }, "worker started");
  await worker.run();
  following.stop();
  await Promise.all([health.stop(), worker.connection?.close()]);
  log.info("worker stopped");
}
