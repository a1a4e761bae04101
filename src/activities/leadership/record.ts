import { isDeepStrictEqual } from "node:util";
import {
  CONFIRM_DELETION_ANNOTATION,
  EPOCH_ANNOTATION,
  OPERATION_ANNOTATION,
  TIMESTAMP_ANNOTATION,
  writtenEpoch,
} from "../../api/annotations.ts";
import { commandLines } from "../../api/command-lines.ts";
import { DNSRecord } from "../../api/index.ts";
import type { ShootRef, ShootRun } from "../../api/shoot/run.ts";
import {
  areTwoShoots,
  formatLeader,
  isLeader,
  type Leader,
  type LeaderLookup,
  type ServerAnswer,
} from "../../dns/index.ts";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  nextTimestamp,
  refOf,
  refTo,
  typeMeta,
  unlessGone,
  type KubeClient,
} from "../../kube/index.ts";
import { configurationProblem, StepError } from "../step-error.ts";
import { findLeadershipDomain } from "../shoot/leadership-domain.ts";
import { requireLeadershipProvider } from "../shoot/leadership-provider.ts";
import { requireOwnZone } from "../shoot/leadership-zone.ts";
import { extensionReady, type ExtensionLike } from "../waits/readiness.ts";
import { Superseded } from "../superseded.ts";
import { poll } from "../poll.ts";

/** A leader, and the TXT record that is to name it. */
export interface Publication extends Leader {
  readonly record: string;
  readonly leaseSeconds: number;
}

/** `gardenClient` writes the DNSRecord; `lookup` asks the zone's servers, and so needs no rights. */
export interface LeadershipRecordDeps {
  readonly gardenClient: KubeClient;
  readonly lookup: LeaderLookup;
  /** How long, in ms, one attempt waits before it says what for; 30 s unless told otherwise. */
  readonly timeout?: number;
}

/** Keeps a Shoot's leadership record, through a DNSRecord in the garden that an extension of class `garden` handles. */
export function createLeadershipRecord({ gardenClient, lookup, timeout = 30_000 }: LeadershipRecordDeps) {
  const polling = { timeout, period: Math.min(250, timeout) };
  const read = (shoot: ShootRef) => gardenClient.read(objectRef(shoot));

  /** The server that doesn't name the leader, and its answer; throws when it names a later one. */
  const findDissent = async (shoot: ShootRef, publication: Publication): Promise<StepError | undefined> => {
    const answers = await lookup.askAll(publication.record);
    refuseLater({ ...shoot, record: publication.record }, answers, leaderOf(publication));
    const dissenter = answers.find(({ leader }) => !isDeepStrictEqual(leader, leaderOf(publication)));
    return dissenter && new StepError(`${publication.record}: ${describeAnswer(dissenter)}`);
  };

  /**
   * Writes the object with a new request; compare-and-swap, so that a late writer can't undo a later one. The object's
   * controller writes, too, but not forever.
   */
  const ask = async (shoot: ShootRef, publication: Publication, wanted: LeadershipObject) => {
    for (let attempt = 1; ; attempt += 1) {
      const existing = await read(shoot);
      requireNoLater(existing, publication);
      if (existing?.metadata.deletionTimestamp !== undefined)
        throw new StepError(`cannot write DNSRecord ${nameOf(shoot)}: it is still being deleted`);
      const object = requested(wanted, existing);
      try {
        return await (existing === undefined ? gardenClient.create(object) : gardenClient.apply(object));
      } catch (cause) {
        if (!isConflict(cause) && !isAlreadyExists(cause) && !isNotFound(cause)) throw cause;
        if (attempt < MOST_ATTEMPTS) continue;
        throw new StepError(`cannot write DNSRecord ${nameOf(shoot)}: another client changes it again and again`, [], {
          cause,
        });
      }
    }
  };

  return {
    /**
     * Throws unless every server of the zone answers, and none names a later leader of this Shoot than `known`, which is
     * what the garden has of it: a garden that is older than the record decides nothing.
     */
    async requireLatest(shoot: ShootRef, record: string, known: Leader | undefined): Promise<void> {
      const answers = await lookup.askAll(record);
      refuseLater({ ...shoot, record }, answers, known && leaderOf(known));
      const silent = answers.find(({ error }) => error !== undefined);
      if (silent) throw new StepError(`cannot tell who leads: ${record}: ${describeAnswer(silent)}`);
    },

    /** Returns when every server of the zone names this leader; otherwise throws and says which one doesn't. */
    async publish(shoot: ShootRef, published: Publication): Promise<void> {
      const publication = { ...published, shoot: shoot.uid };
      const existing = await read(shoot);
      if (existing && isAnothers(existing, shoot)) return await waitForEarlier(gardenClient, existing);
      requireNoLater(existing, publication);
      const wanted = await describe(gardenClient, shoot, publication);
      const dissent = await findDissent(shoot, publication);
      if (existing && isDone(existing, wanted) && dissent === undefined) return;
      const asked = await ask(shoot, publication, wanted);
      const stamp = asked.metadata.annotations?.[TIMESTAMP_ANNOTATION];
      await poll(polling, async () => {
        const object = await read(shoot);
        requireNoLater(object, publication);
        if (object === undefined) return new StepError(`DNSRecord ${nameOf(shoot)} is gone`);
        const readiness = extensionReady(object, { timestamp: stamp });
        if (readiness.reached) return undefined;
        const problem = `DNSRecord ${nameOf(shoot)} is not done: ${readiness.message}`;
        return new StepError(problem, codesOf(object));
      });
      await poll(polling, () => findDissent(shoot, publication));
    },

    /** Throws unless the object, and every server that names a leader of this Shoot, names the run's; waits for servers that are silent. */
    async confirm({ leadershipRecord, seedName: seed, epoch, ...shoot }: ShootRun): Promise<void> {
      if (leadershipRecord === undefined) return;
      const own = { seed, epoch, shoot: shoot.uid };
      const existing = await read(shoot);
      if (existing && isAnothers(existing, shoot))
        throw ofEarlier(existing, "delete it once nothing of that Shoot is left");
      requireNoLater(existing, own);
      const answers = await lookup.askAll(leadershipRecord);
      refuseLater({ ...shoot, record: leadershipRecord }, answers, own);
      const objection = answers.find(
        ({ leader, error }) => error !== undefined || (leader !== undefined && !isLeader(leader, own)),
      );
      if (objection) throw new StepError(`cannot act as leader: ${leadershipRecord}: ${describeAnswer(objection)}`);
    },

    /** Takes the record out of the DNS and returns when its object is gone; a later leader's stays. */
    async remove(shoot: ShootRef, epoch: number): Promise<void> {
      const existing = await read(shoot);
      if (existing === undefined || isAnothers(existing, shoot)) return;
      requireNoLater(existing, { epoch });
      const { uid } = existing.metadata;
      if (existing.metadata.deletionTimestamp === undefined) {
        await confirmAndRemove(gardenClient, existing);
      }
      await poll(polling, async () => {
        const object = await read(shoot);
        if (object === undefined || object.metadata.uid !== uid) return undefined;
        const why = object.status?.lastError?.description ?? "its controller has not let go of it";
        return new StepError(`DNSRecord ${nameOf(shoot)} is still there: ${why}`, codesOf(object));
      });
    },
  };
}

/**
 * Throws when a server names a later leader of this Shoot than the garden knows. Only a garden that has gone back is older
 * than the record, as after a restore from a backup, and another try does not help: an operator has to look.
 */
function refuseLater(
  { namespace, name, uid, record }: ShootRef & { readonly record: string },
  answers: readonly ServerAnswer[],
  known: Leader | undefined,
): void {
  const own = known ?? { seed: "", epoch: 0, shoot: uid };
  const later = answers.find(({ leader }) => leader !== undefined && isLater(leader, { ...own, shoot: uid }));
  if (later?.leader === undefined) return;
  const says = known === undefined ? "no leader" : `${known.seed} in epoch ${known.epoch}`;
  throw configurationProblem(
    `cannot act as leader of Shoot ${namespace}/${name}: ${record} names ${later.leader.seed} in epoch ${later.leader.epoch}, and the Shoot's status.leadership names ${says}: the garden is older than the record, as after it was restored from a backup; take the leader over from the record: ${commandLines.recoverLeadership(`${namespace}/${name}`)}`,
  );
}

/** Whether the first one is that of a later epoch, or of the same and another seed; never when it is another Shoot's. */
function isLater(leader: Leader, known: Leader): boolean {
  if (areTwoShoots(leader, known)) return false;
  return leader.epoch > known.epoch || (leader.epoch === known.epoch && leader.seed !== known.seed);
}

/** The Shoot of which the object is the leadership record may have been an earlier one of that name. */
function isAnothers({ metadata: { ownerReferences = [] } }: LeadershipObject, { uid }: ShootRef): boolean {
  return ownerReferences.some((owner) => owner.kind === "Shoot" && owner.uid !== uid);
}

/**
 * Has the record of a Shoot that is gone taken away, and always throws: until it is, a later Shoot of that name has no
 * leader. No seed may act for a Shoot that is gone, so that its record is of use to none.
 */
async function waitForEarlier(gardenClient: KubeClient, existing: LeadershipObject): Promise<never> {
  const { deletionTimestamp, finalizers = [] } = existing.metadata;
  if (deletionTimestamp === undefined) await confirmAndRemove(gardenClient, existing);
  const held = finalizers.length === 0 ? "" : `, held by ${finalizers.join(", ")}`;
  throw ofEarlier(existing, `it is being deleted${held}`);
}

function ofEarlier(existing: LeadershipObject, what: string): StepError {
  const { namespace, name, ownerReferences = [] } = existing.metadata;
  const owner = ownerReferences.find(({ kind }) => kind === "Shoot")?.uid;
  return new StepError(
    `DNSRecord ${namespace}/${name} is that of an earlier Shoot of this name, with uid ${owner}: ${what}`,
    codesOf(existing),
  );
}

/** Deletes exactly the version that was read. */
async function confirmAndRemove(gardenClient: KubeClient, existing: LeadershipObject): Promise<void> {
  const { uid, resourceVersion } = existing.metadata;
  const annotations = { [CONFIRM_DELETION_ANNOTATION]: "true", [TIMESTAMP_ANNOTATION]: nextTimestamp(existing) };
  await unlessGone(gardenClient.patch(refOf(existing), { metadata: { annotations, resourceVersion } }));
  await gardenClient.remove(refOf(existing), uid === undefined ? {} : { uid });
}

const leaderOf = ({ seed, epoch, shoot }: Leader): Leader => ({ seed, epoch, ...(shoot !== undefined && { shoot }) });

const MOST_ATTEMPTS = 5;

type LeadershipObject = ExtensionLike & { readonly spec?: unknown };

const nameOf = ({ namespace, name }: ShootRef): string => `${namespace}/${name}-leadership`;

const objectRef = ({ namespace, name }: ShootRef) => refTo(DNSRecord, { namespace, name: `${name}-leadership` });

/** The object of a leader; its epoch is also an annotation, because a policy of the API server compares that. */
async function describe(
  gardenClient: KubeClient,
  shoot: ShootRef,
  publication: Publication,
): Promise<LeadershipObject & Pick<DNSRecord, "spec">> {
  const { record, epoch } = publication;
  const domain = await findLeadershipDomain(gardenClient);
  if (domain === undefined)
    throw configurationProblem(`no Secret in the garden is labelled as leadership domain, but ${record} needs one`);
  await requireOwnZone(gardenClient, domain);
  requireLeadershipProvider(domain.type, record);
  const { namespace, name } = objectRef(shoot);
  return {
    ...typeMeta(DNSRecord),
    metadata: {
      ...{ namespace, name },
      annotations: { [EPOCH_ANNOTATION]: String(epoch) },
      ownerReferences: [{ apiVersion: "core.gardener.cloud/v1beta1", kind: "Shoot", name: shoot.name, uid: shoot.uid }],
    },
    spec: {
      type: domain.type,
      class: "garden",
      secretRef: domain.secret,
      name: record,
      recordType: "TXT",
      values: formatLeader(publication),
      ttl: 0, // no cache keeps it: those who ask believe nothing else
    },
  };
}

/** Which epoch an object stands for, which is what makes a late writer stop. */
function requireNoLater(existing: LeadershipObject | undefined, { epoch }: Pick<Leader, "epoch">): void {
  const written = writtenEpoch(existing?.metadata.annotations);
  if (existing === undefined || written <= epoch) return;
  const { namespace, name } = existing.metadata;
  throw new Superseded(`cannot act in epoch ${epoch}: DNSRecord ${namespace}/${name} is of epoch ${written} already`);
}

/** Whether the object asks for just this, and its controller has done it. */
function isDone(existing: LeadershipObject, wanted: Pick<DNSRecord, "spec">): boolean {
  const { spec } = existing as unknown as DNSRecord;
  const { type, name, ttl, secretRef, values } = wanted.spec;
  const same = spec.type === type && spec.name === name && spec.ttl === ttl && spec.values.join() === values.join();
  const sameSecret = spec.secretRef.name === secretRef.name && spec.secretRef.namespace === secretRef.namespace;
  return same && sameSecret && extensionReady(existing, {}).reached;
}

/** The object with a new operation for its controller, on condition that the existing one is unchanged. */
function requested(wanted: LeadershipObject, existing?: LeadershipObject): LeadershipObject {
  const annotations = {
    ...wanted.metadata.annotations,
    [OPERATION_ANNOTATION]: "reconcile",
    [TIMESTAMP_ANNOTATION]: nextTimestamp(existing),
  };
  const { resourceVersion } = existing?.metadata ?? {};
  return { ...wanted, metadata: { ...wanted.metadata, annotations, ...(resourceVersion && { resourceVersion }) } };
}

function describeAnswer({ server, leader, error }: ServerAnswer): string {
  const without = "switch it off for good, and then take it out of the zone's NS records";
  if (error) return `server ${server} does not answer (${error.message}): repair it, or ${without}`;
  const said = leader ? `${leader.seed} in epoch ${leader.epoch}` : "no leader yet";
  return `server ${server} names ${said}: see why it does not transfer the zone, or ${without}`;
}

const codesOf = ({ status }: LeadershipObject) => (status?.lastError?.codes ?? []) as StepError["codes"];
