import type { Condition } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { now as timeOf, type KubeClient } from "../../kube/index.ts";
import { NO_CLEANUP_LABEL } from "../teardown/shoot-resources.ts";
import { rolledOut, type Standing } from "../waits/readiness.ts";

/** The aspects of a Shoot's health, as Gardener names them. */
export type HealthType = "APIServerAvailable" | "ControlPlaneHealthy" | "EveryNodeReady" | "SystemComponentsHealthy";

/** What each aspect looks at, for one Shoot; `shoot` is undefined while its API server cannot be reached at all. */
export async function examine(
  seed: KubeClient,
  shoot: KubeClient | undefined,
  namespace: string,
): Promise<Record<HealthType, Standing>> {
  const [apiServer, controlPlane, nodes, system] = await Promise.all([
    shoot ? answered(shoot) : unreachable,
    safely(async () => controlPlaneOf(await listWorkloads(seed, controlPlaneKinds, controlPlaneIn(namespace)))),
    shoot
      ? safely(async () => everyNode(await shoot.list<KubeObject>({ apiVersion: "v1", kind: "Node" })))
      : unreachable,
    shoot
      ? safely(async () => everyWorkload(await listWorkloads(shoot, ["Deployment", "DaemonSet"], systemComponents)))
      : unreachable,
  ]);
  return {
    APIServerAvailable: apiServer,
    ControlPlaneHealthy: controlPlane,
    EveryNodeReady: nodes,
    SystemComponentsHealthy: system,
  };
}

/** How long, in ms, an aspect may be bad before it is called so; until then it is `Progressing`. */
export const THRESHOLD = 60_000;

/** The condition that follows from the one before: no flapping, and times change only when something does. */
export function nextCondition(
  type: HealthType,
  before: Condition | undefined,
  standing: Standing,
  now: Date,
): Condition {
  const time = timeOf(now);
  const status = statusAfter(before, standing, now);
  const message = standing.reached ? healthy[type] : standing.message;
  const reason = standing.reached ? "Healthy" : "Unhealthy";
  if (before?.status === status && before.message === message) return before;
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : time;
  return { type, status, reason, message, lastTransitionTime, lastUpdateTime: time };
}

const healthy: Record<HealthType, string> = {
  APIServerAvailable: "The API server answers.",
  ControlPlaneHealthy: "All control plane components are healthy.",
  EveryNodeReady: "All nodes are ready.",
  SystemComponentsHealthy: "All system components are healthy.",
};

const unreachable: Standing = { reached: false, message: "The Shoot's API server cannot be reached." };

function statusAfter(before: Condition | undefined, standing: Standing, now: Date): Condition["status"] {
  if (standing.reached) return "True";
  if (before === undefined || before.status === "True") return "Progressing";
  if (before.status !== "Progressing") return "False";
  return now.getTime() - Date.parse(before.lastTransitionTime) > THRESHOLD ? "False" : "Progressing";
}

const answered = (shoot: KubeClient): Promise<Standing> =>
  safely(async () =>
    (await shoot.get("/readyz")) === "ok" ? { reached: true } : { reached: false, message: "It is not ready." },
  );

interface Selection {
  readonly namespace: string;
  readonly labelSelector: string;
}

const controlPlaneKinds = ["Deployment", "StatefulSet"] as const;

const controlPlaneIn = (namespace: string): Selection => ({
  namespace,
  labelSelector: "gardener.cloud/role=controlplane",
});

const systemComponents: Selection = { namespace: "kube-system", labelSelector: `${NO_CLEANUP_LABEL}=true` };

async function listWorkloads(
  client: KubeClient,
  kinds: readonly string[],
  selection: Selection,
): Promise<KubeObject[]> {
  const lists = kinds.map((kind) => client.list<KubeObject>({ apiVersion: "apps/v1", kind }, selection));
  return (await Promise.all(lists)).flat();
}

/** Where a move is stuck there may be none yet. */
const controlPlaneOf = (objects: readonly KubeObject[]): Standing =>
  objects.length === 0 ? { reached: false, message: "No component is there." } : everyWorkload(objects);

function everyWorkload(objects: readonly KubeObject[]): Standing {
  const faults = objects.flatMap((object) => {
    const standing = rolledOut(object);
    return standing.reached ? [] : [`${object.kind} ${object.metadata.name}: ${standing.message}`];
  });
  return faults.length === 0 ? { reached: true } : { reached: false, message: faults.sort().join("; ") };
}

function everyNode(nodes: readonly KubeObject[]): Standing {
  const unready = nodes.filter((node) => !isReady(node)).map(({ metadata }) => metadata.name);
  return unready.length === 0
    ? { reached: true }
    : { reached: false, message: `Not ready: ${unready.sort().join(", ")}` };
}

/** Whether the kubelet says that its node is ready. */
export function isReady(node: KubeObject): boolean {
  const { conditions = [] } = (node["status"] ?? {}) as { conditions?: readonly { type: string; status: string }[] };
  return conditions.some(({ type, status }) => type === "Ready" && status === "True");
}

/** Not being able to look is an answer, too; users must see it. */
async function safely(look: () => Promise<Standing>): Promise<Standing> {
  try {
    return await look();
  } catch (error) {
    return { reached: false, message: error instanceof Error ? error.message : String(error) };
  }
}
