import type { PeerCertificate } from "node:tls";

/** Who calls: the garden's own processes and operators, who may do anything, or the worker of one seed. */
export type Identity =
  | { readonly kind: "garden"; readonly name: string }
  | { readonly kind: "seed"; readonly name: string; readonly seed: string };

/** The organization of certificates of the garden's processes and operators. */
export const gardenGroup = "perennial:garden";

/** The organization of certificates of seeds' workers. */
export const seedsGroup = "perennial:seeds";

/** The common name of the certificate of a seed's worker, which goes with {@link seedsGroup}. */
export const seedUser = (seed: string): string => `${seedPrefix}${seed}`;

/** Whom a verified certificate speaks for; undefined when its subject names none, or more than one. */
export function identityOf({ subject }: Pick<PeerCertificate, "subject">): Identity | undefined {
  // Node gives a list where a subject names several.
  const { O: group, CN: name } = subject as { readonly O?: unknown; readonly CN?: unknown };
  if (typeof group !== "string" || typeof name !== "string" || name === "") return undefined;
  if (group === gardenGroup) return name.startsWith(seedPrefix) ? undefined : { kind: "garden", name };
  const seed = group === seedsGroup && name.startsWith(seedPrefix) ? name.slice(seedPrefix.length) : "";
  return seedName.test(seed) ? { kind: "seed", name, seed } : undefined;
}

const seedPrefix = "perennial:seed:";

/** Seeds are cluster-scoped objects: their names are DNS names. */
const seedName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
