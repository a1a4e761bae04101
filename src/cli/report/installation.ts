import type { ControllerInstallation, Seed } from "../../api/index.ts";
import {
  installedHash,
  isSpokenFor,
  wantedHash,
  whyNotReady,
  type NotReady,
} from "../../api/registration/installation.ts";
import { describeHeartbeat, isSeedReady } from "../../api/placement/fit.ts";

/** A controller on a Seed. Times are RFC 3339. */
export interface InstallationReport {
  readonly name: string;
  readonly uid?: string;
  readonly seed: string;
  /** Shoots do not wait for it. */
  readonly ready: boolean;
  /** Others install it, and have not said how it is: it counts as ready. */
  readonly byOthers?: true;
  /** What is installed is not what is asked for by now. */
  readonly outdated?: true;
  /** Why it is not ready. */
  readonly reason?: string;
  readonly since?: string;
}

/** Who is to install a controller, and what is known of the Seed. `now` is ms since the epoch. */
export interface InstallationFacts {
  /** Perennial, an operator for a type, or others, of whom the registration says nothing. */
  readonly by: "perennial" | "others" | { readonly operatorFor: string };
  readonly seed: Seed | undefined;
  readonly now: number;
}

/** How a controller is on its Seed, by the rules by which Shoots wait for it. */
export function reportInstallation(installation: ControllerInstallation, facts: InstallationFacts): InstallationReport {
  const { name, uid, deletionTimestamp } = installation.metadata;
  const known = { name, ...(uid !== undefined && { uid }), seed: seedNameOf(installation) };
  const isUnreported = deletionTimestamp === undefined && !isSpokenFor(installation);
  if (isUnreported && facts.by === "others") return { ...known, ready: true, byOthers: true };
  const why = isUnreported ? whyUnreported(installation, facts) : whyNotReady(installation);
  return { ...known, ready: why === undefined, ...(isOutdated(installation) && { outdated: true }), ...why };
}

function isOutdated(installation: ControllerInstallation): boolean {
  const installed = installedHash(installation);
  return installed !== undefined && installed !== wantedHash(installation);
}

/** The Seed of an installation, for a reader. */
export const seedNameOf = ({ spec }: ControllerInstallation): string => spec.seedRef?.name ?? "<none>";

/** Whose word is missing where an installation has no conditions. */
function whyUnreported(installation: ControllerInstallation, { by, seed, now }: InstallationFacts): NotReady {
  const { creationTimestamp } = installation.metadata;
  const since = creationTimestamp === undefined ? {} : { since: creationTimestamp };
  if (typeof by === "object") return { reason: `no operator for type ${by.operatorFor} has reported on it`, ...since };
  const name = seedNameOf(installation);
  if (seed === undefined) return { reason: `there is no Seed ${name}`, ...since };
  const date = new Date(now);
  const silence = isSeedReady(seed, date) ? "has not reported on it yet" : "does not answer";
  return { reason: `Seed ${name} ${silence}: ${describeHeartbeat(seed, date)}`, ...since };
}
