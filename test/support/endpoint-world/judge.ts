import { Cluster, ClusterEndpoint, type Condition } from "../../../src/api/cluster-api/index.ts";
import type { KubeObject } from "../../../src/api/index.ts";
import { decide } from "../../../src/cluster-api/endpoint/decide.ts";
import { originOf } from "../../../src/cluster-api/endpoint/generated.ts";
import { isPaused } from "../../../src/cluster-api/objects/paused.ts";
import { completeEndpoint, isSameEndpoint } from "../../../src/cluster-api/endpoint/value.ts";
import type { Write } from "./store.ts";
import type { World } from "./world.ts";

/** What no write of the controller may do, whenever it comes; says which it does. */
export function judgeWrite({ before, after }: Write, world: World): string | undefined {
  if (before?.kind === ClusterEndpoint.kind) return judgeOrigin(before, after) ?? judgeOwners(before, after, world);
  if (before?.kind !== Cluster.kind) return undefined;
  if (isPaused(before)) return "writes a Cluster that is paused";
  const [had, has] = [fieldOf(before), fieldOf(after)];
  if (isSameEndpoint(had, has)) return undefined;
  if (has === undefined) return "empties the Cluster's field";
  if (world.cache.cluster?.metadata.uid !== before.metadata.uid) return "writes a Cluster that it has not seen";
  const sources = world.cache.endpoints.filter(({ spec }) => isSameEndpoint({ ...spec }, has));
  return judgeSources(sources, had !== undefined, world);
}

/** The objects that have the value which is written, over another one or not. */
function judgeSources(sources: readonly ClusterEndpoint[], isOver: boolean, world: World): string | undefined {
  if (sources.length === 0) return "surfaces a value of no object";
  if (sources.every(({ metadata }) => isOrphan(metadata, world))) return "surfaces what a former Cluster has left";
  const isGenerated = sources.every((one) => originOf(one) !== undefined);
  return isOver && isGenerated ? "has a generated object overwrite its Cluster" : undefined;
}

/** Only an edit by others makes a generated object one that was written. */
function judgeOrigin(before: KubeObject, after: KubeObject): string | undefined {
  const [was, is] = [before, after].map((one) => originOf(one as ClusterEndpoint));
  return was === undefined || was === is ? undefined : "takes a generated object for one that was written";
}

/** An object without an owner gets one that was there just now: the garbage collector takes any other for a reason to delete it. */
function judgeOwners(before: KubeObject, after: KubeObject, world: World): string | undefined {
  if ((before.metadata.ownerReferences ?? []).length > 0) return undefined;
  const [owner] = after.metadata.ownerReferences ?? [];
  return owner === undefined || owner.uid === world.begunWith ? undefined : "gives an object an owner that has gone";
}

const isOrphan = ({ ownerReferences = [] }: KubeObject["metadata"], world: World) =>
  ownerReferences.length > 0 && !ownerReferences.some(({ uid }) => world.exists(uid));

const fieldOf = (cluster: KubeObject) => completeEndpoint((cluster as Cluster).spec.controlPlaneEndpoint);

/** What has to be so when all has come to rest; says what is not. */
export function judgeRest(world: Pick<World, "cluster" | "endpoints">): string | undefined {
  const cluster = world.cluster();
  const staying = world.endpoints().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (cluster === undefined) return firstFault(staying, (one) => judgeWaiting(one));
  if (isPaused(cluster)) return firstFault(staying, (one) => saysOf(one, "Paused", { status: "True" }));
  const winner = expectedWinner(staying);
  for (const order of [staying, staying.toReversed(), staying.toSorted((a, b) => (a.spec.host < b.spec.host ? -1 : 1))])
    if (decide(cluster.spec, order).winner !== winner) return "has another winner in another order of objects";
  if (winner === undefined)
    return fieldOf(cluster) === undefined ? undefined : "leaves a Cluster with an endpoint without an object";
  return isPaused(winner) ? undefined : judgeWinner(winner, staying, cluster);
}

function judgeWinner(winner: ClusterEndpoint, staying: readonly ClusterEndpoint[], cluster: Cluster) {
  const { host, port } = winner.spec;
  if (!isSameEndpoint(fieldOf(cluster), { host, port })) return "does not have the winner's value on its Cluster";
  const ready = cluster.status?.conditions?.find(({ type }) => type === "perennial.dev/EndpointReady");
  if (ready?.reason !== "Answers") return "does not tell the Cluster that its endpoint is ready";
  return firstFault(staying, (one) => judgeStanding(one, winner, cluster));
}

/** The rule of issue and seed once more, in other words than the code's. */
function expectedWinner(staying: readonly ClusterEndpoint[]): ClusterEndpoint | undefined {
  const rankOf = (endpoint: ClusterEndpoint): number => {
    const origin = originOf(endpoint);
    if (origin !== undefined) return origin === "user" ? 2 : 5;
    const owner = endpoint.metadata.ownerReferences?.[0]?.kind ?? "";
    return { FooCluster: 3, FooControlPlane: 4 }[owner] ?? 1;
  };
  const keyOf = (one: ClusterEndpoint) => `${rankOf(one)} ${one.metadata.creationTimestamp} ${one.metadata.name}`;
  return staying.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))[0];
}

function judgeWaiting(endpoint: ClusterEndpoint): string | undefined {
  if (isPaused(endpoint)) return undefined;
  return saysOf(endpoint, "Surfaced", { status: "False", reason: "WaitingForCluster" });
}

/** What an object says of itself, and whose it is. */
function judgeStanding(endpoint: ClusterEndpoint, winner: ClusterEndpoint, cluster: Cluster): string | undefined {
  if (isPaused(endpoint)) return saysOf(endpoint, "Paused", { status: "True" });
  const { labels, ownerReferences = [], name } = endpoint.metadata;
  if (labels?.["cluster.x-k8s.io/cluster-name"] !== cluster.metadata.name) return `${name} lacks its Cluster's label`;
  if (ownerReferences.length === 0) return `${name} has no owner`;
  if (endpoint === winner) return saysOf(endpoint, "Surfaced", { status: "True", reason: "Surfaced" });
  const standing = conditionOf(endpoint, "Surfaced");
  if (!standing?.message.includes(`ClusterEndpoint ${winner.metadata.name} wins`))
    return `${name} does not name the winner ${winner.metadata.name}: ${standing?.message}`;
  return saysOf(endpoint, "Surfaced", { status: "False", reason: "Overruled" });
}

const conditionOf = ({ status }: ClusterEndpoint, wanted: string): Condition | undefined =>
  status?.conditions?.find(({ type }) => type === wanted);

function saysOf(endpoint: ClusterEndpoint, type: string, wanted: Partial<Condition>): string | undefined {
  const said = conditionOf(endpoint, type);
  const { status, reason } = { ...said, ...wanted };
  if (said?.status === status && said?.reason === reason && said?.observedGeneration === endpoint.metadata.generation)
    return undefined;
  return `${endpoint.metadata.name} says ${type} ${said?.status} ${said?.reason} in place of ${status} ${reason ?? ""}`;
}

function firstFault<T>(all: readonly T[], judge: (one: T) => string | undefined): string | undefined {
  for (const one of all) {
    const fault = judge(one);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
