import { isDeepStrictEqual } from "node:util";
import semver from "semver";
import type { CloudProfile, Shoot } from "../../api/index.ts";
import type { Cause } from "../review.ts";
import { notOffered } from "../offer.ts";
import type { ShootChange } from "./change.ts";

type WorkerPool = NonNullable<Shoot["spec"]["provider"]["workers"]>[number];

interface Offer {
  readonly profile: CloudProfile;
  readonly now: Date;
}

/** Why the worker pools cannot be had. What a pool had before stays accepted, so that offers can end. */
export function workerCauses({ shoot, old, now }: ShootChange, profile: CloudProfile): Cause[] {
  return (shoot.spec.provider.workers ?? []).flatMap((pool, index) => {
    const before = old?.spec.provider.workers?.find(({ name }) => name === pool.name);
    const field = `spec.provider.workers[${index}]`;
    return [
      ...sizeCauses(pool, field),
      ...kubeletCauses(pool, shoot, field),
      ...(isDeepStrictEqual(pool.machine, before?.machine) ? [] : machineCauses(pool, { profile, now }, field)),
      ...zoneCauses(pool, shoot, profile, field),
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

function kubeletCauses({ kubernetes }: WorkerPool, { spec }: Shoot, field: string): Cause[] {
  if (kubernetes?.version !== undefined && semver.valid(kubernetes.version) !== kubernetes.version) {
    return [{ field: `${field}.kubernetes.version`, message: "must be a full version, such as 1.34.4" }];
  }
  const [kubelet, apiServer] = [semver.parse(kubernetes?.version), semver.parse(spec.kubernetes.version)];
  if (!kubelet || !apiServer) return [];
  if (semver.gt(kubelet, apiServer) || apiServer.minor - kubelet.minor > 3) {
    const message = `${kubelet.version} must be at most three minor versions behind ${apiServer.version}, and not ahead of it`;
    return [{ field: `${field}.kubernetes.version`, message }];
  }
  return [];
}

function machineCauses({ machine }: WorkerPool, offer: Offer, field: string): Cause[] {
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
  return imageCauses(machine, offer, field);
}

function imageCauses(
  { image, architecture = "amd64" }: WorkerPool["machine"],
  { profile, now }: Offer,
  field: string,
): Cause[] {
  if (!image) return [];
  const offered = profile.spec.machineImages.find(({ name }) => name === image.name);
  if (!offered) {
    const names = profile.spec.machineImages.map(({ name }) => name);
    return [{ field: `${field}.machine.image.name`, message: notOffered(image.name, profile, names) }];
  }
  const versions = offered.versions
    .filter(({ expirationDate }) => expirationDate === undefined || new Date(expirationDate) > now)
    .filter(({ architectures = ["amd64"] }) => architectures.includes(architecture))
    .map(({ version }) => version);
  if (!image.version || versions.includes(image.version)) return [];
  return [{ field: `${field}.machine.image.version`, message: notOffered(image.version, profile, versions) }];
}

function zoneCauses({ zones = [] }: WorkerPool, { spec }: Shoot, profile: CloudProfile, field: string): Cause[] {
  const region = profile.spec.regions.find(({ name }) => name === spec.region);
  if (!region) return [];
  const offered = (region.zones ?? []).map(({ name }) => name);
  return zones
    .filter((zone) => !offered.includes(zone))
    .map((zone) => ({ field: `${field}.zones`, message: notOffered(zone, profile, offered) }));
}
