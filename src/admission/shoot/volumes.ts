import { isDeepStrictEqual } from "node:util";
import type { CloudProfile, Shoot } from "../../api/index.ts";
import { nanosOf } from "../../api/schema/quantity.ts";
import { notOffered } from "../offer.ts";
import type { Cause } from "../review.ts";

type Pool = NonNullable<Shoot["spec"]["provider"]["workers"]>[number];
type Volume = Pick<NonNullable<Pool["volume"]>, "type" | "size">;

/**
 * Why a pool cannot have its volumes: their type is not offered, or they are smaller than their type allows. Volumes that the
 * pool had before stay accepted (Gardener: validateVolumeTypes, validateVolumeSize).
 */
export function volumeCauses(pool: Pool, before: Pool | undefined, profile: CloudProfile, field: string): Cause[] {
  const own = isDeepStrictEqual(pool.volume, before?.volume) && pool.machine.type === before?.machine.type;
  const root = pool.volume === undefined || own ? [] : oneVolume(pool.volume, `${field}.volume`);
  const more = (pool.dataVolumes ?? []).flatMap((volume, index) => {
    const old = before?.dataVolumes?.find(({ name }) => name === volume.name);
    return isDeepStrictEqual(volume, old) ? [] : oneVolume(volume, `${field}.dataVolumes[${index}]`);
  });
  return [...root, ...more];

  function oneVolume(volume: Volume, at: string): Cause[] {
    return [...typeCauses(volume, profile, at), ...sizeCauses(volume, minimumOf(pool, volume, profile), at)];
  }
}

/** A profile whose machine types bring their storage offers no types of volumes: then providers judge them. */
function typeCauses({ type }: Volume, profile: CloudProfile, at: string): Cause[] {
  const offered = profile.spec.volumeTypes ?? [];
  if (type === undefined || offered.length === 0) return [];
  const usable = offered.filter((one) => one.usable !== false).map(({ name }) => name);
  return usable.includes(type) ? [] : [{ field: `${at}.type`, message: notOffered(type, profile, usable) }];
}

function minimumOf({ machine }: Pool, { type }: Volume, { spec }: CloudProfile): string | number | undefined {
  const storage = spec.machineTypes.find(({ name }) => name === machine.type)?.storage;
  if (storage?.minSize !== undefined && (type === undefined || storage.type === type)) return storage.minSize;
  return spec.volumeTypes?.find(({ name }) => name === type)?.minSize;
}

function sizeCauses({ size }: Volume, minimum: string | number | undefined, at: string): Cause[] {
  const [wanted, least] = [nanosOf(size), nanosOf(minimum ?? 0)];
  if (wanted === undefined || least === undefined || wanted >= least) return [];
  return [{ field: `${at}.size`, message: `must be at least ${minimum}, which its type asks for` }];
}
