import type { ExtensionBackupEntry } from "../api/index.ts";
import type { Actuator, ActuatorContext, ActuatorResult } from "../extension/index.ts";
import { claimBackups, releaseBackups } from "./backup-volume.ts";
import type { Buckets } from "./buckets.ts";
import { expiredSnapshots } from "./retention.ts";

/**
 * A Shoot's part of a bucket: a directory in it, which the Shoot's namespace reaches through a volume. `status.state`
 * says which bucket that is, and from which one its snapshots came, so that another seed finds them.
 */
export function createBackupEntryActuator(buckets: Buckets): Actuator<ExtensionBackupEntry, undefined> {
  const reconcile = async (
    object: ExtensionBackupEntry,
    from: string | undefined,
    context: ActuatorContext,
  ): Promise<ActuatorResult> => {
    const { metadata, spec } = object;
    const path = await buckets.createEntry(spec.bucketName, metadata.name);
    if (from !== undefined) await copyAll(metadata.name, from, spec.bucketName, context);
    await claimBackups(object, path, context);
    await expire(object, context);
    return {
      state: { bucketName: spec.bucketName, region: spec.region, ...(from === undefined ? {} : { from }) },
      requeueAfter: PERIOD,
    };
  };

  /** The old bucket is only read. A repetition copies what has come since. */
  const copyAll = async (entry: string, from: string, to: string, { check, signal, log }: ActuatorContext) => {
    const snapshots = await buckets.list(from, entry).catch((cause: unknown) => {
      throw new Error(`cannot copy backups from bucket ${from}`, { cause });
    });
    for (const snapshot of snapshots) {
      check();
      await buckets.copy(entry, snapshot, { from, to, signal });
    }
    log.info({ from, to, snapshots: snapshots.length }, "backups copied");
  };

  const expire = async ({ metadata: { name }, spec }: ExtensionBackupEntry, { check, log }: ActuatorContext) => {
    await buckets.sweep(spec.bucketName, name, Date.now() - SWEEP_AFTER);
    for (const snapshot of expiredSnapshots(await buckets.list(spec.bucketName, name), Date.now())) {
      check();
      await buckets.remove(spec.bucketName, name, snapshot.name);
      log.info({ snapshot: snapshot.name }, "snapshot expired");
    }
  };

  return {
    reconcile: (object, _cluster, context) => reconcile(object, stateOf(object).from, context),
    restore: (object, _cluster, context) => {
      const { bucketName, from } = stateOf(object);
      return reconcile(object, bucketName === object.spec.bucketName ? from : bucketName, context);
    },
    /** Snapshots go on until etcd is stopped: what has to be said is said already. */
    migrate: async () => undefined,
    async delete({ metadata: { name }, spec }, _cluster, context) {
      await releaseBackups(name, context);
      context.check();
      await buckets.removeEntry(spec.bucketName, name);
    },
  };
}

/** In ms: how often expired snapshots are looked for. */
const PERIOD = 3_600_000;

/** In ms: what nobody has finished by then is left from somebody who died. */
const SWEEP_AFTER = 24 * 3_600_000;

/** Where an entry's snapshots are, and where they were before. */
interface EntryState {
  readonly bucketName?: string;
  readonly from?: string;
}

const stateOf = ({ status }: ExtensionBackupEntry): EntryState => status?.state ?? {};
