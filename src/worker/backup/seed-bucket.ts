import type { BackupBucket, Seed } from "../../api/index.ts";
import type { ConditionUpdate } from "../../kube/index.ts";

/**
 * Whether the Seed can keep backups, as upstream's condition says it; one that is still being made is Progressing, because
 * Shoots may come soon. Undefined for a Seed that keeps none.
 */
export function bucketCondition(
  { metadata, spec }: Seed,
  bucket: BackupBucket | undefined,
): ConditionUpdate | undefined {
  if (spec.backup === undefined) return undefined;
  const type = "BackupBucketsReady";
  const name = `BackupBucket ${metadata.uid}`;
  if (bucket === undefined)
    return { type, status: "Unknown", reason: "BackupBucketsGone", message: `There is no ${name}.` };
  const error = errorOf(bucket);
  if (error !== undefined) return { type, status: "False", reason: "BackupBucketsError", message: `${name}: ${error}` };
  if (!wasMade(bucket)) {
    const message = `${name} has not been made yet.`;
    return { type, status: "Progressing", reason: "BackupBucketsProgressing", message };
  }
  return { type, status: "True", reason: "BackupBucketsAvailable", message: "The Seed's bucket is available." };
}

function errorOf({ status }: BackupBucket): string | undefined {
  const { lastOperation, lastError } = status ?? {};
  const failed = lastOperation?.state === "Error" || lastOperation?.state === "Failed";
  return lastError?.description ?? (failed ? lastOperation.description : undefined);
}

/** One that is looked after again was made before. */
function wasMade({ status }: BackupBucket): boolean {
  const { type, state } = status?.lastOperation ?? {};
  return type !== undefined && (type !== "Create" || state === "Succeeded");
}
