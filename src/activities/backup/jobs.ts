import type { KubeObject } from "../../api/schema/meta.ts";
import { Job, Pod, refOf, refTo, type KubeClient } from "../../kube/index.ts";
import { StepError } from "../step-error.ts";
import type { WaitTarget } from "../index.ts";
import { completed, JOB_UID_LABEL } from "../waits/readiness.ts";
import type { WaitGroup } from "../waits/waits.ts";

/** A Job of a Shoot's namespace. */
export const jobRef = (namespace: string, name: string) => refTo(Job, { namespace, name });

/** The wait for a Job; `deadline` is ms. A Job that has failed stays failed, so its failure ends the wait at once. */
export const jobTarget = (namespace: string, name: string, deadline: number): WaitTarget => ({
  apiVersion: "batch/v1",
  kind: "Job",
  name,
  namespace,
  until: "completed",
  severeAfter: 0,
  deadline,
});

/** Whether the Job has given up. */
export function hasFailed(job: KubeObject): boolean {
  const readiness = completed(job);
  return !readiness.reached && readiness.error !== undefined;
}

/** The pods that a Job has made; those of an earlier Job of its name may be there still, and are none of them. */
export const podsOfJob = (seedClient: Pick<KubeClient, "list">, { metadata }: KubeObject): Promise<Pod[]> =>
  seedClient.list(Pod, {
    namespace: metadata.namespace ?? "",
    labelSelector: `${JOB_UID_LABEL}=${metadata.uid}`,
  });

/** Deletes a Job and its pods. */
export const removeJob = (seedClient: KubeClient, job: KubeObject): Promise<void> =>
  seedClient.remove(refOf(job), {
    propagationPolicy: "Background",
    ...(job.metadata.uid === undefined ? {} : { uid: job.metadata.uid }),
  });

/**
 * Makes the Job, registered for the calling flow's wait, unless it runs or is done already. A Job that has failed is
 * deleted and made anew.
 */
export async function ensureJob(o: {
  seedClient: KubeClient;
  group: WaitGroup;
  target: WaitTarget;
  describe: () => Promise<KubeObject>;
}): Promise<void> {
  const { seedClient, group, target } = o;
  const ref = jobRef(target.namespace ?? "", target.name);
  const existing = await seedClient.read(ref);
  if (existing?.metadata.deletionTimestamp !== undefined)
    throw new StepError(`cannot make Job ${ref.namespace}/${ref.name}: an earlier one is still being deleted`);
  if (existing !== undefined && !hasFailed(existing)) {
    const { uid } = existing.metadata;
    await seedClient.patch(ref, { metadata: { uid, annotations: group.registration(target, uid) } });
    return;
  }
  if (existing !== undefined) await removeJob(seedClient, existing);
  const { metadata, ...job } = await o.describe();
  const annotations = { ...metadata.annotations, ...group.registration(target) };
  await seedClient.create({ ...job, metadata: { ...metadata, annotations } });
}
