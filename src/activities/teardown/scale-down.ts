import type { KubeObject } from "../../api/schema/meta.ts";
import { inWords, refOf, ReplicaSet, unlessGone, type KubeClient, type Workload } from "../../kube/index.ts";
import { poll, type PollOptions } from "../poll.ts";

/**
 * Scales workloads to nothing, and returns when their controllers have taken note: from then on no pod is made for them,
 * and those that still are there can be counted. A pod whose making was under way would be missed otherwise.
 * `o` is for Kubernetes' own controllers.
 */
export async function scaleDown(seedClient: KubeClient, workloads: readonly Workload[], o: PollOptions): Promise<void> {
  const scale = async (workload: Workload) =>
    workload.spec.replicas === 0
      ? workload
      : await unlessGone(seedClient.patch(refOf(workload), { spec: { replicas: 0 } }));
  const scaled = await Promise.all(workloads.map(scale));
  const stopped = scaled.filter((workload) => workload !== undefined);
  await poll(o, async () => {
    for (const workload of stopped) {
      const reason = await findActingController(seedClient, workload);
      if (reason !== undefined) return `cannot stop ${inWords(refOf(workload))}: ${reason}`;
    }
    return undefined;
  });
}

/** Which controller may still make a pod of this workload. */
async function findActingController(seedClient: KubeClient, workload: Workload): Promise<string | undefined> {
  const current = await seedClient.read(refOf(workload));
  if (current === undefined) return undefined;
  if (current.spec.replicas !== 0) return `another client has scaled it to ${current.spec.replicas ?? 1} again`;
  if (!isObserved(current)) return "its controller has not seen the latest spec";
  return workload.kind === "Deployment" ? findActingReplicaSet(seedClient, current) : undefined;
}

async function findActingReplicaSet(seedClient: KubeClient, deployment: Workload): Promise<string | undefined> {
  const { namespace = "" } = deployment.metadata;
  const sets = await seedClient.list(ReplicaSet, { namespace });
  const acting = sets.find((set) => isOwnedBy(set, deployment) && (set.spec.replicas !== 0 || !isObserved(set)));
  return acting && `its ${inWords(refOf(acting))} has not been scaled down yet`;
}

const isObserved = ({ metadata, status }: Workload): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);

const isOwnedBy = ({ metadata }: KubeObject, owner: KubeObject): boolean =>
  (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid);
