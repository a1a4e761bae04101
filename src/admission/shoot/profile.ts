import { isDeepStrictEqual } from "node:util";
import { counted } from "../../api/counted.ts";
import { profileReference } from "../../api/core/effective-profile.ts";
import type { CloudProfile, Shoot } from "../../api/index.ts";
import { notOffered } from "../offer.ts";
import type { Cause } from "../review.ts";
import { reservedCauses } from "./reserved.ts";
import { versionCauses } from "./version.ts";
import { workerCauses } from "./workers.ts";
import type { ShootChange } from "./change.ts";

/** Why the CloudProfile does not offer what the Shoot wants. Without a CloudProfile there is nothing to compare with. */
export function profileCauses(change: ShootChange): Cause[] {
  const { shoot, profile } = change;
  if (!profile) return [];
  return [
    ...leavingCauses(change, profile),
    ...providerCauses(shoot, profile),
    ...regionCauses(change, profile),
    ...limitCauses(change, profile),
    ...versionCauses(change, profile),
    ...workerCauses(change, profile),
    ...reservedCauses(change, profile),
  ];
}

/** Shoots that have a profile keep it while it is being deleted; no other gets it. Gardener says nothing of it. */
function leavingCauses({ shoot, old }: ShootChange, { metadata }: CloudProfile): Cause[] {
  const named = profileReference(shoot);
  if (metadata.deletionTimestamp === undefined || named === undefined) return [];
  if (old && isDeepStrictEqual(profileReference(old), named)) return [];
  return [{ field: "spec.cloudProfile", message: `${named.kind} ${named.name} is being deleted: choose another` }];
}

function providerCauses({ spec }: Shoot, { spec: offered, metadata }: CloudProfile): Cause[] {
  if (spec.provider.type === offered.type) return [];
  const message = `CloudProfile ${metadata.name} is for provider ${offered.type}, not for ${spec.provider.type}`;
  return [{ field: "spec.provider.type", message }];
}

function regionCauses({ shoot: { spec }, old }: ShootChange, profile: CloudProfile): Cause[] {
  const region = profile.spec.regions.find(({ name }) => name === spec.region);
  if (region === undefined) {
    const regions = profile.spec.regions.map(({ name }) => name);
    return [{ field: "spec.region", message: notOffered(spec.region, profile, regions) }];
  }
  const offered = (region.accessRestrictions ?? []).map(({ name }) => name);
  const had = old?.spec.accessRestrictions?.map(({ name }) => name) ?? [];
  return (spec.accessRestrictions ?? []).flatMap(({ name }, index): Cause[] => {
    if (offered.includes(name) || had.includes(name)) return [];
    return [{ field: `spec.accessRestrictions[${index}].name`, message: notOffered(name, profile, offered) }];
  });
}

/** What was admitted before a limit was set stays, but grows no further (Gardener: ValidateShoot, limits). */
function limitCauses({ shoot, old }: ShootChange, { metadata, spec }: CloudProfile): Cause[] {
  const most = spec.limits?.maxNodesTotal;
  if (most === undefined) return [];
  const least = leastNodes(shoot);
  const before = old ? leastNodes(old) : 0;
  const tooLarge = (shoot.spec.provider.workers ?? []).flatMap(({ name, maximum }, index): Cause[] => {
    const had = old?.spec.provider.workers?.find((pool) => pool.name === name)?.maximum ?? 0;
    if (maximum <= most || maximum <= had) return [];
    const message = `must be at most ${most}, the maxNodesTotal of CloudProfile ${metadata.name}`;
    return [{ field: `spec.provider.workers[${index}].maximum`, message }];
  });
  if (least <= most || least <= before) return tooLarge;
  const message = `have ${counted(least, "machine")} at least, and CloudProfile ${metadata.name} allows ${most} (maxNodesTotal)`;
  return [...tooLarge, { field: "spec.provider.workers", message }];
}

const leastNodes = ({ spec }: Shoot): number =>
  (spec.provider.workers ?? []).reduce((sum, { minimum }) => sum + minimum, 0);
