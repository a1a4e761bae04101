import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import type { Client } from "@temporalio/client";
import { connectTemporal } from "../../src/client/connect.ts";
import { createShootClient, type ShootClient } from "../../src/client/shoots.ts";
import { createKubeClient, type KubeClient } from "../../src/kube/index.ts";
import { kubeconfigFile } from "../../src/local/cluster/clusters.ts";
import { dnsServer } from "../../src/local/process/dns.ts";
import { ensureEnvironment } from "../../src/local/environment/file.ts";
import type { Environment } from "../../src/local/environment/environment.ts";
import { createMachines, type Machines } from "../../src/local/machine/machines.ts";
import { startOwnProcesses } from "../../src/local/process/own-processes.ts";
import { createProcesses } from "../../src/local/process/processes.ts";
import { readStatus } from "../../src/local/environment/status.ts";
import { up, type UpOptions } from "../../src/local/environment/up.ts";
import { createLogger, type Logger } from "../../src/log.ts";
import { sentBeyond, unwatchUplink, watchUplink } from "./uplink-watch.ts";

/** The environment of the e2e tests: real clusters, a real Temporal, and our own processes, two seeds. */
export interface LocalEnvironment {
  readonly environment: Environment;
  readonly gardenClient: KubeClient;
  /** The first seed, where tests create their Shoots unless they say otherwise. */
  readonly seedClient: KubeClient;
  readonly seeds: Readonly<Record<SeedName, KubeClient>>;
  readonly temporal: Client;
  readonly shoots: ShootClient;
  readonly machines: Machines;
  readonly log: Logger;
  /** SIGKILL to one of the environment's processes, and waits until it is gone. */
  kill(process: string): Promise<void>;
  /** SIGTERM to one of the environment's processes; ms until it is gone. */
  end(process: string): Promise<number>;
  /** Stops one of the environment's processes where it is, without its knowing; until `resume`. */
  pause(process: string): Promise<void>;
  resume(process: string): Promise<void>;
  /** Starts those of our processes that don't run and waits until all are ready; ms that it took. */
  restart(): Promise<number>;
  /** Runs the CLI as its users do and returns what it printed; throws what it said when it failed. */
  perennial(...args: readonly string[]): Promise<string>;
  /** Throws when packets of the environment's machines, or of pods on them, have left this host. */
  close(): Promise<void>;
}

/**
 * The name of the e2e tests' environment: no other is touched by them. PERENNIAL_E2E names one that is kept from run to
 * run, for looking around in it and for working on the tests.
 */
export const environmentName = process.env["PERENNIAL_E2E"] ?? "e2e";

/** The seeds of the environment. */
export type SeedName = "seed-1" | "seed-2";

const seedNames: readonly SeedName[] = ["seed-1", "seed-2"];

/** Short enough for tests, long enough for two busy cores; seconds. */
const durations = {
  PERENNIAL_LEASE_SECONDS: "5",
  PERENNIAL_DNS_TTL_SECONDS: "20",
  PERENNIAL_SEED_DEADLINE_SECONDS: "20",
  PERENNIAL_BACKUP_GRACE_HOURS: "0",
};

/**
 * Connects to the environment, which is brought up first where it isn't. Whoever names one takes it down;
 * `test/support/e2e-setup.ts` does that for the tests.
 */
export async function localEnvironment(
  name = environmentName,
  wish: Pick<UpOptions, "upstream" | "upstreamMachines" | "providerLocal" | "clusterApi"> = {},
): Promise<LocalEnvironment> {
  if (process.getuid?.() !== 0) throw new Error("the local environment needs root: run this as root");
  const status = await readStatus({ name });
  const isUp = status?.processes.some(({ name }) => name === "manager") && status.processes.every((one) => one.running);
  Object.assign(process.env, durations);
  if (!isUp) await up({ name, seedCount: seedNames.length, ...wish });
  const environment = await ensureEnvironment({ name });
  await watchUplink(environment);
  return await connect(environment);
}

async function connect(environment: Environment): Promise<LocalEnvironment> {
  const log = createLogger({ name: "e2e", level: "silent" });
  const processes = createProcesses(environment, log);
  const address = await temporalAddress(environment);
  const temporal = await connectTemporal({ address, namespace: "default" });
  const clientOf = (name: string) => createKubeClient({ file: kubeconfigFile(environment, name) }, { log });
  const gardenClient = clientOf("garden");
  const seeds = { "seed-1": clientOf("seed-1"), "seed-2": clientOf("seed-2") };

  const find = async (name: string) => (await processes.list()).find((one) => one.name === name);
  const pidOf = async (name: string) => {
    const pid = (await find(name))?.pid;
    if (pid === undefined) throw new Error(`cannot signal ${name}: it does not run`);
    return pid;
  };
  const signalled = async (name: string, signal: NodeJS.Signals): Promise<number> => {
    const [pid, begin] = [await pidOf(name), performance.now()];
    process.kill(pid, signal);
    while ((await find(name))?.pid === pid) await new Promise((resolve) => setTimeout(resolve, 10));
    return Math.round(performance.now() - begin);
  };
  return {
    ...{ environment, gardenClient, seedClient: seeds["seed-1"], seeds, temporal, log },
    shoots: createShootClient(temporal),
    machines: createMachines(environment, log),
    pause: async (name) => void process.kill(await pidOf(name), "SIGSTOP"),
    resume: async (name) => void process.kill(await pidOf(name), "SIGCONT"),
    kill: async (name) => void (await signalled(name, "SIGKILL")),
    end: async (name) => await signalled(name, "SIGTERM"),
    async restart() {
      const begin = performance.now();
      const server = { address, namespace: "default" };
      await startOwnProcesses({
        environment,
        processes,
        temporal: server,
        seeds: seedNames,
        dns: dnsServer(environment),
      });
      return Math.round(performance.now() - begin);
    },
    perennial: async (...args) => await runCli(environment, args),
    async close() {
      await Promise.all([gardenClient, ...Object.values(seeds)].map((client) => client.close()));
      await temporal.connection.close();
      const left = await sentBeyond(environment);
      await unwatchUplink(environment);
      if (left.length > 0) throw new Error(`packets of machines have left this host, for ${left.join(", ")}`);
    },
  };
}

async function temporalAddress({ stateDir }: Environment): Promise<string> {
  const ports = JSON.parse(await readFile(join(stateDir, "ports.json"), "utf8")) as Record<string, number>;
  return `127.0.0.1:${ports["temporal"]}`;
}

async function runCli({ name }: Environment, args: readonly string[]): Promise<string> {
  const program = join(import.meta.dirname, "../../bin/perennial");
  const { PATH = "", HOME = "" } = process.env;
  const env = { PATH, HOME, PERENNIAL_ENVIRONMENT: name };
  const { stdout } = await execa(program, args, { env, extendEnv: false, timeout: 60_000 });
  return stdout;
}
