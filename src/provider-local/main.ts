import { parseConfig, required } from "../config.ts";
import { createHeartbeat } from "../extension/index.ts";
import { serveHealth } from "../health.ts";
import { createKubeClient } from "../kube/index.ts";
import { findEnvironment } from "../local/environment-file.ts";
import type { Environment } from "../local/environment.ts";
import { createMachines } from "../local/machine.ts";
import { createLogger } from "../log.ts";
import type { DefaultNameServer } from "./dns-record.ts";
import { createProvider } from "./provider.ts";

const config = parseConfig(process.env);
const log = createLogger({ name: "provider-local", level: config.logLevel });
const seed = required(config.seedName, "PERENNIAL_SEED_NAME");
const client = createKubeClient({ file: required(config.seedKubeconfig, "PERENNIAL_SEED_KUBECONFIG") }, { log });
const environment = await loadEnvironment();
const nameServer = findNameServer(environment);

const provider = createProvider({
  ...{ client, seed, environment, log },
  machines: createMachines(environment, log),
  ...(nameServer ? { nameServer } : {}),
});
const heartbeat = createHeartbeat({ client, namespace: "default", name: "provider-local", log });

let ready = false;
const health = await serveHealth({ port: config.healthPort, ready: () => ready });
process.once("SIGTERM", () => void stop());
process.once("SIGINT", () => void stop());
await provider.start();
heartbeat.start();
ready = true;
log.info({ seed, environment: environment.name }, "provider started");

/** A second signal ends the process at once, because the handlers are gone by then. */
async function stop(): Promise<void> {
  ready = false;
  await Promise.all([provider.stop(), heartbeat.stop()]);
  await Promise.all([health.stop(), client.close()]);
  log.info({ seed }, "provider stopped");
}

async function loadEnvironment(): Promise<Environment> {
  const { environment: name, stateDir } = config;
  const found = await findEnvironment({ name, ...(stateDir === undefined ? {} : { stateDir }) });
  if (found) return found;
  throw new Error(`cannot start: there is no environment ${name}; make it with "perennial local up"`);
}

function findNameServer({ domain }: Environment): DefaultNameServer | undefined {
  const { dnsServer, dnsKeyFile } = config;
  if (dnsServer === undefined || dnsKeyFile === undefined) return undefined;
  const [address = dnsServer, port] = dnsServer.split(/:(?=\d+$)/);
  const server = { address, key: { file: dnsKeyFile }, ...(port === undefined ? {} : { port: Number(port) }) };
  return { server, zone: domain };
}
