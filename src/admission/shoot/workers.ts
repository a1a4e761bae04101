import { isDeepStrictEqual } from "node:util";
import semver from "semver";
import type { CloudProfile, Shoot } from "../../api/index.ts";
import type { Cause } from "../review.ts";
import { notOffered } from "../offer.ts";
import { fitCauses, imageCauses } from "./machine-images.ts";
import { offeredVersions, versionNotOffered } from "./version.ts";
import { volumeCauses } from "./volumes.ts";
import type { ShootChange } from "./change.ts";

type WorkerPool = NonNullable<Shoot["spec"]["provider"]["workers"]>[number];

interface Offer {
  readonly profile: CloudProfile;
  readonly now: Date;
  /** Of Kubernetes, which kubelets have unless their pool says another. */
  readonly version: string;
}

/** Why the worker pools cannot be had. What a pool had before stays accepted, so that offers can end. */
export function workerCauses({ shoot, old, now, minors }: ShootChange, profile: CloudProfile): Cause[] {
  const offered = offeredVersions(profile, now, minors);
  const { version } = shoot.spec.kubernetes;
  return (shoot.spec.provider.workers ?? []).flatMap((pool, index) => {
    const before = old?.spec.provider.workers?.find(({ name }) => name === pool.name);
    const field = `spec.provider.workers[${index}]`;
    return [
      ...sizeCauses(pool, field),
      ...offeredKubeletCauses(pool, before, { profile, offered, minors }, field),
      ...(isDeepStrictEqual(pool.machine, before?.machine)
        ? changedFitCauses(pool, { ...before, version: old?.spec.kubernetes.version }, { profile, version }, field)
        : machineCauses(pool, { profile, now, version }, field)),
      ...volumeCauses(pool, before, profile, field),
      ...(isSamePlace(pool, before) ? [] : zoneCauses(pool, shoot, profile, field)),
    ];
  });
}

function sizeCauses({ minimum, maximum, maxSurge, maxUnavailable }: WorkerPool, field: string): Cause[] {
  const causes: Cause[] = [];
  if (maximum < minimum) {
    causes.push({ field: `${field}.maximum`, message: `must be at least ${minimum}, the minimum` });
  }
  if (isZero(maxSurge ?? 1) && isZero(maxUnavailable ?? 0)) {
    causes.push({
      field: `${field}.maxUnavailable`,
      message: "and maxSurge must not both be 0: no machine could be replaced",
    });
  }
  return causes;
}

function isZero(share: string | number): boolean {
  return share === 0 || share === "0" || share === "0%";
}

/** What was in its zones once may stay there. */
const isSamePlace = (pool: WorkerPool, before: WorkerPool | undefined): boolean =>
  isDeepStrictEqual(
    [pool.zones, pool.machine.type, pool.volume],
    [before?.zones, before?.machine.type, before?.volume],
  );

/** A pool may stay behind, with what it has; what it gets anew has to be offered, and newer. */
function offeredKubeletCauses(
  { kubernetes }: WorkerPool,
  before: WorkerPool | undefined,
  offer: Parameters<typeof versionNotOffered>[1],
  field: string,
): Cause[] {
  const [wanted, had] = [kubernetes?.version, before?.kubernetes?.version];
  if (wanted === undefined || wanted === had || semver.valid(wanted) === null) return [];
  const at = `${field}.kubernetes.version`;
  if (had !== undefined && semver.valid(had) !== null && semver.lt(wanted, had))
    return [{ field: at, message: `${wanted} is older than ${had}: kubelets cannot be downgraded` }];
  return offer.offered.includes(wanted) ? [] : [{ field: at, message: versionNotOffered(wanted, offer) }];
}

function machineCauses(pool: WorkerPool, offer: Offer, field: string): Cause[] {
  const { machine } = pool;
  const { profile } = offer;
  const type = profile.spec.machineTypes.find(({ name }) => name === machine.type);
  if (!type || type.usable === false) {
    const usable = profile.spec.machineTypes.filter((offered) => offered.usable !== false).map(({ name }) => name);
    return [{ field: `${field}.machine.type`, message: notOffered(machine.type, profile, usable) }];
  }
  const architecture = machine.architecture ?? "amd64";
  if ((type.architecture ?? "amd64") !== architecture) {
    const message = `machine type ${type.name} has architecture ${type.architecture}, not ${architecture}`;
    return [{ field: `${field}.machine.architecture`, message }];
  }
  return imageCauses(pool, offer, field);
}

/** Machines that stay what they are may get another kubelet, be it the Shoot's, or another container runtime. */
function changedFitCauses(
  pool: WorkerPool,
  before: Pick<WorkerPool, "cri" | "kubernetes"> & { readonly version: string | undefined },
  offer: Omit<Offer, "now">,
  field: string,
): Cause[] {
  const wanted = [pool.cri?.name, pool.kubernetes?.version ?? offer.version];
  const had = [before.cri?.name, before.kubernetes?.version ?? before.version];
  return isDeepStrictEqual(wanted, had) ? [] : fitCauses(pool, offer, field);
}

function zoneCauses(pool: WorkerPool, { spec }: Shoot, profile: CloudProfile, field: string): Cause[] {
  const region = profile.spec.regions.find(({ name }) => name === spec.region);
  if (!region) return [];
  const offered = (region.zones ?? []).map(({ name }) => name);
  const { zones = [], machine, volume } = pool;
  return zones.flatMap((name): Cause[] => {
    const zone = region.zones?.find((one) => one.name === name);
    if (zone === undefined) return [{ field: `${field}.zones`, message: notOffered(name, profile, offered) }];
    const lacks = [
      ...(zone.unavailableMachineTypes?.includes(machine.type) ? [["machine.type", machine.type]] : []),
      ...(volume?.type && zone.unavailableVolumeTypes?.includes(volume.type) ? [["volume.type", volume.type]] : []),
    ];
    return lacks.map(([what, type]) => ({
      field: `${field}.${what}`,
      message: `${type} is not there in zone ${name}`,
    }));
  });
}
