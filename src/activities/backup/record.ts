import type { ShootRun } from "../../api/shoot/run.ts";
import type { SnapshotRecord } from "../state/snapshot-record.ts";
import { parseJson } from "../../parsing.ts";

export type { SnapshotRecord } from "../state/snapshot-record.ts";

/** The Shoot that a snapshot is of, and the number under which it was taken. */
export type SnapshotOwner = Pick<ShootRun, "namespace" | "name" | "uid" | "technicalID" | "epoch">;

/** Where it is written down which snapshots there are: outside the seed, or it would be lost with it. */
export interface SnapshotRecords {
  /** Keeps the record; refused once a later epoch has begun. */
  record(owner: SnapshotOwner, snapshot: SnapshotRecord): Promise<void>;
  /** The snapshot that was recorded last. */
  latest(owner: SnapshotOwner): Promise<SnapshotRecord | undefined>;
}

/** What is in a snapshot. */
export type SnapshotStatus = Pick<SnapshotRecord, "revision" | "hash" | "size">;

/** What `etcdutl snapshot status` said of a file; undefined unless it could be read and holds something. */
export function parseSnapshotStatus(log: unknown): SnapshotStatus | undefined {
  const { hash, revision, totalSize } = asObject(log);
  if (!isCount(hash) || !isCount(revision) || !isCount(totalSize)) return undefined;
  return { revision, hash, size: totalSize };
}

/** A log of one JSON line comes parsed or as text, depending on how it was fetched. */
function asObject(log: unknown): Readonly<Record<string, unknown>> {
  if (typeof log === "object" && log !== null) return log as Readonly<Record<string, unknown>>;
  try {
    const parsed: unknown = parseJson(String(log), "the log");
    return typeof parsed === "object" && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
}

const isCount = (value: unknown): value is number => typeof value === "number" && value > 0;
