import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { Cluster, CLUSTER_NAME_LABEL, ClusterEndpoint } from "../../src/api/cluster-api/index.ts";
import type { KubeObject } from "../../src/api/index.ts";
import { createEndpointController } from "../../src/cluster-api/endpoint/controller.ts";
import { completeEndpoint } from "../../src/cluster-api/endpoint/value.ts";
import {
  createKubeClient,
  isConflict,
  isNotFound,
  now,
  refTo,
  type Secret,
  type KubeClient,
  define,
} from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { clusterOf, owners } from "./cluster-endpoints.ts";
import { contractKind } from "./contract-kind.ts";
import type { ControlPlane } from "./control-plane.ts";
import { eventually } from "./eventually.ts";
import { seconds } from "./patience.ts";
import { applyEndpointKind } from "./endpoint-lab.ts";
import { histories, type Change, type Step } from "./endpoint-world/changes.ts";
import { judgeRest } from "./endpoint-world/judge.ts";

const namespace = "default";

/** Serves the kinds of the provider whose objects histories make, with the fields and words that core looks at. */
export async function serveProvider({ client }: ControlPlane): Promise<void> {
  await define(client, [contractKind("infrastructure", "FooCluster"), contractKind("controlplane", "FooControlPlane")]);
}

/** The history of a number: always the same one. */
const historyOf = (seed: number): readonly Step[] => fc.sample(histories, { seed, numRuns: 1 })[0] ?? [];

/** Our endpoint controller as a process of its own would run it, its writes counted by Cluster. */
export interface CountedController {
  /** How often it has written a Cluster's endpoint. */
  surfaced(cluster: string): number;
  /** All requests that write, of any object. */
  writes(): string[];
  stop(): Promise<void>;
}

/** Starts it; every endpoint answers when it is asked. */
export function startCounted({ kubeconfig }: ControlPlane): CountedController {
  const log = createLogger({ name: "trial", level: "silent" });
  const client = createKubeClient({ kubeconfig }, { fieldManager: "perennial-cluster-api" });
  const all: string[] = [];
  const surfaced = new Map<string, number>();
  const counting: KubeClient = {
    ...client,
    patch(ref, patch, o) {
      all.push(`patch ${ref.kind} ${ref.name} ${JSON.stringify(patch)}`);
      const { spec } = patch as { readonly spec?: { readonly controlPlaneEndpoint?: object } };
      if (ref.kind === Cluster.kind && spec?.controlPlaneEndpoint !== undefined) {
        if (completeEndpoint(spec.controlPlaneEndpoint) === undefined)
          throw new Error("the controller empties a field");
        surfaced.set(ref.name, (surfaced.get(ref.name) ?? 0) + 1);
      }
      return client.patch(ref, patch, o);
    },
    create(object, o) {
      all.push(`create ${object.kind} ${object.metadata.name}`);
      return client.create(object, o);
    },
    applyStatus(object, o) {
      all.push(`status ${object.kind} ${object.metadata.name} ${JSON.stringify(object["status"])}`);
      return client.applyStatus(object, o);
    },
  };
  const events = { record: () => {}, settled: async () => {} };
  const probe = async () => ({ type: "Serving", status: "True", reason: "Answers", message: "answers" }) as const;
  const controller = createEndpointController({ management: counting, garden: counting, events, log }, { probe });
  controller.start();
  return {
    surfaced: (cluster) => surfaced.get(cluster) ?? 0,
    writes: () => all,
    async stop() {
      await controller.stop();
      await client.close();
    },
  };
}

/**
 * Lets the histories of these numbers happen beside the core manager, so many at once. Answers with what a new process writes then.
 */
export async function tryHistories(
  cluster: ControlPlane,
  { seeds, atOnce }: { readonly seeds: readonly number[]; readonly atOnce: number },
): Promise<string[]> {
  await applyEndpointKind(cluster.client);
  await serveProvider(cluster);
  const left = [...seeds];
  await whileCounted(cluster, async (own) => {
    const workers = Array.from({ length: atOnce }, async () => {
      for (let seed = left.shift(); seed !== undefined; seed = left.shift()) await tryHistory(cluster, own, seed);
    });
    await Promise.all(workers);
  });
  return await whileCounted(cluster, (own) => writesOf(cluster, own));
}

/** Has our controller run for as long as the work takes. */
async function whileCounted<T>(cluster: ControlPlane, work: (own: CountedController) => Promise<T>): Promise<T> {
  const own = startCounted(cluster);
  try {
    return await work(own);
  } finally {
    await own.stop();
  }
}

/** Lets a history happen to a Cluster of its own, beside the core manager; throws with seed and steps when something is wrong. */
export async function tryHistory(cluster: ControlPlane, own: CountedController, seed: number): Promise<void> {
  const name = `history-${seed}`;
  const world = await createRealWorld(cluster, name);
  const history = historyOf(seed);
  for (const [index, step] of history.entries()) {
    await world.take(step.change);
    if (step.meanwhile) await world.take(step.meanwhile.change);
    if (!step.rests && index < history.length - 1) continue;
    const fault = await world.rest(own);
    if (fault === undefined) continue;
    const steps = history.slice(0, index + 1).map((one) => JSON.stringify(one));
    throw new Error(`history ${seed} has ended wrong: ${fault}\n${steps.join("\n")}\n${await world.describe()}`);
  }
}

/**
 * What a controller that has just been started has written when it has looked at each Cluster that was there before: an endpoint of
 * none comes behind them.
 */
async function writesOf({ client }: ControlPlane, own: CountedController): Promise<string[]> {
  const { apiVersion, kind } = ClusterEndpoint;
  const spec = { cluster: "none", host: "a.example.com", port: 443, type: "ExternalControlPlaneEndpoint" } as const;
  await client.create<ClusterEndpoint>({ apiVersion, kind, metadata: { name: "last", namespace }, spec });
  const isLast = (write: string) => write.startsWith("status ClusterEndpoint last ");
  await eventually(() => own.writes().some(isLast));
  await client.remove(refTo(ClusterEndpoint, { namespace, name: "last" }));
  return own.writes().filter((write) => !isLast(write));
}

async function createRealWorld(cluster: ControlPlane, name: string) {
  const { client } = cluster;
  const base = clusterOf();
  const clusterRef = refTo(Cluster, { namespace, name });
  const nameOf = (endpoint: string) => (endpoint === "foo" ? name : `${name}-${endpoint}`);
  const endpointRef = (endpoint: string) => refTo(ClusterEndpoint, { namespace, name: nameOf(endpoint) });
  const refOfProvider = (of: "infrastructure" | "controlPlane") => ({
    ...{ apiVersion: `${owners[of].apiVersion.split("/")[0]}/v1alpha1`, kind: owners[of].kind, namespace, name },
  });
  let changes = 0;
  let surfaced = 0;

  async function makeAll(value: { host: string; port: number } | undefined): Promise<void> {
    for (const of of ["infrastructure", "controlPlane"] as const) await makeProvider(client, refOfProvider(of));
    await client.apply<Secret>({
      ...{ apiVersion: "v1", kind: "Secret", type: "cluster.x-k8s.io/secret" },
      metadata: { namespace, name: `${name}-kubeconfig`, labels: { [CLUSTER_NAME_LABEL]: name } },
      data: { value: Buffer.from(cluster.kubeconfig).toString("base64") },
    });
    const { infrastructureRef, controlPlaneRef } = base.spec;
    const spec = {
      infrastructureRef: { ...infrastructureRef, name },
      controlPlaneRef: { ...controlPlaneRef, name },
      ...(value && { controlPlaneEndpoint: value }),
    } as Cluster["spec"];
    await client.create<Cluster>({ ...base, metadata: { name, namespace }, spec });
  }

  async function ownersOf(owner: keyof typeof owners): Promise<object[]> {
    const found = await client.read(owner === "cluster" ? clusterRef : refOfProvider(owner));
    const { apiVersion = "", kind = "", metadata } = found ?? {};
    return metadata === undefined ? [] : [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }];
  }

  const take: { [C in Change as C["is"]]: (change: C) => Promise<unknown> } = {
    async made({ name: endpoint, value, owner }) {
      const ownerReferences = owner === undefined ? [] : await ownersOf(owner);
      if (owner !== undefined && ownerReferences.length === 0) return;
      const { apiVersion, kind } = ClusterEndpoint;
      const metadata = { name: nameOf(endpoint), namespace, ownerReferences } as ClusterEndpoint["metadata"];
      const spec = { cluster: name, ...value, type: "ExternalControlPlaneEndpoint" } as const;
      await client.create<ClusterEndpoint>({ apiVersion, kind, metadata, spec });
    },
    edited: ({ name: endpoint, value }) => client.patch(endpointRef(endpoint), { spec: value }),
    async removed({ name: endpoint }) {
      await client.remove(endpointRef(endpoint));
      await client.patch(endpointRef(endpoint), { metadata: { finalizers: null } });
    },
    async leaving({ name: endpoint }) {
      await client.patch(endpointRef(endpoint), { metadata: { finalizers: ["test.example.com/holds"] } });
      await client.remove(endpointRef(endpoint));
    },
    field: ({ provider, value }) =>
      client.patch(refOfProvider(provider), { spec: { controlPlaneEndpoint: value ?? null } }),
    foreign: ({ value }) =>
      client.patch(clusterRef, { spec: { controlPlaneEndpoint: value ?? null } }, { fieldManager: "gitops" }),
    async paused({ paused }) {
      const { deletionTimestamp } = (await client.read(clusterRef))?.metadata ?? {};
      if (deletionTimestamp === undefined) await client.patch(clusterRef, { spec: { paused } });
    },
    endpointPaused: ({ name: endpoint, paused }) =>
      client.patch(endpointRef(endpoint), {
        metadata: { annotations: { "cluster.x-k8s.io/paused": paused ? "" : null } },
      }),
    async clusterGone() {
      await client.patch(clusterRef, { spec: { paused: false } }); // core deletes no Cluster that is paused
      await client.remove(clusterRef);
    },
    async clusterMade({ value }) {
      while (((await client.read(clusterRef))?.metadata.deletionTimestamp ?? undefined) !== undefined) await sleep(50);
      if ((await client.read(clusterRef)) === undefined) await makeAll(value);
    },
  };

  /** What the garbage collector does, which does not run here. */
  async function collect(): Promise<void> {
    const living = await Promise.all((["cluster", "infrastructure", "controlPlane"] as const).map(ownersOf));
    const uids = living.flat().map((one) => (one as { readonly uid: string }).uid);
    for (const { metadata } of await endpoints()) {
      const { ownerReferences = [] } = metadata;
      if (ownerReferences.length > 0 && !ownerReferences.some(({ uid }) => uids.includes(uid)))
        await client.remove(refTo(ClusterEndpoint, { namespace, name: metadata.name }));
    }
  }

  const endpoints = async () =>
    (await client.list(ClusterEndpoint, { namespace })).filter(({ spec }) => spec.cluster === name);

  async function judge(): Promise<string | undefined> {
    await collect();
    const present = await client.read(clusterRef);
    if (present?.metadata.deletionTimestamp !== undefined) return "core has not deleted the Cluster";
    const all = await endpoints();
    return judgeRest({ cluster: () => present, endpoints: () => all });
  }

  await eventually(() => makeAll(undefined).catch(unlessImpossible), 60_000);
  return {
    async take(change: Change) {
      changes++;
      const attempt = () => (take[change.is] as (given: Change) => Promise<unknown>)(change).catch(unlessImpossible);
      await eventually(attempt, 60_000); // the API server refuses Clusters while core's webhooks do not answer
    },
    /** Waits until all is as it has to be, and stays so; else says what is not. */
    async rest(own: CountedController): Promise<string | undefined> {
      let fault: string | undefined = "";
      for (let right = 0, deadline = Date.now() + seconds(30); right < 2; await sleep(150)) {
        fault = await judge();
        right = fault === undefined ? right + 1 : 0;
        if (Date.now() > deadline) return fault ?? "does not come to rest";
      }
      const written = own.surfaced(name) - surfaced;
      const most = 2 * changes; // core may take the same change for a reason to write, which is one more
      [surfaced, changes] = [own.surfaced(name), 0];
      return written > most ? `writes the Cluster ${written} times for ${most / 2} changes` : undefined;
    },
    describe: async () => JSON.stringify([await client.read(clusterRef), ...(await endpoints())]),
  };
}

/** A history may ask for what is not there, or what admission refuses: nothing happens then. */
function unlessImpossible(error: unknown): void {
  if (isNotFound(error) || isConflict(error)) return;
  const { status, reason } = error as { readonly status?: number; readonly reason?: string };
  if (status === 422 || status === 403 || reason === "AlreadyExists") return;
  throw error;
}

/** A provider's object that has done its work, as core wants to hear it. */
async function makeProvider(client: KubeClient, ref: ReturnType<typeof refTo>): Promise<void> {
  const { apiVersion, kind, name, namespace: place = namespace } = ref;
  const labels = { [CLUSTER_NAME_LABEL]: name };
  const object: KubeObject = {
    apiVersion,
    kind,
    metadata: { name, namespace: place, labels },
    spec: { version: "v1.34.4" },
  };
  await client.apply(object);
  const condition = (type: string) => ({ type, status: "True", reason: "Yes", message: "", lastTransitionTime: now() });
  await client.applyStatus({
    ...object,
    status: {
      initialization: { provisioned: true, controlPlaneInitialized: true },
      externalManagedControlPlane: true,
      versions: [{ version: "v1.34.4", replicas: 1 }],
      conditions: [condition("Ready"), condition("Available")],
    },
  });
}
