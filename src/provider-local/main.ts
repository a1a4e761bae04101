import { commandLines } from "../api/command-lines.ts";
import { parseConfig, type Config } from "../config.ts";
import { createLeaderLookup, createZoneServers } from "../dns/index.ts";
import { createHeartbeat, createLeadershipGuard } from "../extension/index.ts";
import { serveHealth } from "../health.ts";
import { createKubeClient, untrusted } from "../kube/index.ts";
import { findEnvironment } from "../local/environment/file.ts";
import type { Environment } from "../local/environment/environment.ts";
import { connectMachines } from "../local/machine-api/connect.ts";
import { createMachines } from "../local/machine/machines.ts";
import { createLogger } from "../log.ts";
import { partsOf } from "./dns/name-server.ts";
import type { DefaultNameServer } from "./dns/record.ts";
import { createGardenProvider } from "./garden.ts";
import { createProvider, type Provider } from "./provider.ts";
import { createSelfHostedProvider } from "./self-hosted/provider.ts";

const config = readConfig();
const seed = "seedName" in config ? config.seedName : undefined;
const log = createLogger({ name: "provider-local", level: config.logLevel });
const fieldManager = "provider-local"; // not the flows': theirs is fenced by epochs
const { client, provider } = await begin();
const namespace = "heartbeatNamespace" in config ? config.heartbeatNamespace : "default";
const heartbeat = createHeartbeat({ client, namespace, name: "provider-local", log });

let ready = false;
let stopping = false;
const health = await serveHealth({ port: config.healthPort, ready: () => ready });
process.once("SIGTERM", () => void stop());
process.once("SIGINT", () => void stop());
await start();

/** Where a provider acts is told by the one variable that only a provider of that place has. */
function readConfig() {
  const { PERENNIAL_SEED_NAME: seed, PERENNIAL_NETWORK_AGENT_IMAGE: image } = process.env;
  if (seed !== undefined) return parseConfig(process.env, "local provider of a seed");
  if (image !== undefined) return parseConfig(process.env, "local provider of a self-hosted cluster");
  return parseConfig(process.env, "local provider of the garden");
}

async function begin(): Promise<Running> {
  if ("seedName" in config) return await forSeed(config);
  return "networkAgentImage" in config ? inSelfHostedCluster(config) : forGarden(config);
}

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
  log.info({ seed, cluster: client.server }, "provider started");
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

/** The cluster is the one that the pod runs in, at the address that its environment names. */
function inSelfHostedCluster({
  networkAgentImage: name,
  networkAgentContent: content,
}: Config<"local provider of a self-hosted cluster">): Running {
  const client = createKubeClient({ inCluster: true }, { log, fieldManager, bounds: untrusted });
  return { client, provider: createSelfHostedProvider({ client, image: { name, content }, log }) };
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
  return { server: { ...partsOf(dnsServer), key: { file: dnsKeyFile } }, zone: domain };
}
