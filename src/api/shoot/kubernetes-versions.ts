import semver from "semver";

/** Minor versions of Kubernetes 1, from the oldest to the newest. */
export interface MinorRange {
  readonly oldest: number;
  readonly newest: number;
}

/** The versions with which control planes, nodes and what is deployed into Shoots were seen to work. The one place that says so. */
export const WORKING_MINORS: MinorRange = { oldest: 34, newest: 34 };

/** Whether a full version, such as `1.34.4`, is in the range. */
export function isInRange(version: string, { oldest, newest }: MinorRange): boolean {
  const parsed = semver.parse(version);
  return parsed?.major === 1 && parsed.minor >= oldest && parsed.minor <= newest;
}

/** The range in words: `Kubernetes 1.34`, `Kubernetes 1.32 to 1.34`. */
export const inWords = ({ oldest, newest }: MinorRange): string =>
  oldest === newest ? `Kubernetes 1.${newest}` : `Kubernetes 1.${oldest} to 1.${newest}`;
