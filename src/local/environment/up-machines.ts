import { createKubeClient, type KubeClient } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { ensureBinaries } from "../binary/binaries.ts";
import { applyAddons } from "../cluster/addons.ts";
import type { ControlPlane } from "../cluster/control-plane.ts";
import { ensureSeedNode } from "../cluster/node.ts";
import { startCluster, type RunningCluster } from "../cluster/clusters.ts";
import { startDns } from "../process/dns.ts";
import { clusterNetworks, hasMachinePods, installsExtensions, type Environment } from "./environment.ts";
import { prepareProvider } from "./installed-provider.ts";
import { serveMachineImages } from "./machine-pods.ts";
import { grantAccess } from "../process/identities.ts";
import { createImageStore } from "../image/store.ts";
import { applyCrds, applyFoundations } from "../cluster/manifests.ts";
import { ensureBridge } from "../network/bridge.ts";
import { applyObjects } from "../cluster/objects.ts";
import { startOwnProcesses } from "../process/own-processes.ts";
import { ensurePackages } from "../binary/packages.ts";
import type { Processes } from "../process/processes.ts";
import { settleAll } from "./settle.ts";
import { giveTunnelImages } from "./tunnel-images.ts";
import { startTemporal } from "../process/temporal.ts";
import { applyGround, binariesFor } from "./upstream.ts";
import type { createPhases } from "./phases.ts";
import { clusterApiBinaries, clusterBinaries, tunnelBinaries } from "../binary/versions.ts";
import { pinnedPath } from "../binary/binaries.ts";
import { furnishManagementCluster } from "../cluster-api/furnish.ts";
import { coreManagerName, startCoreManager } from "../cluster-api/core-manager.ts";

/** The environment that comes up, the processes in it, and the runner of its phases. */
export interface UpContext {
  readonly environment: Environment;
  readonly processes: Processes;
  readonly log: Logger;
  readonly run: ReturnType<typeof createPhases>["run"];
  readonly signal: AbortSignal | undefined;
}

/** Makes a garden and seeds on this machine, and everything around them. */
export async function makeClusters(context: UpContext, { seedCount, ...asked }: WantedClusters): Promise<void> {
  const { environment, processes, log, run, signal } = context;
  // What is there is kept, also when it is not asked for once more.
  const clusterApi = asked.clusterApi || (await processes.list()).some(({ name }) => name === coreManagerName);
  const seedNames = Array.from({ length: seedCount }, (_, index) => `seed-${index + 1}`);
  const cancel = signal === undefined ? {} : { signal };
  await run("packages", async (tell) => await ensurePackages({ onProgress: tell, ...cancel }));
  const binaries = await run("binaries", async (tell) => {
    const { temporal } = await ensureBinaries(["temporal"], { log, onProgress: tell, ...cancel });
    // Machines and images hold these: exactly the pinned, static ones, whatever is in PATH.
    const pinned = { log, onProgress: tell, pinned: true, ...cancel };
    const further = clusterApi ? clusterApiBinaries : [];
    await ensureBinaries([...tunnelBinaries, ...binariesFor(environment), ...further], pinned);
    return { ...(await ensureBinaries(clusterBinaries, pinned)), temporal };
  });
  await run("images", createImageStore(log));
  await run("network", async () => await ensureBridge(environment));
  const dns = await run("dns", async () => await startDns(environment, processes));
  const temporal = await run("temporal", async () => await startTemporal(environment, processes, binaries.temporal));
  const start = async (name: string, index: number) => await startControlPlane(context, binaries, name, index);
  const garden = await run("garden", async () => await start("garden", 0));
  const seeds = await run("seeds", async (tell) => {
    if (hasMachinePods(environment)) await serveMachineImages(context, tell);
    let ready = 0;
    const all = await settleAll(
      seedNames.map(async (name, index) => {
        const seed = await start(name, index + 1);
        await furnish(context, seed);
        tell(`${++ready} of ${seedNames.length} ready`);
        return seed;
      }),
    );
    await giveTunnelImages(environment, log);
    return all;
  });
  await run("crds", async () => {
    const define = (role: "garden" | "seed", cluster: RunningCluster) =>
      within(cluster, log, async (client) => {
        await applyCrds(client, role);
        await applyFoundations(client, role);
        if (role === "garden" && clusterApi) await furnishManagementCluster(client, signal);
        if (role === "seed" && installsExtensions(environment)) await applyGround(client, environment);
        await grantAccess({ environment, client, seeds: seedNames, clusterApi }, cluster);
      });
    await settleAll([define("garden", garden), ...seeds.map((seed) => define("seed", seed))]);
  });
  const image = await run("processes", async (tell) => {
    const image = environment.providerLocal === "chart" ? await prepareProvider(context, seedNames) : undefined;
    await startOwnProcesses({ environment, processes, temporal, dns, seeds: seedNames, clusterApi, onProgress: tell });
    const binary = pinnedPath("cluster-api-manager");
    if (clusterApi)
      await within(
        garden,
        log,
        async (client) => await startCoreManager({ environment, processes, binary, garden, client }),
      );
    return image;
  });
  // The manager judges the objects.
  await run("objects", async () => {
    await within(garden, log, async (client) => await applyObjects(client, environment, seedNames, { dns, image }));
  });
}

/** What is to be made: how many seeds, and what they and the garden are to be able to do beside the usual. */
export interface WantedClusters {
  readonly seedCount: number;
  /** The garden is a management cluster of Cluster API, too. */
  readonly clusterApi: boolean;
}

async function startControlPlane(
  { environment, processes, log }: UpContext,
  binaries: ControlPlane["binaries"],
  name: string,
  index: number,
): Promise<RunningCluster> {
  const networks = clusterNetworks(environment, name);
  const spec = { name, networks, scheduler: name !== "garden", port: 6443 + index };
  return await startCluster({ environment, processes, binaries, log }, spec);
}

async function furnish({ environment, log, signal }: UpContext, seed: RunningCluster): Promise<void> {
  await within(seed, log, async (client) => {
    await applyAddons(client, environment, seed.networks);
    await ensureSeedNode({ environment, log, ...(signal === undefined ? {} : { signal }) }, seed, client);
  });
}

async function within<T>(
  { kubeconfig }: Pick<RunningCluster, "kubeconfig">,
  log: Logger,
  work: (client: KubeClient) => Promise<T>,
): Promise<T> {
  const client = createKubeClient({ file: kubeconfig }, { log });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
