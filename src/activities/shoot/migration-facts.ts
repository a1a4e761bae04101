import { STATE_PROBLEM_ANNOTATION } from "../../api/annotations.ts";
import { readEffectiveProfile } from "../../api/core/effective-profile.ts";
import { Seed, type Shoot } from "../../api/index.ts";
import type { KeptState, MigrationFacts } from "../../api/placement/migration.ts";
import { countNeighbours, shootCapacity } from "../../api/placement/choice.ts";
import { readLacking } from "../../api/registration/lacking.ts";
import type { KubeClient } from "../../kube/index.ts";
import { describeSnapshot } from "../state/shoot-state.ts";
import { readParts, shootUidOf } from "../state/parts.ts";
import { listedShoots, type GardenShoots } from "./garden-shoots.ts";

/** The two ends of a Shoot's move. */
export interface Ends {
  readonly from: string | undefined;
  readonly to: string;
}

/** What the caller knows: the time, and the garden's Shoots, which are listed otherwise. */
interface Known {
  readonly now?: Date;
  readonly shoots?: GardenShoots;
}

/** Reads from the garden what a Shoot's move depends on. */
export async function readMigrationFacts(
  gardenClient: KubeClient,
  shoot: Shoot,
  { from, to }: Ends,
  { now = new Date(), shoots = listedShoots(gardenClient) }: Known = {},
): Promise<MigrationFacts> {
  const [source, destination, profile, kept] = await Promise.all([
    readSeed(gardenClient, from),
    readSeed(gardenClient, to),
    readEffectiveProfile(gardenClient, shoot),
    readKeptState(gardenClient, shoot),
  ]);
  const neighbours = destination && (await countOthers(shoots, shoot, destination));
  const lacking = destination && (await readLacking(gardenClient, shoot, destination));
  return { shoot, to, source, destination, profile, neighbours, now, kept, ...(lacking && { lacking }) };
}

/** Not asked of a Seed that takes any number. */
async function countOthers(shoots: GardenShoots, shoot: Shoot, seed: Seed): Promise<number | undefined> {
  if (shootCapacity(seed) === undefined) return undefined;
  return countNeighbours(await shoots.asOf(shoot), seed.metadata.name, shoot.metadata.uid);
}

async function readSeed(gardenClient: KubeClient, name: string | undefined): Promise<Seed | undefined> {
  if (name === undefined) return undefined;
  return gardenClient.read(Seed, { name });
}

/** What only a key would open stays closed: that there is a snapshot, its size and its age are written in the clear. */
async function readKeptState(gardenClient: KubeClient, { metadata }: Shoot): Promise<KeptState> {
  const found = await readParts(gardenClient, metadata);
  if (found === undefined || (shootUidOf(found.head) ?? metadata.uid) !== metadata.uid)
    return { state: false, snapshot: false };
  const snapshot = describeSnapshot(found.parts.flatMap((part) => part.entries));
  const problem = found.head.metadata.annotations?.[STATE_PROBLEM_ANNOTATION];
  const state = { state: true, ...(problem !== undefined && { problem }) };
  return { ...state, snapshot: snapshot !== undefined, ...snapshot };
}
