import { findPodTrouble } from "../../activities/waits/pod-trouble.ts";
import { completed, type Readiness } from "../../activities/waits/readiness.ts";
import type { SnapshotOwner } from "../../activities/backup/record.ts";
import { Shoot } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { typeMeta, writeEvent, type KubeClient, type NamespacedKey, type Reporter } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";

/** The seed whose pods know why, and who tells users in the garden. */
export interface SnapshotFailuresDeps {
  readonly seedClient: Pick<KubeClient, "list">;
  readonly reporter: Reporter;
  readonly log: Logger;
}

/** What became of the scheduled snapshots of each Shoot's etcd. A failure stands until a later one succeeds, or its Job is gone. */
export interface SnapshotFailures {
  /** Whether the last scheduled snapshot of this namespace has succeeded, or there is none. */
  readiness(namespace: string): Readiness;
  /** Takes note of a Job that has ended, and tells the Shoot's owner of a failure. */
  note(job: KubeObject, owner: Pick<SnapshotOwner, "namespace" | "name" | "uid">): Promise<void>;
  forget(job: NamespacedKey): void;
}

/** Remembers the last scheduled snapshot of each namespace; a worker that starts again finds it in the Jobs that are kept. */
export function createSnapshotFailures({ seedClient, reporter, log }: SnapshotFailuresDeps): SnapshotFailures {
  const lasts = new Map<string, Last>();

  const tell = async (job: KubeObject, owner: Pick<SnapshotOwner, "namespace" | "name" | "uid">, message: string) => {
    const { namespace, name, uid } = owner;
    const regarding = { ...typeMeta(Shoot), metadata: { namespace, name, uid } };
    const occurrence = { regarding, type: "Warning", reason: "BackupFailed", action: "Backup", note: message } as const;
    await writeEvent(reporter, `${name}.${job.metadata.uid}`, occurrence).catch((error: unknown) =>
      log.warn({ shoot: `${namespace}/${name}`, reason: occurrence.reason, err: error }, "event not written"),
    );
  };

  return {
    readiness: (namespace) => lasts.get(namespace)?.readiness ?? { reached: true },
    async note(job, owner) {
      const { namespace = "", name, creationTimestamp: at = "" } = job.metadata;
      if (isOlder({ name, at }, lasts.get(namespace))) return;
      const ended = completed(job);
      if (ended.reached) return void lasts.set(namespace, { name, at, readiness: ended });
      if (ended.error === undefined) return;
      const trouble = await findPodTrouble(seedClient, job).catch(() => undefined);
      const message = [`scheduled snapshot ${name}: ${ended.message}`, trouble?.message].filter(Boolean).join(": ");
      lasts.set(namespace, { name, at, readiness: { reached: false, message } });
      if (Date.now() - Date.parse(at) < TOLD_FOR) await tell(job, owner, message);
    },
    forget({ namespace, name }) {
      if (lasts.get(namespace)?.name === name) lasts.delete(namespace);
    },
  };
}

/** The latest Job of a namespace that has ended. */
interface Last {
  readonly name: string;
  readonly at: string;
  readonly readiness: Readiness;
}

/** Of two Jobs of one second, which is as exact as Kubernetes says it, the later has the later name: a CronJob numbers them. */
const isOlder = ({ name, at }: Pick<Last, "name" | "at">, last: Last | undefined): boolean =>
  last !== undefined && (at === last.at ? name < last.name : at < last.at);

/** In ms: as long as a garden keeps Events, so that none comes again when a worker starts again. */
const TOLD_FOR = 3_600_000;
