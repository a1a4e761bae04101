import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addStateKey } from "../../src/activities/state/keys.ts";
import { createLeaderLookup, createZoneServers } from "../../src/dns/index.ts";
import * as extension from "../../src/extension/index.ts";
import { createKubeClient, createReflector, refOf, Service, type KubeClient } from "../../src/kube/index.ts";
import { createLogger, type Logger } from "../../src/log.ts";
import { createBuckets } from "../../src/provider-local/backup/buckets.ts";
import { startControlPlane, type ControlPlane } from "../support/control-plane.ts";
import { applyCrds, applyFoundations } from "../../src/local/cluster/manifests.ts";
import { claimDirectory, controlPlanePrefix } from "../support/leftovers.ts";
import { startNameServer, type TestNameServer } from "../support/name-server.ts";
import { createOwnProcess, type OwnProcess } from "../support/own-process.ts";
import { startTemporal, type TemporalServer } from "../support/temporal.ts";
import { startApiServers } from "./api-servers.ts";
import { createCloud, type Cloud } from "./cloud.ts";
import { createControlPlanes, type ControlPlanes } from "./control-planes.ts";
import { createExtensions, createGardenExtension } from "./extensions.ts";
import { applyGarden } from "./garden.ts";
import { startKubelet } from "./kubelet.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { startNamespaces } from "./namespaces.ts";
import { seedAddresses } from "./network.ts";
import { startNodeLeases } from "./node-leases.ts";
import { startSeedCluster, type SeedCluster } from "./seed-cluster.ts";
import { createVolumes } from "./volumes.ts";

/** The seeds of the lab. */
export const seedNames = ["seed-1", "seed-2"] as const;

/** The name of one of our processes. */
export type ProcessName = "manager" | "worker-garden" | `${"worker" | "fence"}-${(typeof seedNames)[number]}`;

/** What dies by SIGKILL and can be started again. */
export interface Killable {
  kill(): Promise<void>;
  restart(): Promise<void>;
}

/**
 * A garden and two seeds with real API servers and controllers, a real Temporal and a real name server, and our own
 * processes on them. Kubelets, the cloud and the Shoots' own API servers are played by this process.
 */
export interface Lab {
  readonly garden: ControlPlane;
  readonly seeds: ReadonlyMap<string, SeedCluster>;
  readonly shoots: KubeClient;
  readonly temporal: TemporalServer;
  readonly dns: TestNameServer;
  /** All servers of the zone, the one that takes updates and its copy: gone and back together. */
  readonly zone: Killable;
  readonly processes: ReadonlyMap<ProcessName, OwnProcess>;
  readonly cloud: Cloud;
  readonly controlPlanes: ControlPlanes;
  readonly ledger: Ledger;
  /** How long a look at a leadership record is good for. */
  readonly leaseSeconds: number;
  stop(): Promise<void>;
}

/** Starts everything in about ten seconds; the addresses of the seeds have to be this machine's. */
export async function startLab({ leaseSeconds }: Pick<Lab, "leaseSeconds">): Promise<Lab> {
  const log = createLogger({ name: "lab", level: "error" });
  const stops: (() => unknown)[] = [];
  const [garden, backend, temporal, dns, ...clusters] = await Promise.all([
    persistently(() => startControlPlane()),
    persistently(() =>
      startControlPlane({ flags: ["--allow-privileged=true", "--service-cluster-ip-range=10.190.0.0/16"] }),
    ),
    startTemporal({ keepsFile: true }),
    startNameServer("test"),
    ...seedNames.map((name) => persistently(() => startSeedCluster(name))),
  ]);
  await applyCrds(garden.client, "garden");
  await applyFoundations(garden.client, "garden");
  await applyGarden(garden.client, seedNames, dns);

  const directory = await mkdtemp(join(tmpdir(), controlPlanePrefix));
  await claimDirectory(directory);
  const [ledger, cloud, buckets] = [
    createLedger(),
    createCloud(backend.client),
    createBuckets(join(directory, "buckets")),
  ];
  const controlPlanes = createControlPlanes(createVolumes(), ledger);
  const nameServer = { server: dns.server, zone: dns.zone };
  const secondary = await dns.addSecondary(1);
  const zoneServers = [dns.endpoint, secondary.endpoint];
  const lookup = createLeaderLookup(createZoneServers({ servers: zoneServers }));
  const guard = extension.createLeadershipGuard({ ask: lookup.ask, log });
  const recorder = extension.createKubeClient({ kubeconfig: garden.kubeconfig });
  const records = createGardenExtension({ client: recorder, nameServer, log });
  records.start();
  await records.synced();
  const nodeLeases = startNodeLeases(backend.client, log);
  stops.push(recorder.close, records.stop, nodeLeases.stop);
  for (const [index, { name, client, kubeconfig, kubeconfigOf }] of clusters.entries()) {
    const address = seedAddresses[index] ?? "";
    const node = createKubeClient({ kubeconfig: kubeconfigOf("kubelet") }, { fieldManager: "kubelet" });
    const manager = createKubeClient({ kubeconfig: kubeconfigOf("kube-controller-manager") }, { fieldManager: "kcm" });
    const namespaces = startNamespaces(manager, kubeconfigOf("kube-controller-manager"), log);
    const extender = extension.createKubeClient({ kubeconfig });
    const kubelet = await startKubelet(node, controlPlanes.programsOf(name, node), log);
    const balancer = startLoadBalancer(extender, address, log);
    const serves = (namespace: string) => controlPlanes.serves({ seed: name, namespace });
    const apiServers = await startApiServers({ seedClient: client, address, backend: backend.tokenKubeconfig, serves });
    const extensions = createExtensions({
      seed: name,
      client: extender,
      guard,
      nameServer,
      cloud,
      buckets,
      ledger,
      log,
    });
    for (const controller of extensions) controller.start();
    await Promise.all(extensions.map((controller) => controller.synced()));
    stops.push(
      manager.close,
      namespaces.stop,
      node.close,
      kubelet.stop,
      balancer.stop,
      apiServers.stop,
      ...extensions.map((controller) => controller.stop),
    );
  }

  const keyFiles = new Map<string, string>();
  for (const holder of ["garden", ...seedNames]) keyFiles.set(holder, await writeKeys(directory, holder));
  const processes = describeProcesses({ garden, temporal, zoneServers, leaseSeconds }, clusters, keyFiles);
  await Promise.all([...processes.values()].map((process) => process.start()));
  return {
    ...{ garden, temporal, dns, processes, cloud, controlPlanes, ledger, leaseSeconds },
    zone: together(dns, secondary),
    seeds: new Map(clusters.map((cluster) => [cluster.name, cluster])),
    shoots: backend.client,
    async stop() {
      await Promise.all([...processes.values()].map((process) => process.kill()));
      controlPlanes.stop();
      await Promise.all(stops.map((stop) => stop()));
      await Promise.all([...clusters, garden, backend, temporal, dns].map((server) => server.stop()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** They die at once, and come back one after the other. */
function together(...all: readonly Killable[]): Killable {
  return {
    kill: async () => void (await Promise.all(all.map((one) => one.kill()))),
    async restart() {
      for (const one of all) await one.restart();
    },
  };
}

/** A port that was free a moment ago may be somebody else's by now. */
async function persistently<T>(start: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
}

/** Every Service that asks for it gets the seed's one address. */
function startLoadBalancer(client: KubeClient, ip: string, log: Logger) {
  const reflector = createReflector(client, Service, {
    log,
    async onEvent({ type, object }) {
      const { spec, status } = object as {
        spec?: { type?: string };
        status?: { loadBalancer?: { ingress?: unknown } };
      };
      if (type === "deleted" || spec?.type !== "LoadBalancer" || status?.loadBalancer?.ingress !== undefined) return;
      await client.patch(refOf(object), { status: { loadBalancer: { ingress: [{ ip }] } } }, { subresource: "status" });
    },
  });
  reflector.start();
  return reflector;
}

/** The keys of a holder of what is kept of Shoots in the garden. */
async function writeKeys(directory: string, holder: string): Promise<string> {
  const file = join(directory, `state-keys-${holder}.json`);
  await writeFile(file, addStateKey(holder), { mode: 0o600 });
  return file;
}

function describeProcesses(
  lab: Pick<Lab, "garden" | "temporal" | "leaseSeconds"> & { zoneServers: readonly string[] },
  seeds: readonly SeedCluster[],
  keyFiles: ReadonlyMap<string, string>,
): ReadonlyMap<ProcessName, OwnProcess> {
  const { PERENNIAL_LOG_LEVEL } = process.env;
  /** All that a fence is told: it reaches neither the garden nor Temporal. */
  const asking = {
    PERENNIAL_ZONE_SERVERS: lab.zoneServers.join(","),
    PERENNIAL_LEASE_SECONDS: String(lab.leaseSeconds),
    ...(PERENNIAL_LOG_LEVEL === undefined ? {} : { PERENNIAL_LOG_LEVEL }),
  };
  const env = {
    ...asking,
    PERENNIAL_GARDEN_KUBECONFIG: lab.garden.kubeconfigFile,
    PERENNIAL_TEMPORAL_ADDRESS: lab.temporal.address,
    PERENNIAL_DNS_TTL_SECONDS: "1",
  };
  const worker = (role: string, holder: string, more = {}) => {
    const keys = { PERENNIAL_STATE_KEYS_FILE: keyFiles.get(holder) ?? "" };
    return createOwnProcess({ folder: "worker", args: [role], env: { ...env, ...keys, ...more } });
  };
  return new Map<ProcessName, OwnProcess>([
    ["manager", createOwnProcess({ folder: "manager", env })],
    ["worker-garden", worker("garden", "garden")],
    ...seeds.flatMap(({ name, kubeconfigFile }): [ProcessName, OwnProcess][] => {
      const seed = { PERENNIAL_SEED_NAME: name, PERENNIAL_SEED_KUBECONFIG: kubeconfigFile };
      return [
        [`worker-${name}` as ProcessName, worker("seed", name, seed)],
        [`fence-${name}` as ProcessName, createOwnProcess({ folder: "fence", env: { ...asking, ...seed } })],
      ];
    }),
  ]);
}
