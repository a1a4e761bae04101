import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject } from "../api/meta.ts";
import { isNotFound, refOf, type KubeClient } from "../kube/index.ts";
import { StepError } from "./failure.ts";

/** A Deployment or StatefulSet, as far as it decides which pods there are. */
export interface Workload extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly selector: { readonly matchLabels?: Record<string, string> } };
  readonly status?: { readonly observedGeneration?: number };
}

/** How long, in ms, and how often Kubernetes' own controllers are looked at. */
export interface Patience {
  readonly patience: number;
  readonly period: number;
}

/**
 * Scales workloads to nothing, and returns when their controllers have taken note: from then on no pod is made for them,
 * and those that still are there can be counted. A pod whose making was under way would be missed otherwise.
 */
export async function scaleDown(seed: KubeClient, workloads: readonly Workload[], o: Patience): Promise<void> {
  const scale = async (workload: Workload) =>
    workload.spec.replicas === 0
      ? workload
      : await unlessGone(seed.patch<Workload>(refOf(workload), { spec: { replicas: 0 } }));
  const scaled = await Promise.all(workloads.map(scale));
  const stopped = scaled.filter((workload) => workload !== undefined);
  await until(o, async () => {
    for (const workload of stopped) {
      const reason = await whatActs(seed, workload);
      if (reason !== undefined) return `cannot stop ${nameOf(workload)}: ${reason}`;
    }
    return undefined;
  });
}

/** Looks until nothing is said to be in the way; throws the last reason when it takes too long. */
export async function until({ patience, period }: Patience, look: () => Promise<string | undefined>): Promise<void> {
  for (const end = Date.now() + patience; ; await sleep(period)) {
    const reason = await look();
    if (reason === undefined) return;
    if (Date.now() >= end) throw new StepError(reason);
  }
}

/** What was written; undefined when the object is gone. */
export async function unlessGone<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** `Deployment ns/name`, as errors name it. */
export const nameOf = ({ kind, metadata: { namespace, name } }: KubeObject): string =>
  namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;

/** Which controller may still make a pod of this workload. */
async function whatActs(seed: KubeClient, workload: Workload): Promise<string | undefined> {
  const current = await seed.read<Workload>(refOf(workload));
  if (current === undefined) return undefined;
  if (current.spec.replicas !== 0) return `somebody has scaled it to ${current.spec.replicas ?? 1} again`;
  if (!isObserved(current)) return "its controller has not seen the latest spec";
  return workload.kind === "Deployment" ? whatReplicaSetActs(seed, current) : undefined;
}

async function whatReplicaSetActs(seed: KubeClient, deployment: Workload): Promise<string | undefined> {
  const { namespace = "" } = deployment.metadata;
  const sets = await seed.list<Workload>({ apiVersion: "apps/v1", kind: "ReplicaSet" }, { namespace });
  const acting = sets.find((set) => isOwnedBy(set, deployment) && (set.spec.replicas !== 0 || !isObserved(set)));
  return acting && `its ${nameOf(acting)} has not been scaled down yet`;
}

const isObserved = ({ metadata, status }: Workload): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);

const isOwnedBy = ({ metadata }: KubeObject, owner: KubeObject): boolean =>
  (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid);
