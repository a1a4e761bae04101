import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseKubeconfig } from "../../kube/index.ts";
import { createLogger } from "../../log.ts";
import { isOwn } from "../process/own-processes.ts";
import { findEnvironment, type EnvironmentChoice } from "./file.ts";
import type { MachineStatus } from "../machine/machine.ts";
import { createMachines } from "../machine/machines.ts";
import { createPorts } from "../process/ports.ts";
import { createProcesses, type ProcessStatus } from "../process/processes.ts";

/** A cluster that the environment knows. */
export interface ClusterStatus {
  readonly name: string;
  readonly kubeconfig: string;
  readonly server: string;
}

/** What there is of an environment, and where; plain data. */
export interface EnvironmentStatus {
  readonly name: string;
  readonly stateDir: string;
  /** Whether its clusters were made on machines of this host or existed before. */
  readonly mode: "machines" | "existing";
  readonly clusters: readonly ClusterStatus[];
  readonly temporal?: { readonly address: string; readonly ui: string };
  readonly dns?: { readonly address: string; readonly domain: string };
  /** All processes: those that we use, then our own. */
  readonly processes: readonly ProcessStatus[];
  readonly machines: readonly MachineStatus[];
  readonly ports: Readonly<Record<string, number>>;
}

/** What runs in an environment, or undefined when it is not up at all. */
export async function readStatus(choice: EnvironmentChoice = {}): Promise<EnvironmentStatus | undefined> {
  const environment = await findEnvironment(choice);
  if (environment === undefined) return undefined;
  const { name, stateDir, gateway, domain } = environment;
  const log = createLogger({ name: "local", level: "silent" });
  const processes = await createProcesses(environment, log).list();
  const ports = await createPorts(environment).list();
  const { temporal, "temporal-ui": ui } = ports;
  const dns = processes.some((process) => process.name === "dns") ? { address: gateway, domain } : undefined;
  return {
    ...{ name, stateDir, ports },
    mode: dns === undefined ? "existing" : "machines",
    clusters: await readClusters(join(stateDir, "kubeconfigs")),
    ...(temporal === undefined ? {} : { temporal: { address: `127.0.0.1:${temporal}`, ui: `http://127.0.0.1:${ui}` } }),
    ...(dns === undefined ? {} : { dns }),
    processes: [...processes.filter(({ name }) => !isOwn(name)), ...processes.filter(({ name }) => isOwn(name))],
    machines: await createMachines(environment, log).list(),
  };
}

async function readClusters(folder: string): Promise<ClusterStatus[]> {
  const files = (await readdir(folder).catch(() => [])).filter((file) => file.endsWith(".yaml")).sort();
  return await Promise.all(
    files.map(async (file) => {
      const kubeconfig = join(folder, file);
      const { server } = parseKubeconfig(await readFile(kubeconfig, "utf8"), folder);
      return { name: file.slice(0, -".yaml".length), kubeconfig, server };
    }),
  );
}
