import { pinnedPath } from "../binary/binaries.ts";
import { kubeconfigFile } from "../cluster/clusters.ts";
import { webhookClientAuthority } from "../cluster/webhook-client.ts";
import { hashCode, hashFiles } from "./code.ts";
import type { DnsServer } from "./dns.ts";
import type { Environment } from "../environment/environment.ts";
import { machineApiSocket } from "../machine-api/calls.ts";
import { connectMachines } from "../machine-api/connect.ts";
import { ensureGatewayAccess, gatewayName } from "./gateway.ts";
import { identityFile } from "./identities.ts";
import { withEnvironmentNames } from "./name-resolution.ts";
import { createPorts } from "./ports.ts";
import type { Processes, ProcessSpec } from "./processes.ts";
import { supervisorName } from "../supervisor/supervisor.ts";
import { settleAll } from "../environment/settle.ts";
import { ensureStateKeys } from "../environment/state-keys.ts";
import type { TemporalServer } from "./temporal.ts";
import type { Webhooks } from "../environment/webhooks.ts";
import { mainOf } from "../../package.ts";
import { variables, type Variable } from "../../variables.ts";

/** The environment that our own processes run in, and the servers that they connect to. */
export interface OwnProcesses {
  readonly environment: Environment;
  readonly processes: Processes;
  readonly temporal: Pick<TemporalServer, "address" | "namespace">;
  readonly seeds: readonly string[];
  /** Where the local provider runs, too; it needs machines and the DNS server. */
  readonly dns?: DnsServer;
  /** In clusters that existed before: where their API server reaches the webhooks. Without it, the manager serves none. */
  readonly webhooks?: Webhooks | undefined;
  /** Whether the process of Cluster API's kinds runs, too. */
  readonly clusterApi?: boolean;
  readonly onProgress?: (detail: string) => void;
}

/**
 * Starts the Temporal gateway, then manager, workers, fences and, with machines, the local provider of the garden and of
 * each seed, and returns when all say that they are ready. One whose code, arguments or kubeconfig changed is restarted; one of
 * a seed that is no longer named is ended.
 */
export async function startOwnProcesses(own: OwnProcesses): Promise<void> {
  const { processes, onProgress } = own;
  const [gateway, ...specs] = await describeAll(own);
  const wanted = new Set([supervisorName, ...[gateway, ...specs].map((spec) => spec?.name)]);
  for (const { name } of await processes.list()) if (isOwn(name) && !wanted.has(name)) await processes.stop(name);
  if (gateway !== undefined) await processes.start(gateway); // all others begin by asking it
  let ready = 0;
  onProgress?.(`0 of ${specs.length} ready`);
  await settleAll(
    specs.map(async (spec) => {
      await processes.start(spec);
      onProgress?.(`${++ready} of ${specs.length} ready`);
    }),
  );
}

/** Starts what starts again what dies; it needs no other process to be there. */
export async function startSupervisor({
  environment,
  processes,
}: Pick<OwnProcesses, "environment" | "processes">): Promise<void> {
  const { name, stateDir } = environment;
  await processes.start({
    name: supervisorName,
    ...programOf("local/supervisor", name, stateDir),
    cwd: stateDir,
    version: await hashCode(),
  });
}

/** Starts the local provider of the garden and of each seed, and none of our other processes. */
export async function startProviders(own: Providers): Promise<void> {
  const specs = await Promise.all(describeProviders(own, await hashCode()));
  await settleAll(specs.map(async (spec) => await own.processes.start(spec)));
}

type Providers = Pick<OwnProcesses, "environment" | "processes" | "seeds"> & Required<Pick<OwnProcesses, "dns">>;

/** Whether a process is one of ours rather than a server that we use. */
export function isOwn(process: string): boolean {
  return /^(gateway|manager|cluster-api|machine-api|supervisor|worker-.+|fence-.+|provider-local-.+)$/.test(process);
}

async function describeAll(own: OwnProcesses): Promise<ProcessSpec[]> {
  const { environment, processes, seeds, dns } = own;
  const ofMachines = { host: environment.gateway, clientCaFile: webhookClientAuthority(environment) };
  const webhooks = dns === undefined ? own.webhooks : ofMachines;
  const running = (await processes.list()).some((process) => process.name === gatewayName && process.running);
  const access = await ensureGatewayAccess({ ...own, running });
  const code = await hashCode();
  const keysOf = (holder: string) => ensureStateKeys(environment, holder);
  const describe = async (name: string, folder: string, args: readonly string[], more: Extras = {}) =>
    await describeProcess(own, code, { name, folder, args, ...more });
  const withNames = async (spec: Promise<ProcessSpec>) => {
    const { command, args, ...rest } = await spec;
    return { ...rest, ...(await withEnvironmentNames(environment, { command, args })) };
  };
  const all = [
    describe(gatewayName, "gateway", [], { settings: access.gateway, clusters: [] }),
    describe("manager", "manager", [], { settings: access.of("manager"), ...(webhooks && { webhooks }) }),
    describe("worker-garden", "worker", ["garden"], {
      settings: access.of("worker-garden"),
      stateKeys: await keysOf("garden"),
    }),
    ...seeds.map(async (seed) =>
      describe(`worker-${seed}`, "worker", ["seed"], {
        settings: { ...access.of(`worker-${seed}`), PERENNIAL_HELM: pinnedPath("helm") }, // got when it is needed
        seed,
        stateKeys: await keysOf(seed),
      }),
    ),
    ...(own.clusterApi
      ? [withNames(describe("cluster-api", "cluster-api", [], { ...(webhooks && { webhooks }) }))]
      : []),
    ...seeds.map((seed) => describe(`fence-${seed}`, "fence", [], { seed, clusters: [seed] })),
  ];
  if (dns !== undefined && environment.providerLocal !== "chart") all.push(...describeProviders({ ...own, dns }, code));
  if (dns !== undefined && environment.providerLocal === "chart")
    all.push(...describeProviders({ ...own, dns, seeds: [] }, code), Promise.resolve(describeMachineApi(own, code)));
  return await Promise.all(all);
}

function describeProviders(own: Providers, code: string): Promise<ProcessSpec>[] {
  const { dns, seeds } = own;
  const settings = { PERENNIAL_DNS_SERVER: dns.address, PERENNIAL_DNS_KEY_FILE: dns.keyFile };
  const describe = async (cluster: string, more: Extras) =>
    await describeProcess(own, code, {
      name: `provider-local-${cluster}`,
      folder: "provider-local",
      args: [],
      ...more,
    });
  return [describe("garden", {}), ...seeds.map((seed) => describe(seed, { seed, settings }))];
}

/** Providers in pods ask it for machines. */
function describeMachineApi({ environment }: Pick<OwnProcesses, "environment">, code: string): ProcessSpec {
  const { name, stateDir } = environment;
  return {
    name: "machine-api",
    ...programOf("local/machine-api", name, stateDir),
    env: { ...passedOn(), ...frugal.env },
    cwd: stateDir,
    version: code,
    ready: async () => {
      await connectMachines(machineApiSocket(environment)).list();
      return true;
    },
    readyTimeout: 60_000,
    grace: 30_000,
  };
}

interface Extras {
  readonly seed?: string;
  /** The file of the worker's private keys, which open ShootStates. */
  readonly stateKeys?: string;
  readonly webhooks?: Webhooks;
  /** The clusters that it talks to; the garden and its seed unless told otherwise. */
  readonly clusters?: readonly string[];
  /** Variables of its own. */
  readonly settings?: Readonly<Record<string, string>>;
}

async function describeProcess(
  { environment, processes, dns }: Pick<OwnProcesses, "environment" | "processes" | "dns">,
  code: string,
  { name, folder, args, ...extras }: Extras & { name: string; folder: string; args: readonly string[] },
): Promise<ProcessSpec> {
  const { seed, stateKeys, webhooks, settings = {} } = extras;
  const { clusters = ["garden", ...(seed === undefined ? [] : [seed])] } = extras;
  const ports = createPorts(environment);
  const running = (await processes.list()).some((process) => process.name === name && process.running);
  const health = await ports.claim({ owner: `${name}/health`, host: "0.0.0.0", running });
  // An extension's rights are its own affair; in clusters that existed before, we are who we were said to be.
  const asItself = dns !== undefined && folder !== "provider-local";
  const kubeconfig = (cluster: string) =>
    asItself ? identityFile(environment, name, cluster) : kubeconfigFile(environment, cluster);
  const files = Object.entries(settings).flatMap(([name, file]) => (name.endsWith("_FILE") ? [file] : []));
  const dependencies = [...clusters.map(kubeconfig), ...(stateKeys === undefined ? [] : [stateKeys]), ...files];
  return {
    name,
    cwd: environment.stateDir,
    ...programOf(folder, ...args),
    env: {
      ...passedOn(),
      ...frugal.env,
      ...(clusters.includes("garden") ? { PERENNIAL_GARDEN_KUBECONFIG: kubeconfig("garden") } : {}),
      PERENNIAL_HEALTH_PORT: String(health),
      PERENNIAL_STATE_DIR: environment.stateDir,
      PERENNIAL_ENVIRONMENT: environment.name,
      ...(dns === undefined ? {} : { PERENNIAL_DNS_RESOLVERS: dns.address, PERENNIAL_ZONE_KEY_FILE: dns.askKeyFile }),
      ...(seed === undefined ? {} : { PERENNIAL_SEED_NAME: seed, PERENNIAL_SEED_KUBECONFIG: kubeconfig(seed) }),
      ...(stateKeys === undefined ? {} : { PERENNIAL_STATE_KEYS_FILE: stateKeys }),
      ...(webhooks ? await webhookSettings(environment, name, webhooks, running) : {}),
      ...settings,
    },
    version: `${code} ${await hashFiles(dependencies)}`,
    ready: async () => await saysReady(health),
    readyTimeout: 180_000,
    grace: 30_000,
  };
}

/**
 * How Node keeps less than it would, as in the image: 4 MB for young objects in each thread in place of 16, which it never
 * gives back, and two arenas for native memory in place of eight per core.
 */
export const frugal = { flags: ["--max-semi-space-size=4"], env: { MALLOC_ARENA_MAX: "2" } } as const;

/**
 * What Node is told besides, by the process's folder. Of what `cluster-api` reads it remembers little: it collects garbage while the heap is small
 * rather than seldom. Among 1,000 Clusters it takes 150 MB so, in place of 204, and an eighth more CPU at the start (bench/README.md).
 */
export const flagsOf: Readonly<Record<string, readonly string[]>> = { "cluster-api": ["--optimize-for-size"] };

async function webhookSettings(
  environment: Environment,
  process: string,
  { host, clientCaFile }: Webhooks,
  running: boolean,
) {
  const preferred = process === "manager" ? { preferred: 9443 } : {};
  const port = await createPorts(environment).claim({ owner: `${process}/webhooks`, host, running, ...preferred });
  return {
    PERENNIAL_WEBHOOK_HOST: host,
    PERENNIAL_WEBHOOK_PORT: String(port),
    ...(clientCaFile === undefined ? {} : { PERENNIAL_WEBHOOK_CLIENT_CA_FILE: clientCaFile }),
  };
}

/** The variables that reach our processes from the surroundings of `up`, where they are set; no other one does. */
function passedOn(): Record<string, string> {
  const names = Object.entries<Variable>(variables).flatMap(([name, { passedOn }]) => (passedOn ? [name] : []));
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

function programOf(folder: string, ...args: readonly string[]): Pick<ProcessSpec, "command" | "args"> {
  const flags = ["--disable-warning=ExperimentalWarning", ...frugal.flags, ...(flagsOf[folder] ?? [])];
  return { command: process.execPath, args: [...flags, mainOf(folder), ...args] };
}

async function saysReady(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2_000) });
  return response.ok;
}
