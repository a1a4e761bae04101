import { counted, listed } from "../../api/counted.ts";
import { NO_CLEANUP_LABEL, POOL_LABEL, ROLE_LABEL } from "../../api/labels.ts";
import { SCALED_DOWN_BY_WATCHDOG_ANNOTATION } from "../../api/annotations.ts";
import type { Condition, ManagedResource } from "../../api/index.ts";
import type { HealthType } from "../../api/shoot/health.ts";
import type { TypeRef } from "../../api/schema/kind.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { Kind, KubeClient } from "../../kube/index.ts";
import { DaemonSet, Deployment, Node, StatefulSet } from "../../kube/kinds.ts";
import { now as timeOf } from "../../kube/time.ts";
import { healthy as isApplied, isIgnored } from "../managed-resources/health.ts";
import { TUNNEL_SERVER } from "../../components/tunnel/names.ts";
import { NODE_ROUTES, routeReadiness, tunnelReadiness } from "../waits/pod-reach.ts";
import { reportedReadiness, type ExtensionReport } from "./extension-reports.ts";
import { isReady, rolledOut, type Readiness } from "../waits/readiness.ts";

/** From where a Shoot's health is read. */
export interface Sights {
  readonly seed: Lists;
  /** Undefined while the Shoot's API server cannot be reached at all. */
  readonly shoot: (Lists & Pick<KubeClient, "get">) | undefined;
  /** How the scheduled snapshots of the Shoot's etcd went; well unless told otherwise. */
  readonly snapshots?: Readiness | undefined;
  /** Whether the data of the Shoot's etcds let them run; well unless told otherwise. */
  readonly etcds?: Readiness;
  /** What the Shoot's extensions say of themselves. */
  readonly reports?: readonly ExtensionReport[];
  /** The pools whose nodes an extension makes; none unless told otherwise. */
  readonly pools?: readonly PoolSize[];
}

/** How many nodes a pool has at least. */
export interface PoolSize {
  readonly name: string;
  readonly minimum: number;
}

type Lists = Pick<KubeClient, "list">;

/** Without the schema of its kind: the agents of self-hosted Shoots look, too, in little memory. */
export const MANAGED_RESOURCE: TypeRef<ManagedResource> = {
  apiVersion: "resources.gardener.cloud/v1alpha1",
  kind: "ManagedResource",
};

/**
 * What each aspect looks at, for one Shoot; what is in it is looked at while its API server answers. As upstream, a control
 * plane whose etcd was not backed up when it should have been is not healthy.
 */
export async function examine(
  { seed, shoot, snapshots = { reached: true }, etcds = { reached: true }, reports = [], pools = [] }: Sights,
  namespace: string,
  now = new Date(),
): Promise<Record<HealthType, Readiness>> {
  const apiServer = shoot ? await answered(shoot) : unreachable;
  const inShoot = async (look: (lists: Lists) => Promise<Readiness>): Promise<Readiness> =>
    shoot && apiServer.reached ? await safely(() => look(shoot)) : unreachable;
  const managed = seed.list(MANAGED_RESOURCE, { namespace });
  const applied = (isWanted: (one: ManagedResource) => boolean) =>
    safely(async () =>
      allAre(
        (await managed).filter((one) => isWanted(one) && !isIgnored(one)),
        isApplied,
      ),
    );
  const components = listWorkloads(seed, controlPlaneKinds, controlPlaneIn(namespace));
  const [controlPlane, beside, nodes, system, inside, reach] = await Promise.all([
    safely(async () => controlPlaneOf(await components)),
    applied(isForSeed),
    inShoot(async (lists) => everyNode(await lists.list(Node), pools)),
    inShoot(async (lists) => everyWorkload(await listWorkloads(lists, [Deployment, DaemonSet], systemComponents))),
    applied((one) => !isForSeed(one)),
    shoot && apiServer.reached ? safely(() => reachOf(components, shoot)) : well,
  ]);
  const reported = (type: HealthType) => reportedReadiness(type, reports, now);
  return {
    APIServerAvailable: both(apiServer, reported("APIServerAvailable")),
    ControlPlaneHealthy: noting(
      etcds,
      both(both(both(both(etcds, controlPlane), beside), snapshots), reported("ControlPlaneHealthy")),
    ),
    EveryNodeReady: both(nodes, reported("EveryNodeReady")),
    SystemComponentsHealthy: both(
      apiServer.reached ? both(both(system, inside), reach) : system,
      reported("SystemComponentsHealthy"),
    ),
  };
}

/** How long, in ms, an aspect may be bad before it is called so; until then it is `Progressing`. */
export const THRESHOLD = 60_000;

/** The condition that follows from the one before: no flapping, and times change only when something does. */
export function nextCondition(
  type: HealthType,
  before: Condition | undefined,
  readiness: Readiness,
  now: Date,
): Condition {
  const status = statusAfter(before, readiness, now);
  const message = readiness.reached ? [healthy[type], readiness.note].filter(Boolean).join(" ") : readiness.message;
  const reason = reasonOf(readiness);
  return unlessSame(before, { type, status, reason, message }, now);
}

function reasonOf(readiness: Readiness): string {
  if (readiness.reached) return "Healthy";
  return readiness.reason ?? (readiness.unknown ? "OutdatedHealthCheckReport" : "Unhealthy"); // upstream's word for a report whose controller is silent
}

/** The condition of a Shoot that hibernates: nothing was looked at, and nothing is wrong (upstream: the same reason). */
export function hibernatedCondition(type: HealthType, before: Condition | undefined, now: Date): Condition {
  const message = "The Shoot is hibernated.";
  return unlessSame(before, { type, status: "True", reason: "ConditionNotChecked", message }, now);
}

/** The next condition, or the one before where that says the same; its times change only with what it says. */
export function unlessSame(
  before: Condition | undefined,
  next: Pick<Condition, "type" | "status" | "reason" | "message">,
  now: Date,
): Condition {
  const isSameStatus = before?.status === next.status;
  if (isSameStatus && before.message === next.message) return before;
  const time = timeOf(now);
  return { ...next, lastTransitionTime: isSameStatus ? before.lastTransitionTime : time, lastUpdateTime: time };
}

const healthy: Record<HealthType, string> = {
  APIServerAvailable: "The API server answers.",
  ControlPlaneHealthy: "All control plane components are healthy.",
  EveryNodeReady: "All nodes are ready.",
  SystemComponentsHealthy: "All system components are healthy.",
};

const unreachable: Readiness = { reached: false, message: "The Shoot's API server cannot be reached." };

function statusAfter(before: Condition | undefined, readiness: Readiness, now: Date): Condition["status"] {
  if (readiness.reached) return "True";
  if (readiness.unknown) return "Unknown";
  if (before === undefined || before.status === "True") return "Progressing";
  if (before.status !== "Progressing") return "False";
  return now.getTime() - Date.parse(before.lastTransitionTime) > THRESHOLD ? "False" : "Progressing";
}

const answered = (shootClient: Pick<KubeClient, "get">): Promise<Readiness> =>
  safely(async () =>
    (await shootClient.get("/readyz")) === "ok" ? { reached: true } : { reached: false, message: "It is not ready." },
  );

interface Selection {
  readonly namespace: string;
  readonly labelSelector: string;
}

const controlPlaneKinds = [Deployment, StatefulSet];

const controlPlaneIn = (namespace: string): Selection => ({
  namespace,
  labelSelector: `${ROLE_LABEL}=controlplane`,
});

const systemComponents: Selection = { namespace: "kube-system", labelSelector: `${NO_CLEANUP_LABEL}=true` };

async function listWorkloads(client: Lists, kinds: readonly Kind[], selection: Selection): Promise<KubeObject[]> {
  const lists = kinds.map((kind) => client.list(kind, selection));
  return (await Promise.all(lists)).flat();
}

/** Where a move is stuck there may be none yet. What dependency-watchdog has scaled down is as it should be, and does nothing. */
function controlPlaneOf(objects: readonly KubeObject[]): Readiness {
  if (objects.length === 0) return { reached: false, message: "No component is there." };
  const stopped = objects.filter(({ metadata }) => SCALED_DOWN_BY_WATCHDOG_ANNOTATION in (metadata.annotations ?? {}));
  const names = stopped.map(({ metadata }) => metadata.name).sort();
  const message = `Scaled down by dependency-watchdog: ${names.join(", ")}`;
  return both(everyWorkload(objects), names.length === 0 ? { reached: true } : { reached: false, message });
}

/** Both are reached; what is known to be bad counts more than what is not known. */
export function both(one: Readiness, other: Readiness): Readiness {
  if (one.reached || other.reached) return one.reached ? other : one;
  if (one.unknown !== other.unknown) return one.unknown ? other : one;
  const reason = one.reason ?? other.reason;
  return { reached: false, message: `${one.message}; ${other.message}`, ...(reason !== undefined && { reason }) };
}

/** The whole with the note of a part, once all is well. */
const noting = (part: Readiness, whole: Readiness): Readiness =>
  whole.reached && part.reached && part.note !== undefined ? { reached: true, note: part.note } : whole;

/** Whether the API server reaches pods: through the tunnel where it has an end of it beside, by the seed's routes where not, and by its node's where no seed has it. */
async function reachOf(
  components: Promise<readonly KubeObject[]>,
  shoot: Pick<KubeClient, "get" | "list">,
): Promise<Readiness> {
  const apiServer = (await components).find(({ metadata }) => metadata.name === "kube-apiserver");
  if (apiServer === undefined) return await routeReadiness(shoot, { remedy: NODE_ROUTES });
  const { template } = (apiServer["spec"] ?? {}) as PodMaker;
  const containers = template?.spec?.initContainers ?? [];
  const hasTunnel = containers.some(({ name }) => name === TUNNEL_SERVER);
  return hasTunnel ? await tunnelReadiness(shoot) : await routeReadiness(shoot);
}

interface PodMaker {
  readonly template?: { readonly spec?: { readonly initContainers?: readonly { readonly name: string }[] } };
}

const well: Readiness = { reached: true };

/** Those of class `seed` stand beside the control plane; all others are of the Shoot. */
const isForSeed = ({ spec }: ManagedResource): boolean => spec.class === "seed";

const everyWorkload = (objects: readonly KubeObject[]): Readiness => allAre(objects, rolledOut);

/** All objects are as `judge` says; else, which are not, and why. */
export function allAre<T extends KubeObject>(objects: readonly T[], judge: (object: T) => Readiness): Readiness {
  const faults = objects.flatMap((object) => {
    const readiness = judge(object);
    return readiness.reached ? [] : [`${object.kind} ${object.metadata.name}: ${readiness.message}`];
  });
  return faults.length === 0 ? { reached: true } : { reached: false, message: faults.sort().join("; ") };
}

/** Users of a Shoot make as many Nodes as they like, and a status has room for few of their names. */
const MOST_NAMES = 20;

function everyNode(nodes: readonly KubeObject[], pools: readonly PoolSize[]): Readiness {
  const unready = nodes.filter((node) => !isReady(node)).map(({ metadata }) => metadata.name);
  const faults = [
    ...pools.flatMap(({ name, minimum }) => {
      const count = nodes.filter(({ metadata }) => metadata.labels?.[POOL_LABEL] === name).length;
      return count < minimum ? [`Pool ${name} has ${counted(count, "node")} of at least ${minimum}`] : [];
    }),
    ...(unready.length === 0 ? [] : [`Not ready: ${listed(unready.sort(), MOST_NAMES)}`]),
  ];
  return faults.length === 0 ? { reached: true } : { reached: false, message: faults.join("; ") };
}

/** Not being able to look is an answer, too; users must see it. */
export async function safely(look: () => Promise<Readiness>): Promise<Readiness> {
  try {
    return await look();
  } catch (error) {
    return { reached: false, message: error instanceof Error ? error.message : String(error) };
  }
}
