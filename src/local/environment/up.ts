import { appendFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { commandLines } from "../../api/command-lines.ts";
import { createLogger, type Logger } from "../../log.ts";
import { ensureEnvironment, type EnvironmentChoice } from "./file.ts";
import type { Environment } from "./environment.ts";
import { withLock } from "../binary/lock.ts";
import { requireMachineHost } from "../machine/host.ts";
import { startSupervisor } from "../process/own-processes.ts";
import { createProcesses } from "../process/processes.ts";
import { lockFile } from "./state-folder.ts";
import { readStatus, type EnvironmentStatus } from "./status.ts";
import { upstreamKinds, upstreamMachineKinds } from "./upstream.ts";
import { adoptClusters } from "./up-existing.ts";
import { makeClusters } from "./up-machines.ts";
import type { Webhooks } from "./webhooks.ts";
import { createPhases, type PhaseProgress, type PhaseTime } from "./phases.ts";

/** What is wanted. With `gardenKubeconfig`, clusters that exist already; else clusters are made on this machine. */
export interface UpOptions extends EnvironmentChoice {
  /** How many seeds are made; two unless told otherwise. */
  readonly seedCount?: number;
  /** Upstream's provider-local is to serve what it can: the ground for it is laid, and the built-in provider stands back. */
  readonly upstream?: boolean;
  /** As `upstream`, and its machines are those of Shoots. */
  readonly upstreamMachines?: boolean;
  /** The local provider of each seed is installed from its chart, by registration, and does not run beside the environment. */
  readonly providerLocal?: "chart";
  /** The garden becomes a management cluster of Cluster API: with its core manager, and our process beside it. */
  readonly clusterApi?: boolean;
  readonly gardenKubeconfig?: string;
  /** The kubeconfig files of the seeds that exist already, by the Seeds' names. */
  readonly seeds?: Readonly<Record<string, string>>;
  /** Only for clusters that exist already; others have webhooks always. */
  readonly webhooks?: Webhooks;
  readonly signal?: AbortSignal;
}

/** What runs afterwards, and how long each phase took. */
export type UpResult = EnvironmentStatus & { readonly phases: readonly PhaseTime[] };

/**
 * Brings an environment up and returns when everything in it is ready. It can be interrupted at any point and run again:
 * what is there is kept, what is missing is made, what changed is restarted.
 */
export async function up(
  options: UpOptions = {},
  onProgress: (progress: PhaseProgress) => void = () => {},
): Promise<UpResult> {
  const {
    gardenKubeconfig,
    seeds = {},
    seedCount = 2,
    upstream = false,
    providerLocal,
    webhooks,
    signal,
    clusterApi = false,
  } = options;
  if (gardenKubeconfig === undefined) requireMachines(seeds, seedCount);
  const left = leftTo(upstream, options.upstreamMachines);
  const environment = await ensureEnvironment({ ...options, ...(left && { left }) });
  requireSameProviders(environment, { left, providerLocal });
  const phases = createPhases(onProgress, signal);
  const log = await openLog(environment);
  const shared = { environment, processes: createProcesses(environment, log), log, run: phases.run, signal };
  await withLock(lockFile(environment), async () => {
    await requireSameMode(environment, gardenKubeconfig === undefined ? "machines" : "existing");
    if (gardenKubeconfig === undefined) await makeClusters(shared, { seedCount, clusterApi });
    else if (clusterApi) throw new Error("cannot start Cluster API's manager in a garden that exists: clusterctl does");
    else await adoptClusters(shared, { gardenKubeconfig, seeds, webhooks });
    await startSupervisor(shared);
  });
  const status = await readStatus(options);
  if (status === undefined) throw new Error(`environment ${environment.name} was taken down meanwhile`);
  return { ...status, phases: phases.times };
}

/** The environment's own log of what was done to it: logs/local.log. */
export async function openLog({ stateDir }: Pick<Environment, "stateDir">): Promise<Logger> {
  await mkdir(join(stateDir, "logs"), { recursive: true });
  const file = join(stateDir, "logs/local.log");
  return createLogger({ name: "local", level: "info", destination: { write: (line) => appendFileSync(file, line) } });
}

/** What the built-in provider of a new environment leaves to upstream's. */
function leftTo(upstream: boolean, machines = false): readonly string[] | undefined {
  if (machines) return upstreamMachineKinds;
  return upstream ? upstreamKinds : undefined;
}

function requireSameProviders(
  { name, bare, left, providerLocal }: Environment,
  asked: { readonly left: Environment["left"] | undefined; readonly providerLocal: UpOptions["providerLocal"] },
): void {
  if (bare) throw new Error(`cannot bring up environment ${name}: it is a set of bare machines; use another name`);
  if (asked.left !== undefined && asked.left.join() !== left?.join())
    throw new Error(`cannot make room for upstream's provider in environment ${name}: take it down first`);
  if (asked.providerLocal !== undefined && providerLocal !== asked.providerLocal)
    throw new Error(`cannot install the local provider in environment ${name}: take it down first`);
}

async function requireSameMode({ name, stateDir }: Environment, wanted: EnvironmentStatus["mode"]): Promise<void> {
  const status = await readStatus({ name, stateDir });
  if (status === undefined || status.clusters.length === 0 || status.mode === wanted) return;
  const has = status.mode === "machines" ? "clusters of its own" : "clusters that existed before it";
  throw new Error(`cannot bring up environment ${name} so: it has ${has}; take it down first, or use another name`);
}

const otherWay = `use clusters that exist already instead, such as kind's: ${commandLines.localUpOnClusters()}`;

function requireMachines(seeds: Readonly<Record<string, string>>, seedCount: number): void {
  if (Object.keys(seeds).length > 0)
    throw new Error("cannot use seeds that exist without a garden that exists: say --garden-kubeconfig, too");
  if (!(seedCount >= 1 && seedCount <= 7))
    throw new Error(`cannot make ${seedCount} seeds: an environment has one to seven`);
  requireMachineHost(otherWay);
}
