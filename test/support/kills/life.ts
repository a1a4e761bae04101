import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Fate, KillLab, MortalName } from "./lab.ts";
import type { Write } from "./trap.ts";
import { worldOf, type ClusterWorld } from "./world.ts";

/** How a Cluster is made and deleted: what users and flows do, and what they wait for before they do more. */
export interface KillScenario {
  readonly title: string;
  /** Makes it, up to where nothing more is to be done but to wait for the end. */
  make(lab: KillLab, name: string): Promise<void>;
  /** Throws while it is not all that its users expect of it. */
  expectMade(lab: KillLab, name: string): Promise<void>;
  /** Throws while the core manager does not say of it what it comes to say, which may be half a minute later. */
  expectSettled?(lab: KillLab, name: string): Promise<void>;
  /** Deletes it, up to where nothing more is to be done but to wait for the end. */
  remove(lab: KillLab, name: string): Promise<void>;
  /** Throws while there is something left of it. */
  expectGone(lab: KillLab, name: string): Promise<void>;
  /** How many Shoots are made for it. */
  readonly shoots: 0 | 1;
}

/** The parts of a life, each of which comes to an end of its own. */
export type Phase = "made" | "deleted";

/** What an undisturbed life comes to, and what each process wrote on the way. */
export type Life = Readonly<
  Record<Phase, { readonly end: ClusterWorld; readonly writes: Readonly<Record<MortalName, readonly Write[]>> }>
>;

/** In ms: for processes that are killed to start anew, and for the core manager's own retries, of which the longest comes after 30 s. */
export const PATIENCE = 120_000;

/** In ms: how long nothing is written once a Cluster is what it will stay. */
const QUIET = 3_000;

/** A life without a kill, held against what users expect. */
export async function liveUndisturbed(lab: KillLab, scenario: KillScenario, name: string): Promise<Life> {
  const live = async (phase: Phase) => {
    const following = lab.follow(name);
    await run(lab, scenario, { phase, name });
    await until(() => expectEnd(lab, scenario, { phase, name }));
    if (phase === "made") await until(async () => await scenario.expectSettled?.(lab, name));
    await following.quiet(QUIET);
    const writes = { "cluster-api": [...following.writes("cluster-api")], manager: [...following.writes("manager")] };
    return { end: await worldOf(lab.cluster.client, name), writes };
  };
  return { made: await live("made"), deleted: await live("deleted") };
}

/** What is to become of one life: when its processes die, at most once in each phase, and the ends of an undisturbed one. */
export interface Doom {
  readonly name: string;
  readonly fates: Readonly<Partial<Record<Phase, Fate>>>;
  /** Without it, only what users expect is asked for. */
  readonly life?: Life | undefined;
}

/** A life with these kills: it comes to the same ends, with not one Shoot more. Returns the fates that came. */
export async function liveKilled(lab: KillLab, scenario: KillScenario, { name, fates, life }: Doom): Promise<Fate[]> {
  const came: Fate[] = [];
  for (const phase of ["made", "deleted"] as const) {
    const fate = fates[phase];
    const kill = fate && lab.arm(name, fate);
    try {
      await run(lab, scenario, { phase, name });
      await until(async () => {
        if (life === undefined) await expectEnd(lab, scenario, { phase, name });
        else expect(await worldOf(lab.cluster.client, name)).toEqual(life[phase].end);
      });
    } catch (error) {
      const how = fate && kill?.happened() === true ? `SIGKILL ${inWords(fate)}` : "others' kills alone";
      throw new Error(`${scenario.title} (${name}) is not ${phase} as ever after ${how}`, { cause: error });
    } finally {
      await kill?.settle();
    }
    if (fate !== undefined && kill?.happened() === true) came.push(fate);
    expect(lab.shootsSeen(name), `Shoots of ${name}, ${phase}`).toHaveLength(scenario.shoots);
  }
  return came;
}

/** When a process dies, as people say it. */
export const inWords = ({ of, moment, write, occurrence, both = false }: Fate): string =>
  `of ${both ? "both" : of} ${moment} ${write}${occurrence > 1 ? ` (${occurrence})` : ""}`;

interface Stage {
  readonly phase: Phase;
  readonly name: string;
}

const run = (lab: KillLab, scenario: KillScenario, { phase, name }: Stage): Promise<void> =>
  phase === "made" ? scenario.make(lab, name) : scenario.remove(lab, name);

const expectEnd = (lab: KillLab, scenario: KillScenario, { phase, name }: Stage): Promise<void> =>
  phase === "made" ? scenario.expectMade(lab, name) : scenario.expectGone(lab, name);

/** Each look at the world is a dozen lists: two in a second are enough. */
async function until(look: () => Promise<void>): Promise<void> {
  for (const deadline = Date.now() + PATIENCE; ; await sleep(500)) {
    try {
      return await look();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}
