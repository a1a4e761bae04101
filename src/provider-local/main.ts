import { commandLines } from "../api/command-lines.ts";
import { parseConfig, type Config } from "../config.ts";
import { createLeaderLookup, createZoneServers } from "../dns/index.ts";
import { createHeartbeat, createLeadershipGuard } from "../extension/index.ts";
import { serveHealth } from "../health.ts";
import { createKubeClient } from "../kube/index.ts";
import { findEnvironment } from "../local/environment/file.ts";
import type { Environment } from "../local/environment/environment.ts";
import { connectMachines } from "../local/machine-api/connect.ts";
import { createMachines } from "../local/machine/machines.ts";
import { createLogger } from "../log.ts";
import type { DefaultNameServer } from "./dns/record.ts";
import { createGardenProvider } from "./garden.ts";
import { createProvider, type Provider } from "./provider.ts";

const config =
  process.env["PERENNIAL_SEED_NAME"] === undefined
    ? parseConfig(process.env, "local provider of the garden")
    : parseConfig(process.env, "local provider of a seed");
const seed = "seedName" in config ? config.seedName : undefined;
const log = createLogger({ name: "provider-local", level: config.logLevel });
const fieldManager = "provider-local"; // not the flows': theirs is fenced by epochs
const { client, provider } = "seedName" in config ? await forSeed(config) : forGarden(config);
const namespace = "heartbeatNamespace" in config ? config.heartbeatNamespace : "default";
const heartbeat = createHeartbeat({ client, namespace, name: "provider-local", log });

let ready = false;
let stopping = false;
const health = await serveHealth({ port: config.healthPort, ready: () => ready });
process.once("SIGTERM", () => void stop());
process.once("SIGINT", () => void stop());
await start();

/** A provider that is stopped before its first list does not begin. */
async function start(): Promise<void> {
  try {
    await provider.start();
  } catch (error) {
    if (!stopping) throw error;
  }
  if (stopping) return;
  heartbeat.start();
  ready = true;
  log.info({ seed, environment: config.environment }, "provider started");
}

/** A second signal ends the process at once, because the handlers are gone by then. */
async function stop(): Promise<void> {
  stopping = true;
  ready = false;
  await Promise.all([provider.stop(), heartbeat.stop()]);
  await Promise.all([health.stop(), client.close()]);
  log.info({ seed }, "provider stopped");
}

/** Without a seed's name, the process keeps the garden's DNS records, and where it can be called, judges its Shoots. */
function forGarden({
  gardenKubeconfig: file,
  providerWebhookHost: host,
}: Config<"local provider of the garden">): Running {
  const client = createKubeClient({ file }, { log, fieldManager });
  return { client, provider: createGardenProvider({ client, log, ...(host === undefined ? {} : { host }) }) };
}

async function forSeed(config: SeedConfig): Promise<Running> {
  const client = createKubeClient({ file: config.seedKubeconfig }, { log, fieldManager });
  const environment = await loadEnvironment(config);
  const nameServer = findNameServer(config, environment);
  const { dnsResolvers: resolvers, zoneServers: servers, zoneKeyFile: keyFile, machinesSocket: socket } = config;
  const { ask } = createLeaderLookup(createZoneServers({ resolvers, servers, keyFile }));
  const provider = createProvider({
    ...{ client, seed: config.seedName, environment, log },
    machines: socket === undefined ? createMachines(environment, log) : connectMachines(socket),
    guard: createLeadershipGuard({ ask, log }),
    ...(nameServer ? { nameServer } : {}),
  });
  return { client, provider };
}

type SeedConfig = Config<"local provider of a seed">;

interface Running {
  readonly client: ReturnType<typeof createKubeClient>;
  readonly provider: Provider;
}

async function loadEnvironment({ environment: name, stateDir }: SeedConfig): Promise<Environment> {
  const found = await findEnvironment({ name, ...(stateDir === undefined ? {} : { stateDir }) });
  if (found) return found;
  throw new Error(`cannot start: there is no environment ${name}; make it with "${commandLines.localUp(name)}"`);
}

function findNameServer({ dnsServer, dnsKeyFile }: SeedConfig, { domain }: Environment): DefaultNameServer | undefined {
  if (dnsServer === undefined || dnsKeyFile === undefined) return undefined;
  const [address = dnsServer, port] = dnsServer.split(/:(?=\d+$)/);
  const server = { address, key: { file: dnsKeyFile }, ...(port === undefined ? {} : { port: Number(port) }) };
  return { server, zone: domain };
}
