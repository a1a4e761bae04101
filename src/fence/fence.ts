import { setTimeout as sleep } from "node:timers/promises";
import { ROLE_LABEL, SNAPSHOT_LABEL } from "../api/labels.ts";
import { FENCE_CONTROLLER, SYSTEM_NAMESPACE } from "../api/names.ts";
import {
  findActiveCluster,
  findManagedResources,
  findPodMakers,
  type Stop,
} from "../activities/teardown/pod-makers.ts";
import {
  EPOCH_ANNOTATION,
  HANDOVER_ANNOTATION,
  HANDOVER_RENEWED_ANNOTATION,
  LEADERSHIP_RECORD_ANNOTATION,
  SHOOT_UID_ANNOTATION,
} from "../api/annotations.ts";
import type { KubeObject } from "../api/index.ts";
import { areTwoShoots, isLeader, type Leader } from "../dns/index.ts";
import { createEventRecorder, Namespace, refOf, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { readMemories } from "../binding/memory.ts";
import { createHandovers, type Handovers } from "./handovers.ts";

/** A fence works with its own seed and the zone's DNS servers: neither with the garden nor with Temporal. */
export interface FenceDeps {
  readonly seedClient: KubeClient;
  readonly seedName: string;
  /** Asks the zone's own servers; undefined when they name no leader, throws when they don't answer. */
  readonly ask: (record: string) => Promise<Leader | undefined>;
  readonly log: Logger;
  /** From one round to the next, in ms: well below two leases, after which another seed acts. */
  readonly period?: number;
  /** The announcements of handovers that it has seen; none yet unless told otherwise. */
  readonly handovers?: Handovers;
}

/** The field manager of what a fence writes: no flow's, so that it is bound by no epoch. */
const fieldManager = "perennial-fence";

/**
 * Stops the control planes of Shoots that another seed leads, on seeing exactly that, twice. No answer stops nothing,
 * however long; nor does a change that a planned migration has announced, whose flow stops the control plane in order, as
 * long as the announcement is renewed. After that etcd alone is left running. In a copy of the seed that was refused, it stops
 * what acts of all control planes, and leaves running what serves. Starting one again is up to flows.
 */
export function createFence({ period = 15_000, handovers = createHandovers(), ...deps }: FenceDeps) {
  const { seedClient: client, seedName: instance, log } = deps;
  const stopping = new AbortController();
  const events = createEventRecorder({ client, controller: FENCE_CONTROLLER, instance, log });
  let running: Promise<void> | undefined;
  let well = false;

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        const displaced = await findDisplacement(client).catch((error: unknown) => {
          log.warn({ err: error }, "cannot read whether this seed is bound");
          return undefined;
        });
        await guardAll({ ...deps, events, handovers, displaced }, stopping.signal);
        well = true;
      } catch (error) {
        well = false;
        log.warn({ err: error }, "cannot look after the fence");
      }
      await sleep(period, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };

  return {
    start: () => void (running ??= run()),
    /** Whether a round has come to its end, and none has failed since. */
    isWell: () => well,
    /** Resolves when nothing is being stopped any more. */
    async stop(): Promise<void> {
      stopping.abort();
      await running;
      await events.settled();
    },
  };
}

interface Round extends Omit<FenceDeps, "period" | "handovers"> {
  readonly handovers: Handovers;
  /** Why this copy of the seed may not act; undefined where it may. */
  readonly displaced: string | undefined;
  readonly events: ReturnType<typeof createEventRecorder>;
}

/** Looks after each Shoot of the seed once, several at a time. */
async function guardAll(round: Round, stopping: AbortSignal): Promise<void> {
  const { seedClient, log } = round;
  const queue: KubeObject[] = [];
  for await (const namespace of seedClient.metadata(Namespace, { labelSelector: `${ROLE_LABEL}=shoot` }))
    queue.push(briefly(namespace));
  const all = queue.length;
  round.handovers.keep(new Set(queue.map(({ metadata }) => metadata.name)));
  let unanswered = 0;
  const work = async () => {
    for (let next = queue.pop(); next !== undefined && !stopping.aborted; next = queue.pop()) {
      const { name: namespace } = next.metadata;
      const told = await guard(round, next).catch((error: unknown) => {
        log.error({ namespace, err: error }, "control plane not fenced");
        return true;
      });
      if (!told) unanswered += 1;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  if (unanswered > 0) log.warn({ unanswered, all }, "not told who leads; nothing is stopped for that");
}

/** What is kept of each namespace while all are gone through: there may be ten thousand. */
function briefly({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, uid, deletionTimestamp, annotations = {} } = metadata;
  const kept = Object.entries(annotations).filter(([key]) => decisive.has(key));
  return {
    ...{ apiVersion, kind },
    metadata: { name, annotations: Object.fromEntries(kept), ...omitUndefined({ uid, deletionTimestamp }) },
  };
}

const decisive: ReadonlySet<string> = new Set([
  EPOCH_ANNOTATION,
  HANDOVER_ANNOTATION,
  HANDOVER_RENEWED_ANNOTATION,
  LEADERSHIP_RECORD_ANNOTATION,
  SHOOT_UID_ANNOTATION,
]);

/** Stops the Shoot's control plane if another seed leads it. False when the servers did not tell who leads. */
async function guard(round: Round, namespace: KubeObject): Promise<boolean> {
  const { displaced, seedClient, seedName } = round;
  let leader: Leader | undefined;
  try {
    leader = await findNewLeader(round, namespace);
  } catch (error) {
    round.log.debug({ namespace: namespace.metadata.name, err: error }, "cannot tell who leads");
    if (displaced === undefined) return false;
  }
  if (leader !== undefined) {
    const { seed, epoch } = leader;
    const why = `Seed ${seed} leads this Shoot in epoch ${epoch}: its control plane in Seed ${seedName} is stopped`;
    const found = leader;
    await stopControlPlane(round, namespace, why, async () => {
      const current = await seedClient.read(refOf(namespace));
      return current && findLoss(current, found, round);
    });
  } else if (displaced !== undefined) {
    const why = `what acts of this Shoot's control plane is stopped: ${displaced}`;
    const judge = async () => ((await findDisplacement(seedClient)) === undefined ? undefined : "displaced");
    await stopControlPlane(round, namespace, why, judge);
  }
  return true;
}

/** Why this cluster is a copy of the seed that may not act, in every role that it has; undefined where it may act in one. */
async function findDisplacement(seedClient: KubeClient): Promise<string | undefined> {
  const memories = await readMemories(seedClient);
  const reasons = memories.flatMap(({ refused }) => refused ?? []);
  return reasons.length > 0 && reasons.length === memories.length ? reasons.join("; ") : undefined;
}

async function findNewLeader({ ask, ...round }: Round, namespace: KubeObject): Promise<Leader | undefined> {
  const record = namespace.metadata.annotations?.[LEADERSHIP_RECORD_ANNOTATION];
  if (record === undefined) return undefined;
  const leader = await ask(record);
  if (leader === undefined || findLoss(namespace, leader, round) === undefined) return undefined;
  return isLeader(await ask(record), leader) ? leader : undefined;
}

/**
 * What is to be stopped is read first, then the namespace, after the record: a handover is announced, and a new epoch of
 * this seed begun, before the record or the workloads change. So only what was there under the lost epoch is stopped,
 * also when this process sleeps for an hour between any two lines.
 */
async function stopControlPlane(
  round: Round,
  namespace: KubeObject,
  why: string,
  judge: () => Promise<Loss | undefined>,
): Promise<void> {
  const { seedClient, events, log } = round;
  const { name } = namespace.metadata;
  if (name === SYSTEM_NAMESPACE) return log.warn({ namespace: name }, "the system of a cluster is not fenced");
  const [cluster, managed, makers] = await Promise.all([
    findActiveCluster(seedClient, name, why),
    findManagedResources(seedClient, name),
    findPodMakers(seedClient, name),
  ]);
  const loss = await judge();
  if (loss === undefined) return;
  const ended = makers.filter(({ object }) => !staysOn[loss](object));
  // The Cluster first, then what resource managers apply: they and extensions would bring back what is stopped.
  let stopped = 0;
  for (const stops of [cluster ? [cluster] : [], managed, ended]) stopped += await stopAll(round, stops);
  if (stopped === 0) return;
  log.warn({ namespace: name, why, stopped }, "control plane fenced");
  events.record({ regarding: namespace, type: "Warning", reason: "Fenced", action: "Stop", note: why });
}

/** Stops each object as it was read, and says how many; what has changed or could not be stopped is the next round's. */
async function stopAll({ seedClient, log }: Round, stops: readonly Stop[]): Promise<number> {
  const writes = stops.map(async ({ object, change }) => {
    const { resourceVersion } = object.metadata;
    const metadata = { ...(change["metadata"] as object | undefined), resourceVersion };
    await seedClient.patch(refOf(object), { ...change, metadata }, { fieldManager });
  });
  const failed = (await Promise.allSettled(writes)).filter((write) => write.status === "rejected");
  for (const { reason: err } of failed) log.warn({ err: err as unknown }, "not stopped yet");
  return stops.length - failed.length;
}

/** How many Shoots are asked for at once. */
const CONCURRENCY = 16;

/**
 * `whole`: no flow comes. `without its flow`: one was announced, and may still come for the last snapshot. `displaced`: the
 * whole seed is a copy that was refused, or was restored and is not bound again yet.
 */
type Loss = "whole" | "without its flow" | "displaced";

/**
 * How another seed has taken the lead from this namespace's; undefined when none has, or a migration that goes on has
 * announced it. Where that seed leads a later Shoot of the same name, epochs and handovers of the earlier one say nothing: a
 * Shoot gets a control plane only after all servers have named it.
 */
function findLoss(
  namespace: KubeObject,
  leader: Leader,
  { seedName, handovers }: Pick<Round, "seedName" | "handovers">,
): Loss | undefined {
  const { annotations = {}, deletionTimestamp } = namespace.metadata;
  const { [EPOCH_ANNOTATION]: epoch, [HANDOVER_ANNOTATION]: handover, [SHOOT_UID_ANNOTATION]: shoot } = annotations;
  const announced = handovers.announcedIn(namespace);
  if (leader.seed === seedName || epoch === undefined || deletionTimestamp !== undefined) return undefined;
  const own: Leader = { seed: seedName, epoch: Number(epoch), ...omitUndefined({ shoot }) };
  if (areTwoShoots(own, leader)) return "whole";
  if (leader.epoch < own.epoch) return undefined;
  if (handover === undefined || leader.epoch > Number(handover)) return "whole";
  return announced === undefined ? "without its flow" : undefined;
}

/** A flow that comes late takes the last snapshot from an etcd that runs, and whose API server has stopped. */
function isForLastSnapshot({ kind, metadata: { name, labels = {} } }: KubeObject): boolean {
  return kind === "Job" ? labels[SNAPSHOT_LABEL] === "requested" : kind === "StatefulSet" && name === "etcd-main";
}

/** Acts on nothing but its own data, and may be all that users of a restored seed have. */
const isServing = ({ kind, metadata: { name } }: KubeObject): boolean =>
  (kind === "StatefulSet" && name.startsWith("etcd-")) || (kind === "Deployment" && name === "kube-apiserver");

/** What is left running of a control plane that is stopped. */
const staysOn: Readonly<Record<Loss, (maker: KubeObject) => boolean>> = {
  whole: () => false,
  "without its flow": isForLastSnapshot,
  displaced: isServing,
};
