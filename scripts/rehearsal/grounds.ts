import { execa } from "execa";
import { createKubeClient, type KubeClient } from "../../src/kube/index.ts";
import { ensureBinaries } from "../../src/local/binary/binaries.ts";
import { ensurePackages } from "../../src/local/binary/packages.ts";
import { clusterBinaries } from "../../src/local/binary/versions.ts";
import { applyAddons } from "../../src/local/cluster/addons.ts";
import { startCluster, type RunningCluster } from "../../src/local/cluster/clusters.ts";
import { ensureSeedNode } from "../../src/local/cluster/node.ts";
import { down } from "../../src/local/environment/down.ts";
import { clusterNetworks, type Environment } from "../../src/local/environment/environment.ts";
import { ensureEnvironment } from "../../src/local/environment/file.ts";
import { openLog } from "../../src/local/environment/up.ts";
import { createImageStore } from "../../src/local/image/store.ts";
import { createMachines } from "../../src/local/machine/machines.ts";
import { ensureBridge } from "../../src/local/network/bridge.ts";
import { startDns, type DnsServer } from "../../src/local/process/dns.ts";
import { startProviders } from "../../src/local/process/own-processes.ts";
import { createProcesses, type Processes } from "../../src/local/process/processes.ts";
import type { Logger } from "../../src/log.ts";

/** A garden and a seed that run pods, the DNS, and the local provider: all that a Shoot needs but Perennial itself. */
export interface Grounds {
  readonly environment: Environment;
  readonly processes: Processes;
  readonly binaries: Readonly<Record<(typeof clusterBinaries)[number] | "temporal", string>>;
  readonly dns: DnsServer;
  readonly garden: Ground;
  readonly seed: Ground;
  readonly log: Logger;
}

/** A cluster of the grounds. */
export interface Ground extends RunningCluster {
  readonly client: KubeClient;
  /** Runs kubectl as its administrator, and returns what it says. */
  kubectl(args: readonly string[], input?: string): Promise<string>;
}

/** The Seed's name. */
export const seedName = "seed-1";

/** The environment's name: what another has made is not touched. */
const name = "rehearsal";

/**
 * Makes the grounds for `rehearse` and takes them away afterwards. Neither CRDs nor any process of ours but the local
 * provider is there: bringing them is what is rehearsed.
 */
export async function onGrounds<T>(rehearse: (grounds: Grounds) => Promise<T>): Promise<T> {
  await clearGrounds();
  try {
    const grounds = await make();
    try {
      return await rehearse(grounds);
    } finally {
      await Promise.all([grounds.garden.client.close(), grounds.seed.client.close()]);
    }
  } finally {
    await clearGrounds();
  }
}

/** Takes the grounds away, also those that a killed rehearsal has left, and from under one that runs, which then fails. */
export async function clearGrounds(): Promise<void> {
  await down({ name });
}

/** Starts the local provider, which acts once the CRDs are there. */
export async function startProvider({ environment, processes, dns }: Grounds): Promise<void> {
  await startProviders({ environment, processes, dns, seeds: [seedName] });
}

/** Puts the image into the node of a cluster, as no registry is at hand. */
export async function loadImage({ environment, log }: Grounds, cluster: Ground, tar: string): Promise<void> {
  await createMachines(environment, log).loadImage(cluster.name, { name: tar, tar });
}

async function make(): Promise<Grounds> {
  const environment = await ensureEnvironment({ name });
  const log = await openLog(environment);
  const processes = createProcesses(environment, log);
  await ensurePackages();
  const binaries = await ensureBinaries([...clusterBinaries, "temporal"], { log, pinned: true });
  await createImageStore(log)();
  await ensureBridge(environment);
  const dns = await startDns(environment, processes);
  const start = async (name: string, port: number): Promise<Ground> => {
    const networks = clusterNetworks(environment, name);
    const spec = { name, networks, scheduler: true, port };
    const cluster = await startCluster({ environment, processes, binaries, log }, spec);
    const client = createKubeClient({ file: cluster.kubeconfig }, { log });
    await applyAddons(client, environment, networks);
    await ensureSeedNode({ environment, log }, cluster, client);
    return { ...cluster, client, kubectl: kubectlOf(binaries.kubectl, cluster.kubeconfig) };
  };
  const [garden, seed] = [await start("garden", 6443), await start(seedName, 6444)];
  return { environment, processes, binaries, dns, garden, seed, log };
}

const kubectlOf =
  (kubectl: string, kubeconfig: string): Ground["kubectl"] =>
  async (args, input) => {
    const stdin = input === undefined ? { stdin: "ignore" as const } : { input };
    const { stdout } = await execa(kubectl, ["--kubeconfig", kubeconfig, ...args], stdin);
    return stdout;
  };
