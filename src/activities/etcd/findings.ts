import type { EtcdRole } from "../../components/index.ts";
import { Pod, unlessGone, type ContainerStatus, type KubeClient } from "../../kube/index.ts";
import { damageOn, etcdClaimRef } from "../backup/etcd-claim.ts";
import { isReady } from "../waits/readiness.ts";
import { isOfFailedStart, judgeLog, type LogVerdict } from "./log-verdict.ts";

/** Reads claims, pods and their logs. */
export type EtcdReader = Pick<KubeClient, "list" | "get" | "read">;

/**
 * Returns what keeps an etcd of a seed from starting, as its claim says or the log of its last end; undefined for one that is ready, or
 * that has served, has ended only once and is starting again: that may have been its node's end.
 */
export async function findEtcdVerdict(
  seedClient: EtcdReader,
  namespace: string,
  role: EtcdRole,
): Promise<LogVerdict | undefined> {
  const marked = damageOn(await seedClient.read(etcdClaimRef(namespace, role)));
  if (marked !== undefined) return { state: "damaged", why: marked };
  const crashing = (await podsOf(seedClient, namespace, role)).find(isCrashing);
  if (crashing === undefined) return undefined;
  const query = `container=${CONTAINER}&previous=true&tailLines=400&limitBytes=200000`;
  const path = `/api/v1/namespaces/${namespace}/pods/${crashing.metadata.name}/log?${query}`;
  const log = await unlessGone(seedClient.get(path));
  if (typeof log !== "string" || (isStarting(crashing) && !isOfFailedStart(log))) return undefined;
  return judgeLog(log);
}

/** Whether an etcd of this namespace ends again and again. */
export const endsAgain = async (seedClient: EtcdReader, namespace: string, role: EtcdRole): Promise<boolean> =>
  (await podsOf(seedClient, namespace, role)).some(isCrashing);

/** Whether an etcd of this namespace is ready. */
export const runs = async (seedClient: EtcdReader, namespace: string, role: EtcdRole): Promise<boolean> =>
  (await podsOf(seedClient, namespace, role)).some(isReady);

const podsOf = (seedClient: EtcdReader, namespace: string, role: EtcdRole): Promise<Pod[]> =>
  seedClient.list(Pod, { namespace, labelSelector: `app=etcd-statefulset,role=${role}` });

const CONTAINER = "etcd";

function isCrashing({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return (status?.containerStatuses ?? []).some(
    (container) => container.name === CONTAINER && hasEndedAgain(container),
  );
}

/** Whether the kubelet has begun it again: its last end, which may have been its first, says little of that. */
const isStarting = ({ status }: Pod): boolean =>
  (status?.containerStatuses ?? []).some(({ name, state }) => name === CONTAINER && state?.running !== undefined);

function hasEndedAgain({ ready, restartCount = 0, lastState }: ContainerStatus): boolean {
  return ready !== true && restartCount > 0 && (lastState?.terminated?.exitCode ?? 0) !== 0;
}
