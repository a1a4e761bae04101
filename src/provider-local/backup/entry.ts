import { z } from "zod";
import { KEPT_SNAPSHOTS_ANNOTATION, type ExtensionBackupEntry } from "../../api/index.ts";
import type { Actuator, ActuatorContext, ActuatorResult } from "../../extension/index.ts";
import { claimBackups, releaseBackups } from "./volume.ts";
import { NoSuchEntry, type Buckets, type Snapshot } from "./buckets.ts";
import { expiredSnapshots } from "./retention.ts";

/**
 * A Shoot's part of a bucket: a directory in it, which the Shoot's namespace reaches through a volume. `status.state`
 * says which bucket that is, from which one its snapshots came, and in which ones it has been, so that another seed finds them, and
 * the last one takes all away. Once it was restored, `status.providerStatus.snapshots` names those that the last seed had: a takeover
 * looks among them.
 */
export function createBackupEntryActuator(buckets: Buckets): Actuator<ExtensionBackupEntry, undefined> {
  const provide = async (
    object: ExtensionBackupEntry,
    from: string | undefined,
    context: ActuatorContext,
  ): Promise<ActuatorResult> => {
    const { metadata, spec } = object;
    const left = bucketsLeft(object);
    await claimBackups(object, await buckets.createEntry(spec.bucketName, metadata.name), context);
    await expire(object, context);
    return {
      state: {
        ...{ bucketName: spec.bucketName, region: spec.region },
        ...(from === undefined ? {} : { from }),
        ...(left.length === 0 ? {} : { left }),
      },
      requeueAfter: PERIOD,
    };
  };

  /** The old bucket is only read. A repetition copies what has come since. */
  const copyAll = async (
    { metadata: { name }, spec: { bucketName: to } }: ExtensionBackupEntry,
    snapshots: readonly Snapshot[],
    { from, context: { check, signal, log } }: { from: string; context: ActuatorContext },
  ) => {
    await buckets.createEntry(to, name);
    for (const snapshot of snapshots) {
      check();
      await buckets.copy(name, snapshot, { from, to, signal }).catch((cause: unknown) => {
        throw new Error(`cannot copy ${snapshot.name} from bucket ${from} to ${to}: ${messageOf(cause)}`, { cause });
      });
    }
    log.info({ from, to, snapshots: snapshots.length }, "backups copied");
  };

  /**
   * What the old bucket holds. It need not be kept once it was copied: an entry that came from there and is restored
   * where it is, as after a migration that was given up, does without.
   */
  const listOld = async (from: string, entry: string, copied: boolean): Promise<Snapshot[]> => {
    try {
      return await buckets.list(from, entry);
    } catch (cause) {
      if (copied && cause instanceof NoSuchEntry) return [];
      throw new Error(`cannot copy backups from bucket ${from}: ${messageOf(cause)}`, { cause });
    }
  };

  /**
   * What has come from the bucket of the last seed: an earlier one may have gone on writing after it led no more. While
   * that bucket is gone, it is what was said before.
   */
  const namesFrom = async ({ metadata, spec, status }: ExtensionBackupEntry, from: string): Promise<string[]> => {
    const here = new Set((await buckets.list(spec.bucketName, metadata.name)).map(({ name }) => name));
    const known = (status?.providerStatus ?? {}) as { snapshots?: readonly string[] };
    const there = await buckets.list(from, metadata.name).then(
      (snapshots) => snapshots.map(({ name }) => name),
      (error: unknown) => {
        if (error instanceof NoSuchEntry) return known.snapshots ?? [];
        throw error;
      },
    );
    return there.filter((name) => here.has(name)).sort();
  };

  const expire = async ({ metadata, spec }: ExtensionBackupEntry, { check, log }: ActuatorContext) => {
    const { name, annotations = {} } = metadata;
    await buckets.sweep(spec.bucketName, name, Date.now() - SWEEP_AFTER);
    const kept = annotations[KEPT_SNAPSHOTS_ANNOTATION]?.split(",");
    for (const snapshot of expiredSnapshots(await buckets.list(spec.bucketName, name), Date.now(), kept)) {
      check();
      await buckets.remove(spec.bucketName, name, snapshot.name);
      log.info({ snapshot: snapshot.name }, "snapshot expired");
    }
  };

  return {
    reconcile: (object, _cluster, context) => provide(object, stateOf(object).from, context),
    async restore(object, _cluster, context) {
      const { bucketName, from: before } = stateOf(object);
      const copied = bucketName === object.spec.bucketName;
      // Where it was last, its snapshots may not all have come before that seed died.
      for (const from of new Set(copied ? [before] : [before, bucketName])) {
        if (from === undefined || from === object.spec.bucketName) continue;
        const optional = copied || from !== bucketName;
        await copyAll(object, await listOld(from, object.metadata.name, optional), { from, context });
      }
      const from = copied ? before : bucketName;
      const result = await provide(object, from, context);
      return from === undefined ? result : { ...result, providerStatus: { snapshots: await namesFrom(object, from) } };
    },
    /** Snapshots go on until etcd is stopped: what has to be said is said already. */
    migrate: async () => undefined,
    async delete(object, _cluster, context) {
      const { metadata, spec } = object;
      await releaseBackups(metadata.name, context);
      for (const bucket of [...bucketsLeft(object), spec.bucketName]) {
        context.check();
        await buckets.removeEntry(bucket, metadata.name);
      }
    },
  };
}

/** In ms: how often expired snapshots are looked for. */
const PERIOD = 3_600_000;

/** In ms: an unfinished file of this age was left by a pod that died. */
const SWEEP_AFTER = 24 * 3_600_000;

const bucketName = z.string().min(1).max(253);

/** Where an entry's snapshots are, where they came from, and where else they have been. */
const entryState = z.object({
  bucketName: bucketName.optional(),
  from: bucketName.optional(),
  left: z.array(bucketName).max(100).optional(),
});

/** The state as this controller wrote it in this seed or another; throws what is wrong with any other. */
function stateOf({ metadata: { name }, status }: ExtensionBackupEntry): z.infer<typeof entryState> {
  const { data, error } = entryState.safeParse(status?.state ?? {});
  if (data !== undefined) return data;
  const problems = error.issues.map(({ path, message }) => `status.state.${path.join(".")}: ${message}`);
  throw new Error(
    `BackupEntry ${name}: ${problems.join("; ")}; name the buckets of provider local that it has been in`,
  );
}

/** The buckets that the Shoot has been in before: each still has its snapshots as of the move. */
function bucketsLeft(object: ExtensionBackupEntry): readonly string[] {
  const { bucketName, from, left = [] } = stateOf(object);
  const all = new Set([...left, from, bucketName].filter((one) => one !== undefined));
  all.delete(object.spec.bucketName);
  return [...all];
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
