import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { Cluster, ClusterEndpoint } from "../src/api/cluster-api/index.ts";
import { now, parseKubeconfig, refTo, type KubeClient, define } from "../src/kube/index.ts";
import { contractKind } from "../test/support/contract-kind.ts";
import { startControlPlane, type ControlPlane } from "../test/support/control-plane.ts";
import { startCoreManager } from "../test/support/core-manager.ts";
import { applyCrds } from "../test/support/crds.ts";
import { playedCluster, playedKind } from "../test/support/played-control-plane.ts";
import { atMost } from "./at-most.ts";
import { seconds, type Bench, type Findings, type Ground, type Table } from "./bench.ts";
import type { Spending } from "./cluster-api-process.ts";
import { watchClusters } from "./cluster-api-seen.ts";
import { isWrite, since, type Requests } from "./counting-client.ts";
import { goesOn, startOwnClusterApi, type OwnClusterApi } from "./own-cluster-api.ts";
import { percentiles, type Percentiles } from "./percentiles.ts";
import { residentMemory } from "./resident-memory.ts";

/** What ClusterEndpoints cost beside Cluster API's own manager, among many Clusters: time, memory and API requests. */
export const clusterApi: Bench = { name: "cluster-api", measure };

async function measure({ shoots: clusters, short, say }: Ground): Promise<Findings> {
  const cluster = await startControlPlane();
  try {
    const world = await makeWorld(cluster);
    const samples = short ? 3 : 50;
    const idling = short ? 5_000 : 180_000;
    const byCore = Math.min(clusters, short ? 200 : 1_000);
    say(`cluster-api: ${byCore} Clusters, which the core manager gives their control planes' endpoints`);
    const first = await startOwnClusterApi(cluster.kubeconfigFile, false);
    await first.quiet(2_000);
    const { heap: empty } = await first.settled();
    const copied = await world.makeClusters(byCore);
    say(`cluster-api: ${samples} endpoints one by one, by the core manager and by ours`);
    const latency = await world.compareWriters(samples, short ? 5_000 : 30_000);
    const manager = await residentMemory({ pid: world.managerPid() });
    say("cluster-api: nothing happens, beside the core manager");
    const withManager = await world.requestsIn(idling);
    await first.stop();
    await world.core.kill();
    if (clusters > byCore) say(`cluster-api: ${clusters - byCore} Clusters as core has left the first one`);
    await world.copyClusters(clusters - byCore);
    await world.publishKubeconfigs();

    say("cluster-api: all Clusters are taken over");
    const second = await startOwnClusterApi(cluster.kubeconfigFile, true);
    const takeover = await takeOver(second, world);
    const held = await second.settled();
    await second.stop();
    say("cluster-api: it starts again, then nothing happens");
    const third = await startOwnClusterApi(cluster.kubeconfigFile, true);
    await third.quiet(short ? 2_000 : 10_000);
    const restarted = (await third.spending()).requests;
    await third.probed(world.countObjects());
    const [own, without] = await Promise.all([
      beIdle(third, idling, await world.countClusters()),
      world.requestsIn(idling),
    ]);
    const idle = { ...own, manager: Math.max(0, withManager - without) };
    const { resident: idleResident } = await third.spending();
    await third.stop();
    await world.stop();
    const memory = {
      manager,
      resident: held.resident / 2 ** 20,
      idle: idleResident / 2 ** 20,
      heapPerCluster: Math.max(0, held.heap - empty) / takeover.clusters,
    };
    const isOfWebhooks = (sort: string) => sort.endsWith("WebhookConfiguration");
    const restart = {
      writes: sum(restarted, (sort) => isWrite(sort) && !goesOn(sort) && !isOfWebhooks(sort)),
      requests: sum(restarted, (sort) => !goesOn(sort)),
    };
    const figures = { clusters, byCore, latency, copied, takeover, restart, memory, idle };
    return { figures, tables: [tableOf(figures)] };
  } finally {
    await cluster.stop();
  }
}

interface Figures {
  readonly clusters: number;
  /** How many of them core has given their endpoints, among which it was compared with ours. */
  readonly byCore: number;
  /** In ms, from the writing of a field or an object until the Cluster has the value. */
  readonly latency: { readonly core: Percentiles; readonly own: Percentiles };
  /** In ms: until the core manager had copied all fields. */
  readonly copied: number;
  readonly takeover: Takeover;
  readonly restart: { readonly writes: number; readonly requests: number };
  readonly memory: Memory;
  /** What the manager asks in an hour besides, of itself. */
  readonly idle: Idle & { readonly manager: number };
}

interface Memory {
  /** Resident, in MB: of the core manager, of ours after it has taken all over, and of one that was started then and was idle. */
  readonly manager: number;
  readonly resident: number;
  readonly idle: number;
  /** What one Cluster adds, in bytes. */
  readonly heapPerCluster: number;
}

/** A management cluster, which is the garden, too, with the core manager, and Clusters whose control planes are played. */
async function makeWorld(cluster: ControlPlane) {
  const { client, kubeconfig } = cluster;
  await applyCrds(client);
  await define(client, [contractKind("controlplane", playedKind.kind)]);
  const core = await startCoreManager(cluster);
  const { hostname, port } = new URL(client.server);
  const reached = { host: hostname, port: Number(port) };
  const seen = watchClusters(client);
  const names: string[] = [];
  const make = async (name: string, endpoint?: Endpoint) => {
    await makeControlPlane(client, name, endpoint); // before its Cluster: core waits long for one that it has not found
    await client.create(playedCluster({ namespace, name }));
    names.push(name);
  };
  return {
    core,
    managerPid: () => core.pid(),
    stop: () => seen.stop(),
    countClusters: async () => names.length,
    /** Makes Clusters; how long it took, in ms, from the last one on until all had their endpoint. */
    async makeClusters(count: number): Promise<number> {
      await atMost(10, numbers(count), (index) => make(`existing-${index}`, reached));
      const begun = performance.now();
      await Promise.all(numbers(count).map((index) => seen.has(`existing-${index}`)));
      return performance.now() - begun;
    },
    /** Makes further Clusters as core has left the first one. It has ended by then, so its webhooks are taken away. */
    async copyClusters(count: number): Promise<void> {
      if (count === 0) return;
      const first = await client.read(Cluster, { namespace, name: "existing-0" });
      if (first === undefined) throw new Error("there is no Cluster to copy");
      for (const kind of ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"])
        await client.removeAll({ apiVersion: "admissionregistration.k8s.io/v1", kind }, {});
      await atMost(10, numbers(count), async (index) => {
        const name = `copied-${index}`;
        await makeControlPlane(client, name, reached);
        await client.create(copyOf(first, name));
        await client.patch(refTo(Cluster, { namespace, name }), { status: first.status }, { subresource: "status" });
        names.push(name);
      });
    },
    /** Each in turn gives a Cluster that has none its endpoint: core from its control plane's field, we from an object. */
    async compareWriters(count: number, settle: number): Promise<{ core: Percentiles; own: Percentiles }> {
      const [byCore, byUs]: [number[], number[]] = [[], []];
      await atMost(5, numbers(count), (index) => Promise.all([make(`core-${index}`), make(`own-${index}`)]));
      await sleep(settle); // what their creation brings about
      for (const index of numbers(count)) {
        const [left, right] = [`core-${index}`, `own-${index}`];
        byCore.push(await timeOf(seen.has(left), () => client.apply(playedObject(left, reached))));
        byUs.push(await timeOf(seen.has(right), () => client.create(endpointOf(right, reached))));
      }
      return { core: percentiles(byCore), own: percentiles(byUs) };
    },
    /** The Secrets by which API servers are proved; without the core manager, which would connect to each. */
    publishKubeconfigs: () =>
      atMost(20, names, (name) =>
        client.apply({
          ...{ apiVersion: "v1", kind: "Secret", type: "cluster.x-k8s.io/secret" },
          metadata: { namespace, name: `${name}-kubeconfig`, labels: { "cluster.x-k8s.io/cluster-name": name } },
          data: { value: Buffer.from(withOwnAuthority(kubeconfig, name)).toString("base64") },
        }),
      ),
    /** Whether every Cluster has an object, and is told that it is ready. */
    isTakenOver: () => seen.objects() === names.length && seen.told() === names.length,
    /** Writes of objects of Cluster API by resource, as the API server has counted them; those that it refused as conflicts apart. */
    async writes(): Promise<Readonly<Record<string, number>>> {
      const found: Record<string, number> = {};
      for (const { of, count } of await countedRequests(client)) {
        if (of("group") !== "cluster.x-k8s.io" || !/^(POST|PATCH|APPLY|PUT)$/.test(of("verb"))) continue;
        const place = of("subresource") === "" ? of("resource") : `${of("resource")}/${of("subresource")}`;
        const name = of("code").startsWith("2") ? place : "refused";
        found[name] = (found[name] ?? 0) + count;
      }
      return found;
    },
    /** Requests in an hour, of all that ask the API server, as it counts them for so many ms: beside watches and Leases. */
    async requestsIn(time: number): Promise<number> {
      const before = await besideWatches(client);
      await sleep(time);
      return (((await besideWatches(client)) - before) * 3_600_000) / time;
    },
    countObjects: () => seen.objects(),
  };
}

interface Counted {
  readonly of: (label: string) => string;
  readonly count: number;
}

/** What the API server has been asked, as it counts it. */
async function countedRequests(client: KubeClient): Promise<Counted[]> {
  return [...String(await client.get("/metrics")).matchAll(counted)].map(([, labels = "", count]) => ({
    of: (name) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? "",
    count: Number(count),
  }));
}

async function besideWatches(client: KubeClient): Promise<number> {
  const all = await countedRequests(client);
  const others = all.filter(({ of }) => !["", "leases"].includes(of("resource")) && of("verb") !== "WATCH");
  return others.reduce((sum, { count }) => sum + count, 0);
}

const counted = /^apiserver_request_total\{([^}]*)\} (\S+)$/gm;

type World = Awaited<ReturnType<typeof makeWorld>>;

const namespace = "default";

interface Endpoint {
  readonly host: string;
  readonly port: number;
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const playedObject = (name: string, controlPlaneEndpoint?: Endpoint) => ({
  ...{ apiVersion: `${playedKind.apiGroup}/v1alpha1`, kind: playedKind.kind },
  metadata: { namespace, name, labels: { "cluster.x-k8s.io/cluster-name": name } },
  spec: { version: "v1.34.4", ...(controlPlaneEndpoint && { controlPlaneEndpoint }) },
});

/** A control plane that is initialized, as a provider says it by contract v1beta2. */
async function makeControlPlane(client: KubeClient, name: string, controlPlaneEndpoint?: Endpoint): Promise<void> {
  const object = playedObject(name, controlPlaneEndpoint);
  await client.apply(object);
  const available = { type: "Available", status: "True", reason: "Available", message: "", lastTransitionTime: now() };
  await client.applyStatus({
    ...object,
    status: { initialization: { controlPlaneInitialized: true }, conditions: [available] },
  });
}

const endpointOf = (cluster: string, endpoint: Endpoint): ClusterEndpoint => ({
  ...{ apiVersion: ClusterEndpoint.apiVersion, kind: ClusterEndpoint.kind },
  metadata: { namespace, name: cluster },
  spec: { cluster, ...endpoint, type: "ExternalControlPlaneEndpoint" },
});

const copyOf = ({ apiVersion, kind, metadata: { finalizers = [] }, spec }: Cluster, name: string): Cluster => ({
  ...{ apiVersion, kind },
  metadata: { namespace, name, labels: { "cluster.x-k8s.io/cluster-name": name }, finalizers },
  spec: { ...spec, controlPlaneRef: { ...playedKind, name } },
});

/** Each Cluster has an authority of its own, and what it takes is held for each: by its text, to which a remark adds nothing. */
function withOwnAuthority(kubeconfig: string, name: string): string {
  const authority = String(parseKubeconfig(kubeconfig).cluster["certificate-authority-data"]);
  const text = `${Buffer.from(authority, "base64").toString("utf8")}# ${name}\n`;
  return kubeconfig.replace(authority, Buffer.from(text).toString("base64"));
}

async function timeOf(seen: Promise<number>, write: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await write();
  return (await seen) - begun;
}

interface Takeover {
  readonly clusters: number;
  /** In ms. */
  readonly ms: number;
  /** For each Cluster that is taken over. */
  readonly creates: number;
  readonly endpointStatusWrites: number;
  readonly clusterSpecWrites: number;
  readonly clusterStatusWrites: number;
  /** What came too late, for a version that was not the last one any more, and changed nothing. */
  readonly refused: number;
  readonly events: number;
  readonly reads: number;
}

/** Until every Cluster has an object and is told; each count is of one Cluster that had none. */
async function takeOver(own: OwnClusterApi, world: World): Promise<Takeover> {
  const clusters = await world.countClusters();
  const [before, writes] = [world.countObjects(), await world.writes()];
  const begun = performance.now();
  while (!world.isTakenOver()) {
    if (performance.now() - begun > LONGEST) throw new Error("not all Clusters are taken over");
    await sleep(100);
  }
  const ms = performance.now() - begun;
  await own.quiet(3_000);
  const { requests } = await own.spending();
  const after = await world.writes();
  const of = (resource: string, count: number) => ((after[resource] ?? 0) - (writes[resource] ?? 0)) / count;
  const made = clusters - before;
  return {
    ...{ clusters: made, ms },
    creates: of("clusterendpoints", made),
    endpointStatusWrites: of("clusterendpoints/status", clusters),
    clusterSpecWrites: of("clusters", clusters),
    clusterStatusWrites: of("clusters/status", clusters),
    refused: of("refused", clusters),
    events: (requests["management create Event"] ?? 0) / made,
    reads: sum(requests, (sort) => !isWrite(sort) && !goesOn(sort)) / made,
  };
}

/** In ms. */
const LONGEST = 900_000;

interface Idle {
  /** Of the whole process in an hour, beside watches and its Lease. */
  readonly requests: number;
  /** Of one Cluster in an hour. */
  readonly probes: number;
  /** Of a core, for 100 Clusters, in percent. */
  readonly cpu: number;
}

async function beIdle(own: OwnClusterApi, time: number, clusters: number): Promise<Idle> {
  const before = await own.spending();
  await sleep(time);
  const after = await own.spending();
  const hour = 3_600_000 / time;
  const more = (of: (spending: Spending) => number) => of(after) - of(before);
  return {
    requests: sum(since(before.requests, after.requests), (sort) => !goesOn(sort)) * hour,
    probes: (more(({ probes }) => probes) * hour) / clusters,
    cpu: ((more(({ cpu }) => cpu) * 1_000) / time / clusters) * 100 * 100,
  };
}

const sum = (requests: Requests, wanted: (sort: string) => boolean): number =>
  Object.entries(requests).reduce((all, [sort, count]) => (wanted(sort) ? all + count : all), 0);

function tableOf({ clusters, byCore, latency, copied, takeover, restart, memory, idle }: Figures): Table {
  const inMs = ({ p50, p95 }: Percentiles) => `${p50} / ${p95} ms`;
  const each = (count: number) => count.toFixed(2);
  const inMb = (megabytes: number) => `${megabytes.toFixed(0)} MB`;
  return {
    title: `ClusterEndpoints beside the core manager, among ${clusters} Clusters`,
    rows: [
      [`control plane's field -> Cluster, by core, among ${byCore}: p50 / p95`, inMs(latency.core)],
      [`ClusterEndpoint -> Cluster, by ours, among ${byCore}: p50 / p95`, inMs(latency.own)],
      [`core had copied ${byCore} fields, after the last was made`, seconds(copied)],
      [
        `${takeover.clusters} Clusters taken over; each`,
        `${seconds(takeover.ms)}; ${(takeover.ms / takeover.clusters).toFixed(1)} ms`,
      ],
      [
        "each: objects made, status of them written",
        `${each(takeover.creates)}, ${each(takeover.endpointStatusWrites)}`,
      ],
      [
        "each: writes to the Cluster's spec, to its status",
        `${each(takeover.clusterSpecWrites)}, ${each(takeover.clusterStatusWrites)}`,
      ],
      ["each: Events, reads, refused writes", [takeover.events, takeover.reads, takeover.refused].map(each).join(", ")],
      [
        "started again: writes, and requests with the announcement of webhooks",
        `${restart.writes}, ${restart.requests}`,
      ],
      [
        `resident memory: core manager among ${byCore}; ours after the takeover, after idling`,
        `${inMb(memory.manager)}; ${inMb(memory.resident)}, ${inMb(memory.idle)}`,
      ],
      ["heap for each Cluster", `${(memory.heapPerCluster / 1_024).toFixed(1)} KB`],
      [
        "idle, an hour: requests beside watches and Lease: core manager, ours",
        `${idle.manager.toFixed(0)}, ${idle.requests.toFixed(0)}`,
      ],
      ["idle, an hour: probes of a Cluster", idle.probes.toFixed(0)],
      ["idle: CPU for 100 Clusters", `${idle.cpu.toFixed(2)} % of a core`],
    ],
  };
}
