import semver from "semver";
import type { CloudProfile } from "../../api/index.ts";
import { inWords, isInRange, WORKING_MINORS, type MinorRange } from "../../api/shoot/kubernetes-versions.ts";
import type { Cause } from "../review.ts";
import { notOffered } from "../offer.ts";
import { isUsable } from "./machine-images.ts";
import type { ShootChange } from "./change.ts";

/** Why the Shoot cannot run the version of Kubernetes that it wants: not offered, expired, a step back or too far. */
export function versionCauses({ shoot, old, now, minors }: ShootChange, profile: CloudProfile): Cause[] {
  const field = "spec.kubernetes.version";
  const { version } = shoot.spec.kubernetes;
  const before = old?.spec.kubernetes.version;
  if (version === before) return [];
  const offered = offeredVersions(profile, now, minors);
  if (!offered.includes(version)) return [{ field, message: versionNotOffered(version, { profile, offered, minors }) }];
  const step = before === undefined ? undefined : stepCause(before, version);
  return step === undefined ? [] : [{ field, message: step }];
}

/** Says that a version cannot be had: the profile does not offer it, or it is outside the range that works. */
export function versionNotOffered(
  version: string,
  { profile, offered, minors = WORKING_MINORS }: VersionOffer,
): string {
  const isListed = profile.spec.kubernetes.versions?.some((one) => one.version === version) === true;
  return isListed && !isInRange(version, minors)
    ? `${version} does not work here: choose a version of ${inWords(minors)}`
    : notOffered(version, profile, offered);
}

interface VersionOffer {
  readonly profile: CloudProfile;
  readonly offered: readonly string[];
  readonly minors?: MinorRange | undefined;
}

/** The versions of Kubernetes that new Shoots can have now, the newest first. */
export function offeredVersions(
  { spec }: Pick<CloudProfile, "spec">,
  now: Date,
  minors: MinorRange = WORKING_MINORS,
): string[] {
  return (spec.kubernetes.versions ?? [])
    .filter(({ version }) => isInRange(version, minors))
    .filter(({ expirationDate, classification }) => isUsable(classification, expirationDate, now))
    .flatMap(({ version }) => semver.parse(version) ?? [])
    .sort(semver.rcompare)
    .map(({ raw }) => raw);
}

function stepCause(before: string, version: string): string | undefined {
  const [from, to] = [semver.parse(before), semver.parse(version)];
  if (!from || !to) return undefined;
  if (semver.lt(to, from)) return `${version} is older than ${before}: Kubernetes cannot be downgraded`;
  if (to.major !== from.major || to.minor > from.minor + 1) {
    return `${version} is more than one minor version ahead of ${before}: update to ${from.major}.${from.minor + 1} first`;
  }
  return undefined;
}
