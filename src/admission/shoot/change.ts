import { Seed, ShootBastion, type CloudProfile, type Shoot } from "../../api/index.ts";
import { isOnSeed, shootCapacity } from "../../api/placement/choice.ts";
import type { NeededRegistration } from "../../api/registration/gate.ts";
import type { MinorRange } from "../../api/shoot/kubernetes-versions.ts";
import { keyOf, KnownShoot } from "../watched/known.ts";
import type { KubeClient } from "../../kube/index.ts";

/** A request about a Shoot, with the objects that it refers to. */
export interface ShootChange {
  readonly shoot: Shoot;
  /** The Shoot as it was, absent on creation. */
  readonly old?: Shoot | undefined;
  readonly profile?: CloudProfile | undefined;
  /** The Seed that the Shoot names. */
  readonly seed?: Seed | undefined;
  /** The Seed that holds the control plane of a Shoot on its way to another. */
  readonly source?: Seed | undefined;
  /** How many other Shoots the Seed has; only where the Seed has a limit and the Shoot is new to it. */
  readonly neighbours?: number | undefined;
  /** Names of the Shoot's Bastions, which are in the seed that it leaves; only where it is to leave one. */
  readonly bastions?: readonly string[];
  /** What the Shoot needs and the Seed never gets; only where the Shoot is to move there. */
  readonly lacking?: readonly NeededRegistration[];
  /** The versions of Kubernetes that work; those of this build unless told otherwise. */
  readonly minors?: MinorRange | undefined;
  readonly now: Date;
}

/** How many other Shoots a Seed has that is new to the Shoot; undefined for one that takes any number. */
export async function readNeighbours(
  client: KubeClient,
  { shoot, old, seed }: ShootChange,
): Promise<number | undefined> {
  if (!seed || shoot.spec.seedName === old?.spec.seedName || shootCapacity(seed) === undefined) return undefined;
  const own = keyOf(shoot.metadata);
  const others = Map.groupBy(await client.list(KnownShoot), ({ metadata }) => keyOf(metadata));
  others.delete(own);
  return [...others.values()].filter((versions) => versions.some((one) => isOnSeed(one, seed.metadata.name))).length;
}

/** The Seed that a Shoot names, if there is one. */
export async function readSeed(client: KubeClient, { spec }: Shoot): Promise<Seed | undefined> {
  return readSeedOf(client, spec.seedName);
}

/** The Seed of this name, if there is one. */
export async function readSeedOf(client: KubeClient, name: string | undefined): Promise<Seed | undefined> {
  if (!name) return undefined;
  return client.read(Seed, { name });
}

/** The names of a Shoot's Bastions. */
export async function readBastions(client: KubeClient, { metadata: { name, namespace } }: Shoot): Promise<string[]> {
  const all = await client.list(ShootBastion, { namespace });
  return all.filter(({ spec }) => spec.shootRef.name === name).map(({ metadata }) => metadata.name);
}
