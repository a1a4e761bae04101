import { setTimeout as sleep } from "node:timers/promises";
import { armBlow, type Blow, type Route } from "./blow.ts";
import type { Lab, ProcessName } from "./lab.ts";
import type { LabShoot } from "./shoots.ts";
import { compareWorlds, describeSecrets, describeWorld, type World } from "./world.ts";

/** A Shoot that is about to move. */
export interface Traveller {
  readonly shoot: LabShoot;
  readonly route: Route;
  /** What has to come of it; nobody knows yet when undefined. */
  readonly expected: World | undefined;
}

/** How the migrations that began together went. */
export interface Outcome {
  /** What came of each traveller, in their order. */
  readonly worlds: readonly World[];
  /** What is wrong; nothing when all went as it must. */
  readonly faults: readonly string[];
  /** In ms, for each traveller: until the Shoot was there and nothing was left behind. */
  readonly arrivals: readonly number[];
  /** Whether the flow came to the step. */
  readonly fallen: boolean;
  /** In bytes: most memory that each of our processes has had in use since it was started. */
  readonly peaks: Readonly<Partial<Record<ProcessName, number>>>;
}

/** The way there. */
export const there: Route = { source: "seed-1", destination: "seed-2" };

/** And back. */
export const back: Route = { source: "seed-2", destination: "seed-1" };

/** Longest time, in ms, that a migration may take, besides the time without a server; and what each other one adds. */
const PATIENCE = 180_000;
const PATIENCE_FOR_ANOTHER = 60_000;

/** Longest time, in ms, until a controller comes back to what it could not do without a server: its longest delay, and a bit. */
const REST = 75_000;

/** Longest time, in ms, that what is put right again and again may be in the middle of it. */
const REVISIT = 5_000;

/** Moves all travellers at once while the blow falls on the first of them, if there is one, and says what came of it. */
export async function tryMigrations(
  lab: Lab,
  travellers: readonly Traveller[],
  blow: Blow | undefined,
): Promise<Outcome> {
  const [first] = travellers;
  if (first === undefined) throw new Error("nobody travels");
  const timeout = PATIENCE + (travellers.length - 1) * PATIENCE_FOR_ANOTHER + (blow?.away ?? 0);
  const before = await Promise.all(travellers.map(({ shoot, route }) => describeSecrets(lab, shoot, route.source)));
  const strike = blow && (await armBlow(lab, first.shoot, first.route, blow));
  const journeys = await Promise.all(travellers.map((traveller) => travel(traveller, timeout)));
  strike?.cancel();
  const fallen = (await strike?.fallen) ?? true;
  const ends = await Promise.all(
    travellers.map(async (traveller, index) => {
      const { world, faults } = await judge(lab, traveller, before[index] ?? {}, blow?.away ? REST : REVISIT);
      const failure = journeys[index]?.failure;
      const all = [...(failure === undefined ? [] : [failure]), ...faults];
      const whose = travellers.length > 1 ? `${traveller.shoot.name}: ` : "";
      return { world, faults: all.map((fault) => `${whose}${fault}`) };
    }),
  );
  const worlds = ends.map(({ world }) => world);
  const arrivals = journeys.map(({ took }) => took);
  return { worlds, faults: ends.flatMap(({ faults }) => faults), arrivals, fallen, peaks: await readPeaks(lab) };
}

async function travel({ shoot, route }: Traveller, timeout: number): Promise<{ took: number; failure?: string }> {
  const begin = performance.now();
  const took = () => Math.round(performance.now() - begin);
  try {
    await shoot.bind(route.destination);
    await shoot.settles("Restore", route.destination, timeout);
    return { took: took() };
  } catch (error) {
    return { took: took(), failure: error instanceof Error ? error.message : String(error) };
  }
}

/** What is only late, for want of a server that was away, or is just being looked after, has `rest` ms to come to the same. */
async function judge(lab: Lab, { shoot, route, expected }: Traveller, secrets: World, rest: number) {
  const compare = async () => {
    const world = await describeWorld(lab, shoot, route);
    const kept = compareWorlds(secrets, await describeSecrets(lab, shoot, route.destination));
    const differences = expected === undefined ? unfinished(world) : compareWorlds(expected, world);
    return { world, differences: [...kept.map((line) => `secret ${line}`), ...differences] };
  };
  const deadline = performance.now() + rest;
  let seen = await compare();
  while (seen.differences.length > 0 && performance.now() < deadline) {
    await sleep(1_000);
    seen = await compare();
  }
  lab.ledger.takeActs(shoot.technicalID);
  return { world: seen.world, faults: [...lab.ledger.takeFaults(shoot.technicalID), ...seen.differences] };
}

/** Nothing can be held against a world in which somebody is still at work. */
const unfinished = (world: World): string[] =>
  Object.entries(world).flatMap(([key, text]) => (text.includes('"state":"Processing"') ? [`${key}: unfinished`] : []));

async function readPeaks(lab: Lab): Promise<Outcome["peaks"]> {
  const peaks = [...lab.processes].map(async ([name, one]) => [name, await one.peakMemory()] as const);
  return Object.fromEntries(await Promise.all(peaks));
}
