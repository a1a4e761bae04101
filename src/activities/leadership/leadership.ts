import { activityInfo } from "../temporal.ts";
import { FIRST_EPOCH, Shoot } from "../../api/index.ts";
import { readTakeover } from "../../api/placement/takeover.ts";
import type { Migration, ShootRef, ShootRun } from "../../api/shoot/run.ts";
import type { LeaderLookup } from "../../dns/index.ts";
import { isConflict, now, refTo, type KubeClient } from "../../kube/index.ts";
import { configurationProblem, StepError } from "../step-error.ts";
import { createLeadershipRecord, type Publication } from "./record.ts";
import { readShoot } from "../shoot/patch.ts";
import { flipStory } from "../shoot/story.ts";
import type { Tell } from "../shoot/tell.ts";
import { Superseded } from "../superseded.ts";

/** `gardenClient` writes the Shoot's status and the DNSRecord in the garden. */
export interface LeadershipDeps {
  readonly gardenClient: KubeClient;
  readonly lookup: LeaderLookup;
  /** Tells users that another seed leads. */
  readonly tell?: Tell;
  /** Whether an attempt of the calling activity was cut off before. */
  readonly triedBefore?: () => boolean;
  /** How long, in ms, one attempt waits for the DNS before it says what it waits for. */
  readonly timeout?: number;
}

/**
 * Which seed leads a Shoot: decided by compare-and-swap in its status, then published in the DNS. Each function can be
 * cut off at any point and called again; none of them undoes what a later leader has done.
 */
export function createLeadership(deps: LeadershipDeps) {
  const { gardenClient, tell: tellUsers, triedBefore = () => activityInfo().attempt > 1 } = deps;
  const record = createLeadershipRecord(deps);

  const tell = async (run: ShootRun, leadership: Leadership): Promise<void> => {
    await record.publish(run, leadership);
    if (leadership.previousSeed !== undefined && leadership.since === undefined)
      await swap(gardenClient, run, (shoot) => settled(shoot, leadership));
  };

  /** Returns the decision after the zone was asked, if it changes the leader: what is decided from an old status is wrong. */
  const asked = async (shoot: Shoot, name: string, decision: Decision): Promise<Decision> => {
    const known = shoot.status?.leadership;
    if (decision.leadership !== known) await record.requireLatest(refOf(shoot), name, known);
    return decision;
  };

  return {
    /** Throws when the record names a later leader than the Shoot's status, or a server of the zone is silent. */
    async requireLatest(run: ShootRun): Promise<void> {
      const known = (await readShoot(gardenClient, run))?.status?.leadership;
      if (known !== undefined) await record.requireLatest(run, known.record, known);
    },

    /**
     * Makes the run's seed the Shoot's first leader unless it has one, and keeps its record right. It also finishes what
     * a flip has begun and will not try again.
     */
    async ensureLeadership(run: ShootRun): Promise<void> {
      const name = run.leadershipRecord;
      if (name === undefined) return;
      const leadership = await swap(gardenClient, run, (shoot) => asked(shoot, name, confirmed(shoot, run, name)));
      if (leadership) await tell(run, leadership);
    },

    /**
     * The point of no return: the destination leads from here on, under the next epoch. Returns when all servers of the
     * zone say so; from then on, the leases of the previous leader run out.
     */
    async flip(run: ShootRun): Promise<void> {
      const { migration } = run;
      if (migration === undefined) throw new StepError(`cannot flip Shoot ${nameOf(run)}: it is not moving`);
      let flips = false;
      const leadership = await swap(gardenClient, run, (shoot) => {
        const decision = flipped(shoot, run, migration);
        flips = decision.leadership !== shoot.status?.leadership;
        return asked(shoot, decision.leadership.record, decision);
      });
      if (leadership === undefined) throw new Superseded(`cannot flip Shoot ${nameOf(run)}: it is gone`);
      // The worker that decided it may have died before it told; attempts of one activity tell nothing twice.
      if (tellUsers && (flips || (leadership.since === undefined && triedBefore())))
        await tellUsers(run, [flipStory(leadership)]);
      await tell(run, leadership);
    },

    /**
     * Asks who leads, and throws unless it is the run's seed in its epoch. That no server names a leader is no objection:
     * the record may be gone already, or have never been. A status that was lost does not pass for the record.
     */
    async confirmLeadership(run: ShootRun): Promise<void> {
      const leader = (await readShoot(gardenClient, run))?.status?.leadership;
      if (leader && (leader.seed !== run.seedName || leader.epoch !== run.epoch)) throw superseded(run, leader);
      await record.confirm(run);
    },

    /**
     * Takes the record away. Extensions that look it up refuse to act from then on, so it goes last: when the Shoot is let
     * go, and no seed that it has left holds anything of it.
     */
    async removeLeadership(ref: ShootRef): Promise<void> {
      const { epoch = FIRST_EPOCH } = (await readShoot(gardenClient, ref))?.status?.leadership ?? {};
      await record.remove(ref, epoch);
    },
  };
}

type Leadership = NonNullable<NonNullable<Shoot["status"]>["leadership"]>;

/** What the Shoot's status has to say of the leader; the same object when it says so already. */
interface Decision {
  readonly leadership: Leadership;
  /** What else of the status changes with it. */
  readonly status?: Readonly<Record<string, unknown>>;
}

/** The first leader; or the present one, if the run is its. A lease may grow while objects hold it, and never shrinks. */
function confirmed({ status }: Shoot, run: ShootRun, record: string): Decision {
  const { seedName, epoch, leaseSeconds } = run;
  const leadership = status?.leadership;
  if (leadership === undefined) return { leadership: { record, seed: seedName, epoch, leaseSeconds } };
  if (leadership.seed !== seedName || leadership.epoch !== epoch) throw superseded(run, leadership);
  return leadership.leaseSeconds >= leaseSeconds ? { leadership } : { leadership: { ...leadership, leaseSeconds } };
}

/** The destination under the next epoch, however often this is asked; never after the move was cancelled. */
function flipped(shoot: Shoot, run: ShootRun, migration: Migration): Decision {
  const { status } = shoot;
  const { source, destination, takeover } = migration;
  const leadership = status?.leadership;
  if (leadership === undefined)
    throw configurationProblem(`cannot flip Shoot ${nameOf(run)}: it has no leadership record`);
  const epoch = nextEpoch(run, migration);
  if (leadership.epoch === epoch && leadership.seed === destination) return { leadership };
  refuseUnwanted(shoot, run, migration);
  if (leadership.epoch !== run.epoch || !mayBeTakenFrom(leadership.seed, migration)) throw superseded(run, leadership);
  const { since: _since, takeover: _takeover, ...kept } = leadership;
  return {
    leadership: { ...kept, seed: destination, epoch, previousSeed: source, ...(takeover ? { takeover } : {}) },
    status: { seedName: destination, seeds: [...new Set([...(status?.seeds ?? []), source, destination])] },
  };
}

/** Throws {@link Superseded} when an operator has cancelled the migration, or approved a takeover, since it began. */
function refuseUnwanted(shoot: Shoot, run: ShootRun, { destination, takeover }: Migration): void {
  const { seedName } = shoot.spec;
  const cannot = `cannot flip Shoot ${nameOf(run)}:`;
  if (seedName !== destination)
    throw new Superseded(`${cannot} the migration to ${destination} was cancelled, spec.seedName is ${seedName}`);
  if (!takeover && readTakeover(shoot) !== undefined)
    throw new Superseded(`${cannot} a takeover was approved, which does it instead`);
}

/** A takeover skips the number that a planned migration may have announced to the source, whose fence waits for a flow there. */
const nextEpoch = ({ seedName, epoch }: ShootRun, { destination, takeover }: Migration): number =>
  takeover && seedName !== destination ? epoch + 2 : epoch + 1;

/** When the old seed dies after a planned flip, its destination takes over once more, from itself, under a new epoch. */
function mayBeTakenFrom(leader: string, { source, destination, takeover }: Migration): boolean {
  return leader === source || (takeover && leader === destination);
}

/** Since when all servers name the leader: written once, and only of the leader that it was seen of. */
function settled({ status }: Shoot, { seed: seedName, epoch }: Publication): Decision | undefined {
  const leadership = status?.leadership;
  if (leadership?.seed !== seedName || leadership.epoch !== epoch) return undefined;
  return { leadership: leadership.since === undefined ? { ...leadership, since: now() } : leadership };
}

/** Compare-and-swap of the Shoot's status, whose version is that of the spec, too; undefined when the Shoot is gone. */
async function swap(
  gardenClient: KubeClient,
  ref: ShootRef,
  decide: (shoot: Shoot) => Decision | undefined | Promise<Decision>,
): Promise<Leadership | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const shoot = await readShoot(gardenClient, ref);
    const decision = shoot && (await decide(shoot));
    if (shoot === undefined || decision === undefined) return undefined;
    if (decision.leadership === shoot.status?.leadership) return decision.leadership;
    const { namespace, name, resourceVersion } = shoot.metadata;
    const leadership = { ...nothing, ...decision.leadership };
    const patch = { metadata: { resourceVersion }, status: { ...decision.status, leadership } };
    try {
      await gardenClient.patch(refTo(Shoot, { namespace, name }), patch, { subresource: "status" });
      return decision.leadership;
    } catch (error) {
      if (!isConflict(error) || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

/** A merge patch keeps what it doesn't mention; these don't outlive the leader that they were said of. */
const nothing = { since: null, takeover: null, previousSeed: null } as const;

const MOST_ATTEMPTS = 5;

function superseded(run: ShootRun, leader: Pick<Leadership, "seed" | "epoch">): Superseded {
  return new Superseded(
    `cannot act for Shoot ${nameOf(run)} in epoch ${run.epoch}: ${leader.seed} leads in epoch ${leader.epoch}`,
  );
}

const refOf = ({ metadata: { namespace, name, uid = "" } }: Shoot): ShootRef => ({ namespace, name, uid });

const nameOf = ({ namespace, name }: ShootRef): string => `${namespace}/${name}`;
