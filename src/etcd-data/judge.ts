import { dirname } from "node:path";
import type { Run } from "../node-agent/commands.ts";
import { exists } from "../node-agent/whole-file.ts";
import { isOfTheData } from "./of-the-data.ts";
import { databaseOf, logOf, refuseRunning } from "./in-use.ts";
import { hasLog, mayStartWith } from "./let-start.ts";
import { isMarked, isUnmounted, type DataPlace } from "./place.ts";
import { readLogState } from "./write-ahead-log.ts";

/** How an etcd's data is: etcd would start with it; there is none, as before its first start, which nothing stands against; it is gone; or it is damaged. */
export type DataVerdict =
  | { readonly state: "healthy" | "none" }
  /** `why` says what was found, without a remedy. */
  | { readonly state: "missing" | "corrupt"; readonly why: string };

/**
 * Judges the data of an etcd that is stopped, and changes nothing. Damaged are pages that are in use, a write-ahead log with bad
 * checksums or a gap, and one part without the other; a changed byte within a value is told by no part of etcd. A disk that is
 * full has healthy data. Throws DataInUseError while etcd runs, an Error where their disk is not mounted, and where the look itself
 * failed or took too long, which says nothing of the data. It reads all of it: ask when etcd does not start, not before each start.
 */
export async function judgeData(
  { etcdutl }: { readonly etcdutl: Run },
  place: DataPlace,
  signal?: AbortSignal,
): Promise<DataVerdict> {
  const { dataDir } = place;
  await refuseRunning(dataDir);
  await refuseUnmounted(place);
  const [marked, database, ofLog] = [await isMarked(place), await exists(databaseOf(dataDir)), await hasLog(dataDir)];
  if (!database && !ofLog) return await absence(dataDir, marked);
  // etcd makes its database first: killed then, it has lost nothing.
  if (!ofLog) return marked ? corrupt(dataDir, "its write-ahead log is gone") : { state: "none" };
  if (!database) return corrupt(dataDir, "its database is gone");
  const log = await readLogState(logOf(dataDir));
  if (log.fault === undefined && log.isEmpty)
    return marked
      ? { state: "missing", why: `there is no data in ${dataDir}, where etcd was cut off as it began, and there was` }
      : { state: "none" };
  const fault = log.fault ?? (await databaseFault(etcdutl, databaseOf(dataDir), signal));
  return fault === undefined ? { state: "healthy" } : corrupt(dataDir, fault);
}

async function refuseUnmounted(place: DataPlace): Promise<void> {
  const { dataDir } = place;
  if (await isUnmounted(place))
    throw new Error(`cannot judge ${dataDir}: the disk that was mounted on ${dirname(dataDir)} is not; mount it`);
}

async function absence(dataDir: string, marked: boolean): Promise<DataVerdict> {
  if (!marked && (await mayStartWith(dataDir))) return { state: "none" };
  return { state: "missing", why: `there is no data in ${dataDir}${marked ? ", and there was" : ""}` };
}

const corrupt = (dataDir: string, why: string): DataVerdict => ({
  state: "corrupt",
  why: `the data in ${dataDir} is damaged: ${why}`,
});

/** etcdutl follows all pages and reads all keys. */
async function databaseFault(etcdutl: Run, database: string, signal?: AbortSignal): Promise<string | undefined> {
  try {
    await etcdutl(["snapshot", "status", database, "--write-out=json"], signal);
    return undefined;
  } catch (error) {
    if (isOfTheData(error)) return `its database cannot be read: ${error.message}`;
    throw new Error(`cannot judge ${database}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
