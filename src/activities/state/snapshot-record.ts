import { z } from "zod";
import { configurationProblem } from "../step-error.ts";
import type { StateName } from "./parts.ts";

/*
 * Another seed wrote the record that a Restore goes by: its name becomes a path and the name of a Job, its bucket the name of a
 * BackupBucket. So it has the form in which our Jobs take snapshots, and nothing else.
 */

const record = z.object({
  /** The file: the name of the pod that took it, and `.db`. */
  name: z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.db$/, "is not the name of a pod, followed by .db"),
  revision: z.int().positive(),
  hash: z.int().nonnegative(),
  /** Bytes. */
  size: z.int().nonnegative(),
  /** RFC 3339. */
  takenAt: z.iso.datetime({ offset: true }),
  /** The BackupBucket. */
  bucket: z
    .string()
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/, "is not the name of a BackupBucket"),
});

const kept = z.object({
  ...record.shape,
  /** The epoch under which it was recorded. */
  epoch: z.int().positive(),
});

/** The latest snapshot of a Shoot's etcd that was found good. */
export type SnapshotRecord = Readonly<z.infer<typeof record>>;

/** A record as a ShootState keeps it. */
export type KeptSnapshot = Readonly<z.infer<typeof kept>>;

/** Returns a record; undefined for anything that our workers would not have written. */
export const trySnapshot = (content: unknown): SnapshotRecord | undefined => record.safeParse(content).data;

/** Returns a kept record; undefined for anything that our workers would not have written. */
export const tryKeptSnapshot = (content: unknown): KeptSnapshot | undefined => kept.safeParse(content).data;

/** Returns a kept record; throws what is wrong with it. */
export function parseKeptSnapshot(content: unknown, { namespace, name }: StateName): KeptSnapshot {
  const { data, error } = kept.safeParse(content);
  if (data !== undefined) return data;
  const problems = error.issues.map(({ path, message }) => `${path.join(".") || "it"}: ${message}`);
  throw configurationProblem(
    `cannot use the latest snapshot that ShootState ${namespace}/${name} names: ${problems.join("; ")}; find out which seed has written it; the next snapshot that the leading seed takes replaces it`,
  );
}
