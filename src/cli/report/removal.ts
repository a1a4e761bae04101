import type { BackupBucket, BackupEntry, ControllerInstallation, Seed, Shoot } from "../../api/index.ts";
import { counted, listed } from "../../api/counted.ts";
import type { Pair } from "../../api/registration/demand.ts";
import { registrationsFor } from "../../api/registration/gate.ts";
import type { Registered } from "../../api/registration/registered.ts";
import { withoutOwnWishes } from "../../api/registration/wanted.ts";

/** What in the garden makes a Seed keep objects for a controller after its last Shoot there. */
export interface Backups {
  readonly buckets: readonly BackupBucket[];
  readonly entries: readonly BackupEntry[];
}

/** What in the garden may need a controller. */
export interface Users extends Backups {
  readonly shoots: readonly Shoot[];
  readonly seeds: readonly Seed[];
}

/**
 * What keeps a registration that is to be deleted: for each Seed that still needs its controller, the Shoots and the objects that
 * do, and what the operator does about them. None for a registration that stays.
 */
export function findHolders(
  registered: Registered,
  installations: readonly ControllerInstallation[],
  users: Users,
): readonly string[] {
  if (!registered.deleting) return [];
  return installations.map(({ metadata, spec, status }) => {
    const seed = spec.seedRef?.name ?? "";
    const required = status?.conditions?.find(({ type }) => type === "Required");
    const shoots = metadata.deletionTimestamp === undefined ? shootsThatAsk(registered, seed, users) : [];
    const needs = [
      ...(shoots.length === 0 ? [] : [`${inWords(shoots)}.`]),
      ...(required?.status === "True" ? [required.message] : []),
    ];
    if (needs.length === 0) return `it is on its way out, and being removed from ${seed}`;
    const remedies = remediesFor(seed, registered.offers, users);
    return [`it is on its way out, and stays on ${seed}:`, ...needs, ...remedies].join(" ");
  });
}

/** The Shoots of a Seed for which the manager keeps the controller there, be it primary or not, as `namespace/name`. */
function shootsThatAsk(registered: Registered, seedName: string, { shoots, seeds }: Users): readonly string[] {
  const { offers, ...rest } = withoutOwnWishes(registered);
  const asked = { ...rest, offers: offers.map((offer) => ({ ...offer, primary: true })) };
  const seed = seeds.find(({ metadata }) => metadata.name === seedName);
  return shoots
    .filter(({ spec, status }) => [spec.seedName, status?.seedName].includes(seedName))
    .filter((shoot) => registrationsFor(shoot, seed, [asked]).length > 0)
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
}

const inWords = (shoots: readonly string[]): string =>
  `${counted(shoots.length, "Shoot needs", "Shoots need")} it: ${listed(shoots, 5)}`;

function remediesFor(seed: string, offers: readonly Pair[], { buckets, entries }: Backups): readonly string[] {
  const isOffered = (kind: string, type: string) => offers.some((offer) => offer.kind === kind && offer.type === type);
  const held = buckets.filter(({ spec }) => spec.seedName === seed && isOffered("BackupBucket", spec.provider.type));
  const inside = entries.filter(({ spec }) => held.some(({ metadata }) => metadata.name === spec.bucketName));
  return [
    ...inside.map(
      ({ metadata }) =>
        `BackupEntry ${metadata.namespace}/${metadata.name} goes with its Shoot, once the time of its backups is over.`,
    ),
    ...held.map(({ metadata }) => `BackupBucket ${metadata.name} goes when you delete Seed ${seed}.`),
    ...(held.length === 0 ? ["What belongs to Shoots goes when you delete or move them."] : []),
  ];
}
