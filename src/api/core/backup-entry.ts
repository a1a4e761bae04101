import { z } from "zod";
import { lastError, lastOperation } from "../schema/meta.ts";
import { objectReference } from "../schema/references.ts";
import { defineResource } from "../schema/resource.ts";
import { object, timestamp } from "../schema/fields.ts";

const backupEntrySpec = object({
  bucketName: z.string().describe("BucketName is the name of backup bucket for this Backup Entry."),
  seedName: z.string().optional().describe("SeedName is the name of the Seed this BackupEntry is associated with."),
  shootRef: objectReference
    .optional()
    .describe("ShootRef is the reference of the Shoot this BackupBucket is associated with."),
});

const backupEntryStatus = object({
  lastOperation: lastOperation
    .optional()
    .describe("LastOperation holds information about the last operation on the BackupEntry."),
  lastError: lastError
    .optional()
    .describe("LastError holds information about the last occurred error during an operation."),
  observedGeneration: z
    .int()
    .optional()
    .describe("ObservedGeneration is the most recent generation observed for this BackupEntry."),
  seedName: z
    .string()
    .optional()
    .describe("SeedName is the name of the seed to which this BackupEntry is currently scheduled."),
  migrationStartTime: timestamp()
    .optional()
    .describe("MigrationStartTime is the time when a migration to a different seed was initiated."),
});

/** A Shoot's part of a backup bucket. */
export const BackupEntry = defineResource({
  group: "core.gardener.cloud",
  version: "v1beta1",
  kind: "BackupEntry",
  plural: "backupentries",
  shortNames: ["bec"],
  categories: ["all"],
  scope: "Namespaced",
  description: "A Shoot's part of a backup bucket.",
  content: { spec: backupEntrySpec, status: backupEntryStatus.optional() },
  columns: [
    { name: "Status", path: ".status.lastOperation.state" },
    { name: "Bucket", path: ".spec.bucketName" },
    { name: "Seed", path: ".spec.seedName" },
  ],
});

/** A Shoot's part of a backup bucket. */
export type BackupEntry = z.infer<typeof BackupEntry.schema>;
