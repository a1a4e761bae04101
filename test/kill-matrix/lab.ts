import { createLeaderLookup, createZoneServers } from "../../src/dns/index.ts";
import { createLeadershipGuard } from "../../src/extension/index.ts";
import type { KubeObject } from "../../src/api/meta.ts";
import { createKubeClient, createReflector, refOf, type KubeClient } from "../../src/kube/index.ts";
import { createLogger, type Logger } from "../../src/log.ts";
import { startControlPlane, type ControlPlane } from "../support/control-plane.ts";
import { applyCrds, applyFencing } from "../../src/local/manifests.ts";
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
import { seedAddresses } from "./network.ts";
import { startSeedCluster, type SeedCluster } from "./seed-cluster.ts";
import { createStorage } from "./storage.ts";

/** The seeds of the lab. */
export const seedNames = ["seed-1", "seed-2"] as const;

/** The name of one of our processes. */
export type ProcessName = "manager" | "worker-garden" | `worker-${(typeof seedNames)[number]}`;

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
  readonly processes: ReadonlyMap<ProcessName, OwnProcess>;
  readonly cloud: Cloud;
  readonly controlPlanes: ControlPlanes;
  readonly ledger: Ledger;
  stop(): Promise<void>;
}

/** Starts everything in about ten seconds; the addresses of the seeds have to be this machine's. */
export async function startLab(): Promise<Lab> {
  const log = createLogger({ name: "lab", level: "error" });
  const stops: (() => unknown)[] = [];
  const [garden, backend, temporal, dns, ...clusters] = await Promise.all([
    startControlPlane(),
    startControlPlane({ flags: ["--allow-privileged=true", "--service-cluster-ip-range=10.190.0.0/16"] }),
    startTemporal(),
    startNameServer(),
    ...seedNames.map(startSeedCluster),
  ]);
  await applyCrds(garden.client, "garden");
  await applyFencing(garden.client, "garden");
  await applyGarden(garden.client, seedNames, dns);

  const [storage, ledger, cloud] = [createStorage(), createLedger(), createCloud(backend.client)];
  const controlPlanes = createControlPlanes(storage, ledger);
  const nameServer = { server: dns.server, zone: dns.zone };
  const lookup = createLeaderLookup(createZoneServers({ servers: [addressOf(dns)] }));
  const guard = createLeadershipGuard({ ask: lookup.ask, log });
  const records = createGardenExtension({ client: garden.client, nameServer, log });
  records.start();
  await records.synced();
  stops.push(records.stop);
  for (const [index, { name, client, kubeconfigOf }] of clusters.entries()) {
    const address = seedAddresses[index] ?? "";
    const node = createKubeClient({ kubeconfig: kubeconfigOf("kubelet") });
    const kubelet = await startKubelet(node, controlPlanes.programsOf(name), log);
    const balancer = startLoadBalancer(client, address, log);
    const serves = (namespace: string) => controlPlanes.serves(name, namespace);
    const apiServers = await startApiServers({ seed: client, address, backend: backend.tokenKubeconfig, serves });
    const extensions = createExtensions({ seed: name, client, guard, nameServer, cloud, storage, ledger, log });
    for (const extension of extensions) extension.start();
    await Promise.all(extensions.map((extension) => extension.synced()));
    stops.push(
      node.close,
      kubelet.stop,
      balancer.stop,
      apiServers.stop,
      ...extensions.map((extension) => extension.stop),
    );
  }

  const processes = describeProcesses(garden, clusters, temporal, dns);
  await Promise.all([...processes.values()].map((process) => process.start()));
  return {
    ...{ garden, temporal, dns, processes, cloud, controlPlanes, ledger },
    seeds: new Map(clusters.map((cluster) => [cluster.name, cluster])),
    shoots: backend.client,
    async stop() {
      await Promise.all([...processes.values()].map((process) => process.kill()));
      controlPlanes.stop();
      await Promise.all(stops.map((stop) => stop()));
      await Promise.all([...clusters, garden, backend, temporal, dns].map((server) => server.stop()));
    },
  };
}

const addressOf = ({ server }: TestNameServer): string => `${server.address}:${server.port}`;

/** Every Service that asks for it gets the seed's one address. */
function startLoadBalancer(client: KubeClient, ip: string, log: Logger) {
  const reflector = createReflector<KubeObject>(
    client,
    { apiVersion: "v1", kind: "Service" },
    {
      log,
      async onEvent({ type, object }) {
        const { spec, status } = object as {
          spec?: { type?: string };
          status?: { loadBalancer?: { ingress?: unknown } };
        };
        if (type === "deleted" || spec?.type !== "LoadBalancer" || status?.loadBalancer?.ingress !== undefined) return;
        await client.patch(
          refOf(object),
          { status: { loadBalancer: { ingress: [{ ip }] } } },
          { subresource: "status" },
        );
      },
    },
  );
  reflector.start();
  return reflector;
}

function describeProcesses(
  garden: ControlPlane,
  seeds: readonly SeedCluster[],
  temporal: TemporalServer,
  dns: TestNameServer,
): ReadonlyMap<ProcessName, OwnProcess> {
  const env = {
    PERENNIAL_GARDEN_KUBECONFIG: garden.kubeconfigFile,
    PERENNIAL_TEMPORAL_ADDRESS: temporal.address,
    PERENNIAL_ZONE_SERVERS: addressOf(dns),
    PERENNIAL_LEASE_SECONDS: "1",
    PERENNIAL_DNS_TTL_SECONDS: "1",
    ...(process.env["PERENNIAL_LOG_LEVEL"] ? { PERENNIAL_LOG_LEVEL: process.env["PERENNIAL_LOG_LEVEL"] } : {}),
  };
  return new Map<ProcessName, OwnProcess>([
    ["manager", createOwnProcess({ folder: "manager", env })],
    ["worker-garden", createOwnProcess({ folder: "worker", args: ["garden"], env })],
    ...seeds.map(({ name, kubeconfigFile }): [ProcessName, OwnProcess] => {
      const own = { PERENNIAL_SEED_NAME: name, PERENNIAL_SEED_KUBECONFIG: kubeconfigFile };
      return [
        `worker-${name}` as ProcessName,
        createOwnProcess({ folder: "worker", args: ["seed"], env: { ...env, ...own } }),
      ];
    }),
  ]);
}
