import { ETCD_CHECK_LABEL, SNAPSHOT_LABEL } from "../../api/labels.ts";
import { podsOfJob } from "../../activities/backup/jobs.ts";
import { readStatus, type EtcdReading } from "../../activities/etcd/reading.ts";
import { fenced } from "../../activities/leadership/fenced-client.ts";
import { Superseded } from "../../activities/superseded.ts";
import { hasEnded } from "../../activities/waits/readiness.ts";
import { defragmentation, ETCDS, statusContainer, type EtcdRole } from "../../components/index.ts";
import {
  createController,
  createReflector,
  CronJob,
  isAlreadyExists,
  Job,
  Namespace,
  type Pod,
  refOf,
  unlessGone,
  type KubeClient,
  type NamespacedKey,
} from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { createOwners } from "../mirror/owner.ts";
import type { EtcdReadings } from "./readings.ts";
import { COMPACT_CONTAINER, roomJob, taskOf } from "./room.ts";

/** The seed whose Jobs ask its etcds, and the garden that says whose they are. */
export interface EtcdChecksDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly seedName: string;
  readonly readings: EtcdReadings;
  readonly log: Logger;
}

/**
 * Reads what the Jobs of a seed have asked its etcds, and has those defragmented that need it: one of a Shoot at a time, and none while a
 * snapshot is taken. For Shoots alone that this seed leads.
 */
export function createEtcdChecks(deps: EtcdChecksDeps) {
  const { seedClient, log } = deps;
  const check = createEtcdCheck({ ...deps, jobOf: ({ name, namespace }) => jobs.get(name, namespace) });
  const controller = createController({ name: "etcd-checks", log, reconcile: check.reconcile });
  const jobs = createReflector(seedClient, Job, {
    log,
    labelSelector: ETCD_CHECK_LABEL,
    onEvent: ({ object }) => controller.enqueue({ name: object.metadata.name, namespace: object.metadata.namespace }),
  });
  return {
    start() {
      controller.start();
      jobs.start();
    },
    async stop(): Promise<void> {
      await Promise.all([controller.stop(), jobs.stop()]);
    },
  };
}

/** A seed, and its Jobs as a watch knows them. */
export interface EtcdCheckDeps extends EtcdChecksDeps {
  readonly jobOf: (key: NamespacedKey) => Job | undefined;
}

/**
 * One look at a Job that has asked etcds, or defragmented one. Of a Shoot whose etcds are well, it takes a request for the pod and
 * one for each log: there are thousands of Shoots. Whose readings are known here does not matter until something is done.
 */
export function createEtcdCheck({ gardenClient, seedClient, seedName, readings, jobOf, log }: EtcdCheckDeps) {
  const findOwner = createOwners({ gardenClient, seedClient, seedName });

  const readLogs = async (job: Job): Promise<ReadonlyMap<EtcdRole, EtcdReading>> => {
    const [pod] = await podsOfJob(seedClient, job);
    if (pod === undefined) return new Map();
    const { initContainers = [], containers = [] } = pod.spec as Pick<Pod["spec"], "containers"> & Containers;
    const names = new Set([...initContainers, ...containers].map((container) => container.name));
    const found = new Map<EtcdRole, EtcdReading>();
    for (const role of ETCDS.filter((one) => names.has(statusContainer(one)))) {
      const path = `/api/v1/namespaces/${job.metadata.namespace}/pods/${pod.metadata.name}/log?container=${statusContainer(role)}`;
      // A container that never began has no log.
      const reading = readStatus(await unlessGone(seedClient.get(path)).catch(() => undefined));
      if (reading !== undefined) found.set(role, reading);
    }
    return found;
  };

  /** Jobs of the namespace that have not ended: defragmentations, and snapshots of whatever kind. */
  const isBusy = async (namespace: string): Promise<boolean> => {
    const lists = [SNAPSHOT_LABEL, ETCD_CHECK_LABEL].map((labelSelector) =>
      seedClient.list(Job, { namespace, labelSelector }),
    );
    return (await Promise.all(lists)).flat().some((job) => !hasEnded(job));
  };

  const makeRoom = async (namespace: string, role: EtcdRole, reading: EtcdReading): Promise<void> => {
    const task = taskOf(reading);
    if (task === "nothing") return;
    const { owner } = await findOwner(namespace);
    if (owner === undefined) return;
    const client = fenced(seedClient, { technicalID: namespace, epoch: owner.epoch });
    const name = defragmentation(role);
    const [schedule, before] = await Promise.all([
      seedClient.read(CronJob, { namespace, name }),
      seedClient.read(Job, { namespace, name }),
    ]);
    if (schedule === undefined || (await isBusy(namespace))) return;
    // One that has ended stays for a day: so often, at most, is defragmented what has no alarm.
    if (before !== undefined && task === "defragment") return;
    const compacted = before !== undefined && (await hasCompacted(seedClient, before));
    if (before !== undefined)
      await client.remove(refOf(before), { uid: before.metadata.uid ?? "", propagationPolicy: "Background" });
    log.info({ namespace, etcd: `etcd-${role}`, task, ...reading }, "etcd is defragmented");
    await client.create(roomJob({ role, schedule, task, reading, compacted })).catch(unlessExists);
  };

  return {
    async reconcile({ name, namespace }: NamespacedKey): Promise<void> {
      const job = jobOf({ namespace, name });
      if (job === undefined) {
        // Jobs go while their namespace is being deleted.
        const of = await seedClient.read(Namespace, { name: namespace });
        if (of === undefined || of.metadata.deletionTimestamp !== undefined) readings.forget(namespace);
        return;
      }
      if (!hasEnded(job)) return;
      for (const [role, reading] of await readLogs(job)) {
        readings.note(namespace, role, reading, job.metadata.creationTimestamp ?? "");
        // What has just been defragmented is looked at again by the next check.
        if (ETCDS.some((one) => name === defragmentation(one))) continue;
        await makeRoom(namespace, role, reading).catch(unlessSuperseded);
      }
    },
  };
}

interface Containers {
  readonly initContainers?: readonly { readonly name: string }[];
}

/** Whether its first step has failed because there is nothing older left. */
async function hasCompacted(seedClient: Pick<KubeClient, "list">, job: Job): Promise<boolean> {
  return (await podsOfJob(seedClient, job)).some(({ status }) =>
    (status?.initContainerStatuses ?? []).some(
      ({ name, state }) => name === COMPACT_CONTAINER && /has been compacted/.test(state?.terminated?.message ?? ""),
    ),
  );
}

function unlessExists(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}

function unlessSuperseded(error: unknown): void {
  if (!(error instanceof Superseded)) throw error;
}
