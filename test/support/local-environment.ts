import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import type { Client } from "@temporalio/client";
import { connectTemporal } from "../../src/client/connect.ts";
import { createShootClient, type ShootClient } from "../../src/client/shoots.ts";
import { createKubeClient, type KubeClient } from "../../src/kube/index.ts";
import { kubeconfigFile } from "../../src/local/clusters.ts";
import { dnsServer } from "../../src/local/dns.ts";
import { ensureEnvironment } from "../../src/local/environment-file.ts";
import type { Environment } from "../../src/local/environment.ts";
import { createMachines, type Machines } from "../../src/local/machine.ts";
import { startOwnProcesses } from "../../src/local/own-processes.ts";
import { createProcesses } from "../../src/local/processes.ts";
import { readStatus } from "../../src/local/status.ts";
import { up } from "../../src/local/up.ts";
import { createLogger, type Logger } from "../../src/log.ts";

/** The environment of the e2e tests: real clusters, a real Temporal, and our own processes, one seed. */
export interface LocalEnvironment {
  readonly environment: Environment;
  readonly garden: KubeClient;
  readonly seed: KubeClient;
  readonly temporal: Client;
  readonly shoots: ShootClient;
  readonly machines: Machines;
  readonly log: Logger;
  /** SIGKILL to one of the environment's processes, and waits until it is gone. */
  kill(process: string): Promise<void>;
  /** Starts those of our processes that don't run and waits until all are ready; ms that it took. */
  restart(): Promise<number>;
  /** Runs the CLI as its users do and returns what it printed; throws what it said when it failed. */
  perennial(...args: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

/**
 * The name of the e2e tests' environment: no other is touched by them. PERENNIAL_E2E names one that is kept from run to
 * run, for looking around in it and for working on the tests.
 */
export const environmentName = process.env["PERENNIAL_E2E"] ?? "e2e";

const seedName = "seed-1";

/** Connects to the environment, which is brought up first where it isn't; `test/support/e2e-setup.ts` takes it down. */
export async function localEnvironment(): Promise<LocalEnvironment> {
  if (process.getuid?.() !== 0) throw new Error("the local environment needs root: run this test as root");
  const status = await readStatus({ name: environmentName });
  const isUp = status?.processes.some(({ name }) => name === "manager") && status.processes.every((one) => one.running);
  if (!isUp) await up({ name: environmentName, seedCount: 1 });
  return await connect(await ensureEnvironment({ name: environmentName }));
}

async function connect(environment: Environment): Promise<LocalEnvironment> {
  const log = createLogger({ name: "e2e", level: "silent" });
  const processes = createProcesses(environment, log);
  const address = await temporalAddress(environment);
  const temporal = await connectTemporal({ address, namespace: "default" });
  const [garden, seed] = ["garden", seedName].map((name) =>
    createKubeClient({ file: kubeconfigFile(environment, name) }, { log }),
  );
  if (garden === undefined || seed === undefined) throw new Error("there are two clusters");

  const find = async (name: string) => (await processes.list()).find((one) => one.name === name);
  return {
    ...{ environment, garden, seed, temporal, log },
    shoots: createShootClient(temporal),
    machines: createMachines(environment, log),
    async kill(name) {
      const pid = (await find(name))?.pid;
      if (pid === undefined) throw new Error(`cannot kill ${name}: it does not run`);
      process.kill(pid, "SIGKILL");
      while ((await find(name))?.running) await new Promise((resolve) => setTimeout(resolve, 10));
    },
    async restart() {
      const begin = performance.now();
      const server = { address, namespace: "default" };
      await startOwnProcesses({
        environment,
        processes,
        temporal: server,
        seeds: [seedName],
        dns: dnsServer(environment),
      });
      return Math.round(performance.now() - begin);
    },
    perennial: async (...args) => await runCli(environment, args),
    async close() {
      await Promise.all([garden.close(), seed.close(), temporal.connection.close()]);
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
