import { extensionKinds } from "../extensions/kinds.ts";
import type { BackupBucket } from "../core/backup-bucket.ts";
import type { Seed } from "../core/seed.ts";
import type { ShootBastion } from "../core/shoot-bastion.ts";
import type { Shoot } from "../shoot/shoot.ts";

/**
 * What objects ask of the Seed that they are on, in words that can be counted: where one object more or less says a word,
 * only its count changes. Contract section C8.1.
 */
export type Word = string;

/** A kind of extension objects and one of its types. */
export interface Pair {
  readonly kind: string;
  readonly type: string;
}

/** Whether a Shoot has machines: some Extensions are for such Shoots only. */
export type Machines = "workers" | "workerless";

/** Something on the Seed needs this kind and type. */
export const needed = ({ kind, type }: Pair): Word => `${kind}/${type}`;

/** A Shoot asks for the Extension of this type. */
export const enabled = (type: string, machines: Machines): Word => `${machines} enables ${type}`;

/** A Shoot refuses the Extension of this type. */
export const disabled = (type: string, machines: Machines): Word => `${machines} disables ${type}`;

/** There is a Shoot. */
export const present = (machines: Machines): Word => `${machines} is present`;

/** What a Shoot says, of the Seeds that its spec and its status name. Kinds that the Seed decides on are the Seed's to say. */
export function wordsOfShoot(shoot: Pick<Shoot, "spec">): readonly Word[] {
  const machines = machinesOf(shoot);
  const extensions = (shoot.spec.extensions ?? []).map((one) =>
    one.disabled === true ? disabled(one.type, machines) : enabled(one.type, machines),
  );
  return unique([present(machines), ...extensions, ...pairsOfShoot(shoot).map(needed)]);
}

/** The kinds and types that a Shoot's own spec asks for, Extensions left out: these are enabled by more than the spec. */
export function pairsOfShoot(shoot: Pick<Shoot, "spec">): readonly Pair[] {
  const isWorkerless = machinesOf(shoot) === "workerless";
  return Object.values(extensionKinds).flatMap(({ kind, contract }) => {
    if (kind === "Extension" || kind === "Bastion") return [];
    if (isWorkerless && contract.admission === "workers") return [];
    return contract.types({ shoot, seed: undefined }).map((type) => ({ kind, type }));
  });
}

/** Whether the Shoot has machines. */
export const machinesOf = ({ spec }: Pick<Shoot, "spec">): Machines =>
  (spec.provider.workers ?? []).length === 0 ? "workerless" : "workers";

/** What a Seed needs for itself and for whatever Shoots it has: its provider, its DNS, its backups, its own Extensions. */
export function pairsOfSeed({ spec }: Pick<Seed, "spec">): readonly Pair[] {
  const { provider, dns, backup } = spec;
  const domains = [dns.internal?.type, dns.provider?.type, ...(dns.defaults ?? []).map(({ type }) => type)];
  return [
    ...["ControlPlane", "Infrastructure", "Worker"].map((kind) => ({ kind, type: provider.type })),
    ...domains.flatMap((type) => (type === undefined ? [] : [{ kind: "DNSRecord", type }])),
    ...(backup === undefined ? [] : ["BackupBucket", "BackupEntry"].map((kind) => ({ kind, type: backup.provider }))),
  ];
}

/** What a bucket asks of the Seed that keeps it. */
export const wordsOfBucket = ({ spec }: Pick<BackupBucket, "spec">): readonly Word[] => [
  needed({ kind: "BackupBucket", type: spec.provider.type }),
];

/** What an entry asks of the Seed that keeps it, by the bucket that it is in. */
export const wordsOfEntry = (bucket: Pick<BackupBucket, "spec"> | undefined): readonly Word[] =>
  bucket === undefined ? [] : [needed({ kind: "BackupEntry", type: bucket.spec.provider.type })];

/** What a Bastion asks of the seed that makes it. */
export const wordsOfBastion = ({ spec }: Pick<ShootBastion, "spec">): readonly Word[] =>
  spec.providerType === undefined ? [] : [needed({ kind: "Bastion", type: spec.providerType })];

const unique = (words: readonly Word[]): readonly Word[] => [...new Set(words)];

/** Whether only the first and the last object that say a word count; of Shoots and refusals each counts, as they are compared. */
export const countsOnce = (word: Word): boolean => !/ (is present|disables )/.test(word);
