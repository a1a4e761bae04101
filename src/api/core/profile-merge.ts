import type { z } from "zod";
import type { CloudProfile } from "./cloud-profile.ts";
import type { expirableVersion, machineImage } from "./machine-image.ts";
import type { NamespacedCloudProfile } from "./namespaced-cloud-profile.ts";

type Offer = CloudProfile["spec"];
type Own = NamespacedCloudProfile["spec"];
type Version = z.infer<typeof expirableVersion>;
type Image = z.infer<typeof machineImage>;
type ImageVersion = Image["versions"][number];

/**
 * What a CloudProfile offers to the projects that extend it so: versions keep what the parent says of them but for their
 * expiry, types and images are replaced and added by name (Gardener: MergeCloudProfiles). Pure.
 */
export function mergeProfiles(parent: Offer, own: Own): Offer {
  const versions = overrideVersions(parent.kubernetes.versions, own.kubernetes?.versions);
  const volumeTypes = byKey(parent.volumeTypes, own.volumeTypes, ({ name }) => name);
  return {
    ...parent,
    kubernetes: { ...parent.kubernetes, ...(versions && { versions }) },
    machineImages: byKey(parent.machineImages, own.machineImages, ({ name }) => name, mergeImages) ?? [],
    machineTypes: byKey(parent.machineTypes, own.machineTypes, ({ name }) => name) ?? [],
    ...(volumeTypes && { volumeTypes }),
    ...(own.caBundle && { caBundle: `${parent.caBundle ?? ""}${own.caBundle}` }),
    ...(own.limits?.maxNodesTotal && { limits: { ...parent.limits, ...own.limits } }),
  };
}

/** A project can let a version live longer, or less long; it cannot add one. */
function overrideVersions(parent: readonly Version[] = [], own: readonly Version[] = []): Version[] | undefined {
  const expiry = new Map(own.map(({ version, expirationDate }) => [version, expirationDate]));
  if (parent.length === 0) return undefined;
  return parent.map((version) =>
    expiry.has(version.version) ? withExpiry(version, expiry.get(version.version)) : version,
  );
}

function mergeImages(parent: Image, own: Image): Image {
  const updateStrategy = own.updateStrategy ?? parent.updateStrategy;
  const versions = byKey(parent.versions, own.versions, ({ version }) => version, mergeImageVersions) ?? [];
  return { ...parent, ...(updateStrategy && { updateStrategy }), versions };
}

/** One that says more than its expiry was the project's own before the parent had it. */
function mergeImageVersions(parent: ImageVersion, own: ImageVersion): ImageVersion {
  return isOverride(own) ? withExpiry(parent, own.expirationDate) : own;
}

/** Whether a version of a project's machine image only changes how long the parent's is good for. */
export function isOverride(version: ImageVersion): boolean {
  const { version: _, expirationDate: _date, ...rest } = version;
  return Object.values(rest).every((value) => value === undefined || (Array.isArray(value) && value.length === 0));
}

function withExpiry<T extends Version>(version: T, expirationDate: string | undefined): T {
  const { expirationDate: _, ...rest } = version;
  return { ...rest, ...(expirationDate !== undefined && { expirationDate }) } as T;
}

/** The parent's items in their order, then those that are new; an item of both is the project's, or what `merge` makes. */
function byKey<T>(
  parent: readonly T[] | undefined,
  own: readonly T[] | undefined,
  keyOf: (item: T) => string,
  merge: (parent: T, own: T) => T = (_, item) => item,
): T[] | undefined {
  if (parent === undefined && own === undefined) return undefined;
  const all = new Map((parent ?? []).map((item) => [keyOf(item), item]));
  for (const item of own ?? []) {
    const before = all.get(keyOf(item));
    all.set(keyOf(item), before === undefined ? item : merge(before, item));
  }
  return [...all.values()];
}
