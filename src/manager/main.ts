import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { GARDEN_NAMESPACE, MANAGER_CONTROLLER } from "../api/index.ts";
import { createBastionClient } from "../client/bastions.ts";
import { createMemory, GARDEN_ROLE } from "../binding/memory.ts";
import { watchBinding } from "../binding/watch.ts";
import { connectTemporal, temporalOf } from "../client/connect.ts";
import { createGardenLook } from "../client/garden-binding.ts";
import { createInstallationClient } from "../client/installations.ts";
import { createShootClient } from "../client/shoots.ts";
import { parseConfig, type Config } from "../config.ts";
import { createBackupEntryController } from "../controllers/backup-entry.ts";
import { createBastionController } from "../controllers/bastion.ts";
import { createBastionFlows } from "../controllers/bastion-flows.ts";
import { createNamespacedCloudProfileController } from "../controllers/namespaced-cloud-profile.ts";
import { createProtections } from "../controllers/protections.ts";
import { createRegistrationController } from "../controllers/registration/registration.ts";
import { createScheduler, type SchedulerDeps } from "../controllers/scheduler/scheduler.ts";
import { createSeedAccessController } from "../controllers/seed-access/seed-access.ts";
import { createSeedSilenceController } from "../controllers/seed-silence.ts";
import { createShootLifetimeController } from "../controllers/shoot-lifetime.ts";
import { createShootStatusLabelController } from "../controllers/shoot-status-label.ts";
import { createShootController } from "../controllers/shoot.ts";
import { serveHealth } from "../health.ts";
import {
  createEventRecorder,
  createKubeClient,
  createLeaseElector,
  readClusterIdentity,
  type KubeClient,
} from "../kube/index.ts";
import { createLogger, type Logger } from "../log.ts";
import { serveWebhooks } from "./webhooks.ts";

/** Watches the garden, tells the Shoots' workflows what changed, and serves the garden's admission webhooks. */
await main();

async function main(): Promise<void> {
  const config = parseConfig(process.env, "manager");
  const log = createLogger({ name: "manager", level: config.logLevel });
  const gardenClient = createKubeClient({ file: config.gardenKubeconfig }, { log });
  const temporal = await connectTemporal(temporalOf(config));
  const memory = createMemory(gardenClient, GARDEN_ROLE);
  const look = createGardenLook(temporal, () => readClusterIdentity(gardenClient), memory);
  const binding = await watchBinding({ look, log });
  const shoots = createShootController({ gardenClient, shoots: createShootClient(temporal), log });

  let ready = false;
  const health = await serveHealth({ port: config.healthPort, ready: () => ready });
  const webhooks = await startWebhooks(gardenClient, config, log);
  const entries = createBackupEntryController({ gardenClient, log });
  const access = createSeedAccessController({ gardenClient, log });
  const reporter = { client: gardenClient, controller: MANAGER_CONTROLLER, instance: hostname() };
  const events = createEventRecorder({ ...reporter, log });
  const protections = createProtections({ gardenClient, events, log });
  const silence = createSeedSilenceController({ gardenClient, log });
  const scheduling = electScheduler({ gardenClient, events, log, strategy: config.schedulingStrategy });
  const profiles = createNamespacedCloudProfileController({ gardenClient, log });
  const bastions = createBastionController({ gardenClient, log });
  const bastionFlows = createBastionFlows({ gardenClient, flows: createBastionClient(temporal), log });
  const lifetimes = createShootLifetimeController({ gardenClient, events, log });
  const statusLabels = createShootStatusLabelController({ gardenClient, log });
  const flows = createInstallationClient(temporal);
  const registrations = createRegistrationController({ gardenClient, flows, events, log });
  const parts = [
    shoots,
    entries,
    access,
    protections,
    silence,
    profiles,
    bastions,
    bastionFlows,
    lifetimes,
    statusLabels,
    scheduling,
    registrations,
  ];
  for (const part of parts) part.start();
  shoots.synced().then(
    () => (ready = true),
    () => log.info("stopped before the first list of Shoots"),
  );
  log.info({ garden: gardenClient.server, temporal: config.temporalAddress }, "manager started");

  await new Promise<void>((resolve) => {
    process.once("SIGTERM", () => resolve()).once("SIGINT", () => resolve());
  });
  ready = false;
  binding.stop();
  await Promise.all(parts.map((part) => part.stop()));
  await events.settled();
  await webhooks?.stop();
  await health.stop();
  await Promise.all([gardenClient.close(), temporal.connection.close()]);
  log.info("manager stopped");
}

/** Of all managers, one schedules: two could give the last place of a Seed away twice. */
function electScheduler(deps: SchedulerDeps) {
  return createLeaseElector({
    ...{ client: deps.gardenClient, log: deps.log, namespace: GARDEN_NAMESPACE, name: "perennial-scheduler" },
    identity: `${hostname()}_${randomUUID()}`,
    async lead(signal) {
      const scheduler = createScheduler(deps);
      scheduler.start();
      if (!signal.aborted) await once(signal, "abort");
      await scheduler.stop();
    },
  });
}

/** The webhooks, where an address is given for them. */
async function startWebhooks(gardenClient: KubeClient, config: Config<"manager">, log: Logger) {
  const { webhookHost: host, webhookPort: port, webhookService: service, webhookClientCaFile: file } = config;
  if (host === undefined) return undefined;
  const clientCa = file === undefined ? {} : { clientCa: await readFile(file, "utf8") };
  return await serveWebhooks({ gardenClient, log, host, port, ...(service ? { service } : {}), ...clientCa });
}
