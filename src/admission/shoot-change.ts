import { CloudProfile, Seed, type Shoot } from "../api/index.ts";
import type { KubeClient } from "../kube/index.ts";

/** A request about a Shoot, with the objects that it refers to. */
export interface ShootChange {
  readonly shoot: Shoot;
  /** The Shoot as it was, absent on creation. */
  readonly old?: Shoot | undefined;
  readonly profile?: CloudProfile | undefined;
  readonly seed?: Seed | undefined;
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
  if (!spec.seedName) return undefined;
  return client.read<Seed>({ apiVersion: Seed.apiVersion, kind: Seed.kind, name: spec.seedName });
}
