import { parseConfig } from "../config.ts";
import { createLeaderLookup, createZoneServers } from "../dns/index.ts";
import { serveHealth } from "../health.ts";
import { createKubeClient } from "../kube/index.ts";
import { createLogger } from "../log.ts";
import { createFence } from "./fence.ts";

/**
 * The fence of one seed: a process of its own, so that nothing else uses up its memory. It has to work where neither the
 * garden nor Temporal can be reached, and connects to neither.
 */
const config = parseConfig(process.env, "fence");
const { seedName, dnsResolvers: resolvers, zoneServers: servers, zoneKeyFile: keyFile } = config;
const log = createLogger({ name: "fence", level: config.logLevel });
const seedClient = createKubeClient({ file: config.seedKubeconfig }, { log });
const { ask } = createLeaderLookup(createZoneServers({ resolvers, servers, keyFile }));
const fence = createFence({ seedClient, seedName, ask, period: config.leaseSeconds * 250, log });
const health = await serveHealth({ port: config.healthPort, ready: fence.isWell });
process.once("SIGTERM", () => void stop());
process.once("SIGINT", () => void stop());
fence.start();
log.info({ seed: seedName }, "fence started");

/** A second signal ends the process at once, because the handlers are gone by then. */
async function stop(): Promise<void> {
  await fence.stop();
  await Promise.all([health.stop(), seedClient.close()]);
  log.info({ seed: seedName }, "fence stopped");
}
