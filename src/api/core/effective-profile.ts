import type { Shoot } from "../shoot/shoot.ts";
import type { KeyOf, Kind, Scope } from "../schema/kind.ts";
import type { KubeObject } from "../schema/meta.ts";
import { CloudProfile } from "./cloud-profile.ts";
import { NamespacedCloudProfile } from "./namespaced-cloud-profile.ts";

/** Reads objects of the garden. */
export interface Reader {
  read<T extends KubeObject, S extends Scope>(kind: Kind<T, S>, key: KeyOf<S>): Promise<T | undefined>;
}

/** A Shoot, as far as it names its profile. */
export interface ProfiledShoot {
  readonly spec: Pick<Shoot["spec"], "cloudProfile" | "cloudProfileName">;
}

/** The profile that a Shoot names; undefined where it names none. */
export function profileReference({ spec }: ProfiledShoot): { kind: string; name: string } | undefined {
  const name = spec.cloudProfile?.name ?? spec.cloudProfileName;
  return name ? { kind: spec.cloudProfile?.kind ?? CloudProfile.kind, name } : undefined;
}

/**
 * What the Shoot's profile offers: a CloudProfile, or what a NamespacedCloudProfile and its parent make together, as a
 * CloudProfile with its name and its deletion (Gardener: BuildCloudProfile). Undefined when there is none, or not yet.
 */
export async function readEffectiveProfile(
  reader: Reader,
  { spec, metadata: { namespace } }: ProfiledShoot & Pick<Shoot, "metadata">,
): Promise<CloudProfile | undefined> {
  const { kind, name } = profileReference({ spec }) ?? {};
  if (name === undefined) return undefined;
  if (kind === CloudProfile.kind) return reader.read(CloudProfile, { name });
  if (kind !== NamespacedCloudProfile.kind) return undefined;
  const own = await reader.read(NamespacedCloudProfile, { name, namespace });
  const offer = own?.status?.cloudProfileSpec;
  if (own === undefined || offer === undefined) return undefined;
  const { deletionTimestamp } = own.metadata;
  const metadata = { name, namespace, ...(deletionTimestamp !== undefined && { deletionTimestamp }) };
  return { apiVersion: CloudProfile.apiVersion, kind: CloudProfile.kind, metadata, spec: offer };
}

/** The name of the CloudProfile that a Shoot's profile is, or extends; undefined where there is no such profile. */
export async function readRootProfileName(
  reader: Reader,
  { spec, metadata: { namespace } }: ProfiledShoot & Pick<Shoot, "metadata">,
): Promise<string | undefined> {
  const { kind, name } = profileReference({ spec }) ?? {};
  if (name === undefined || kind !== NamespacedCloudProfile.kind) return name;
  return (await reader.read(NamespacedCloudProfile, { name, namespace }))?.spec.parent.name;
}
