import type { BackupBucket, BackupEntry, ControllerInstallation } from "../../api/index.ts";
import type { Pair } from "../../api/registration/demand.ts";
import type { Registered } from "../../api/registration/registered.ts";

/** What in the garden makes a Seed keep objects for a controller after its last Shoot there. */
export interface Backups {
  readonly buckets: readonly BackupBucket[];
  readonly entries: readonly BackupEntry[];
}

/**
 * What keeps a registration that is to be deleted: for each Seed that still needs its controller, the objects that do, and what
 * the operator does about them. None for a registration that stays.
 */
export function findHolders(
  { deleting, offers }: Pick<Registered, "deleting" | "offers">,
  installations: readonly ControllerInstallation[],
  backups: Backups,
): readonly string[] {
  if (!deleting) return [];
  return installations.map(({ spec, status }) => {
    const seed = spec.seedRef?.name ?? "";
    const required = status?.conditions?.find(({ type }) => type === "Required");
    if (required?.status !== "True") return `it is on its way out, and being removed from ${seed}`;
    const remedies = remediesFor(seed, offers, backups);
    return [`it is on its way out, and stays on ${seed}: ${required.message}`, ...remedies].join(" ");
  });
}

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
