import { CloudProfile, Seed, type Shoot } from "../api/index.ts";
import type { KubeClient } from "../kube/index.ts";

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
  readonly now: Date;
}

/** The CloudProfile that a Shoot names, if there is one. */
export async function readProfile(client: KubeClient, { spec }: Shoot): Promise<CloudProfile | undefined> {
  const name = spec.cloudProfile?.name ?? spec.cloudProfileName;
  if (!name || (spec.cloudProfile && spec.cloudProfile.kind !== CloudProfile.kind)) return undefined;
  return client.read<CloudProfile>({ apiVersion: CloudProfile.apiVersion, kind: CloudProfile.kind, name });
}

/** The Seed that a Shoot names, if there is one. */
export async function readSeed(client: KubeClient, { spec }: Shoot): Promise<Seed | undefined> {
  return readSeedOf(client, spec.seedName);
}

/** The Seed of this name, if there is one. */
export async function readSeedOf(client: KubeClient, name: string | undefined): Promise<Seed | undefined> {
  if (!name) return undefined;
  return client.read<Seed>({ apiVersion: Seed.apiVersion, kind: Seed.kind, name });
}
