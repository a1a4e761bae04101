import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TemporalAddress } from "../client/connect.ts";
import type { createGardenBinding } from "../client/garden-binding.ts";
import type { ProcessStatus } from "../local/process/processes.ts";
import type { ClusterOptions, Context, Garden, Variables } from "./context.ts";
import { CliError } from "./exit.ts";
import { findKubeconfig, findManagementKubeconfig, requireGarden } from "./garden.ts";
import { readKubeconfig, type KubeconfigFile } from "./kubeconfig-file.ts";
import { text } from "./option.ts";
import type { OpenContext } from "./process.ts";
import type { Terminal } from "./display/terminal.ts";

/** The options of every verb that talks to clusters. */
export const clusterOptions = {
  kubeconfig: text(
    "file",
    "Kubeconfig of the garden [$PERENNIAL_GARDEN_KUBECONFIG, $KUBECONFIG, the local environment's]",
  ),
  temporal: text("address", "Temporal's host:port [$PERENNIAL_TEMPORAL_ADDRESS, the local environment's]"),
  temporalNamespace: text("name", "Temporal's namespace [$PERENNIAL_TEMPORAL_NAMESPACE, default]"),
} as const;

/** The option of verbs that talk to a cluster with Cluster API's objects. */
export const managementOptions = {
  kubeconfig: text(
    "file",
    "Kubeconfig of the management cluster [$PERENNIAL_MANAGEMENT_KUBECONFIG, else the garden's]",
  ),
} as const;

/** What a context is made from; everything that a verb can reach goes through it. */
export interface ContextDeps {
  readonly terminal: Terminal;
  readonly variables: Variables;
  readonly signal: AbortSignal;
}

/** A context that connects on demand, importing what it needs then; `close` ends every connection. */
export function createContext({ terminal, variables, signal }: ContextDeps): OpenContext<Context> {
  const closers: (() => Promise<void>)[] = [];

  async function connect(kubeconfig: KubeconfigFile): Promise<Garden> {
    const { file } = kubeconfig;
    const { namespace } = await readKubeconfig(kubeconfig);
    const { createKubeClient } = await import("../kube/index.ts");
    const onWarning = (text: string) => void terminal.err.write(`warning: ${text}\n`);
    const client = createKubeClient({ file }, { userAgent: "perennial-cli", onWarning });
    closers.push(() => client.close());
    return { client, namespace };
  }

  /** A garden that cannot be asked now does not keep an operator from Temporal. */
  const requireSameGarden = async (temporal: TemporalClient, options: ClusterOptions) => {
    const bindings = await import("../client/garden-binding.ts");
    const { readClusterIdentity } = await import("../kube/index.ts");
    const { createMemory, GARDEN_ROLE } = await import("../binding/memory.ts");
    const read = async () => {
      const { client } = await context.garden(options);
      return { client, identity: await readClusterIdentity(client) };
    };
    const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), LONGEST_QUESTION).unref());
    const garden = await Promise.race([read().catch(() => undefined), late]);
    if (garden === undefined) return;
    await bindings.createGardenBinding(temporal, garden.identity).check();
    await bindings.createGardenConfirmation(temporal, createMemory(garden.client, GARDEN_ROLE)).check();
  };

  const connectUnchecked = async (options: ClusterOptions) => {
    const { connectTemporal } = await import("../client/connect.ts");
    const temporal = await temporalAddress(options, variables);
    const client = await connectTemporal(temporal).catch((cause: unknown) => {
      const message = `cannot reach Temporal at ${temporal.address}: name its address with --temporal`;
      throw new CliError("unreachable", message, { cause });
    });
    closers.push(() => client.connection.close());
    return client;
  };
  const connectFlows = async (options: ClusterOptions) => {
    const client = await connectUnchecked(options);
    await requireSameGarden(client, options);
    return client;
  };

  const context: Context = {
    terminal,
    variables,
    signal,
    now: () => Date.now(),
    async garden(options) {
      const kubeconfig = findKubeconfig(options.kubeconfig, variables, await stateDir(variables));
      const garden = await connect(kubeconfig);
      await requireGarden(garden.client, kubeconfig);
      return garden;
    },
    async management(options) {
      return await connect(findManagementKubeconfig(options.kubeconfig, variables, await stateDir(variables)));
    },
    async seed(name) {
      const file = join(await stateDir(variables), "kubeconfigs", `${name}.yaml`);
      return existsSync(file) ? (await connect({ file, called: file })).client : undefined;
    },
    processes: async ({ client }) => await readProcesses(await stateDir(variables), client.server),
    async flows(options) {
      const { createShootClient } = await import("../client/shoots.ts");
      return createShootClient(await connectFlows(options));
    },
    leaders: async () => await createLookup(variables),
    async installations(options) {
      const { createInstallationClient } = await import("../client/installations.ts");
      return createInstallationClient(await connectFlows(options));
    },
    async gardenRegister(options) {
      const { createGardenRegister } = await import("../client/garden-register.ts");
      return createGardenRegister(await connectUnchecked(options));
    },
  };
  return { context, close: async () => void (await Promise.allSettled(closers.map((close) => close()))) };
}

/** In ms. */
const LONGEST_QUESTION = 3_000;

type TemporalClient = Parameters<typeof createGardenBinding>[0];

/** Asks the servers that the variables name, or else those that resolvers know; the local environment's where it exists. */
async function createLookup(variables: Variables) {
  const { PERENNIAL_DNS_RESOLVERS, PERENNIAL_ZONE_SERVERS, PERENNIAL_ZONE_KEY_FILE } = variables;
  const { createLeaderLookup, createZoneServers } = await import("../dns/index.ts");
  const [resolvers, servers] = [listOf(PERENNIAL_DNS_RESOLVERS), listOf(PERENNIAL_ZONE_SERVERS)];
  const named = { resolvers, servers, ...(PERENNIAL_ZONE_KEY_FILE && { keyFile: PERENNIAL_ZONE_KEY_FILE }) };
  const local = resolvers.length + servers.length === 0 ? await localDns(variables) : undefined;
  return createLeaderLookup(createZoneServers({ ...named, ...local }));
}

const listOf = (text = ""): string[] => text.split(",").flatMap((one) => one.trim() || []);

async function localDns(variables: Variables) {
  const { findEnvironment } = await import("../local/environment/file.ts");
  const { PERENNIAL_ENVIRONMENT: name, PERENNIAL_STATE_DIR: directory } = variables;
  const environment = await findEnvironment({ ...(name && { name }), ...(directory && { stateDir: directory }) });
  if (environment === undefined) return undefined;
  const { dnsServer } = await import("../local/process/dns.ts");
  const { address, askKeyFile } = dnsServer(environment);
  return existsSync(askKeyFile) ? { resolvers: [address], keyFile: askKeyFile } : undefined;
}

/** The state directory of the local environment, whether it exists or not. */
export async function stateDir(variables: Variables): Promise<string> {
  const { stateDirectory } = await import("../local/environment/file.ts");
  const { PERENNIAL_ENVIRONMENT: name, PERENNIAL_STATE_DIR: stateDir } = variables;
  return stateDirectory({ ...(name && { name }), ...(stateDir && { stateDir }) });
}

async function readProcesses(stateDir: string, server: string): Promise<ProcessStatus[]> {
  const file = join(stateDir, "kubeconfigs", "garden.yaml");
  if (!existsSync(file) || (await readKubeconfig({ file, called: file })).server !== server) return [];
  const { createProcesses } = await import("../local/process/processes.ts");
  const { createLogger } = await import("../log.ts");
  return await createProcesses({ stateDir }, createLogger({ name: "cli", level: "silent" })).list();
}

/**
 * Where Temporal is and as whom it is asked: the option or the variables, with the files that the variables name; else the
 * local environment's gateway, as its operator; else the usual port of this machine.
 */
export async function temporalAddress(options: ClusterOptions, variables: Variables): Promise<TemporalAddress> {
  const namespace = options.temporalNamespace ?? variables.PERENNIAL_TEMPORAL_NAMESPACE ?? "default";
  const named = options.temporal ?? variables.PERENNIAL_TEMPORAL_ADDRESS;
  const local = named === undefined ? await localGateway(variables) : undefined;
  const payloadKeysFile = variables.PERENNIAL_PAYLOAD_KEYS_FILE;
  if (local !== undefined) return { namespace, ...(payloadKeysFile && { payloadKeysFile }), ...local };
  return {
    address: named ?? "127.0.0.1:7233",
    namespace,
    caFile: variables.PERENNIAL_TEMPORAL_CA_FILE,
    certFile: variables.PERENNIAL_TEMPORAL_CERT_FILE,
    keyFile: variables.PERENNIAL_TEMPORAL_KEY_FILE,
    serverName: variables.PERENNIAL_TEMPORAL_SERVER_NAME,
    apiKeyFile: variables.PERENNIAL_TEMPORAL_API_KEY_FILE,
    payloadKeysFile,
  };
}

async function localGateway(variables: Variables) {
  const { findGateway } = await import("../local/process/gateway.ts");
  return await findGateway({ stateDir: await stateDir(variables) });
}
