import { CloudProfile, projectOf, Seed, Shoot } from "../../api/index.ts";
import { countNeighbours, shootCapacity } from "../../api/placement/choice.ts";
import { Namespace, type KubeClient } from "../../kube/index.ts";

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
  readonly now: Date;
}

/** The CloudProfile that a Shoot names, if there is one. */
export async function readProfile(client: KubeClient, { spec }: Shoot): Promise<CloudProfile | undefined> {
  const name = spec.cloudProfile?.name ?? spec.cloudProfileName;
  if (!name || (spec.cloudProfile && spec.cloudProfile.kind !== CloudProfile.kind)) return undefined;
  return client.read(CloudProfile, { name });
}

/** How many other Shoots a Seed has that is new to the Shoot; undefined for one that takes any number. */
export async function readNeighbours(
  client: KubeClient,
  { shoot, old, seed }: ShootChange,
): Promise<number | undefined> {
  if (!seed || shoot.spec.seedName === old?.spec.seedName || shootCapacity(seed) === undefined) return undefined;
  const shoots = await client.list(Shoot);
  return countNeighbours(shoots, seed.metadata.name, shoot.metadata.uid);
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

/** The name of the project that a namespace belongs to. */
export async function readProject(client: KubeClient, namespace: string): Promise<string> {
  const found = await client.read(Namespace, { name: namespace });
  return projectOf(namespace, found?.metadata.labels);
}
