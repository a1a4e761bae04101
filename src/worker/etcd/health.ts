import { ETCD_REPLACED_ANNOTATION } from "../../api/annotations.ts";
import { ROLE_LABEL } from "../../api/labels.ts";
import { dataReadiness } from "../../activities/etcd/readiness.ts";
import { safely } from "../../activities/shoot/health.ts";
import { podsOf, rolledOut, type Readiness } from "../../activities/waits/readiness.ts";
import { ETCDS, SCHEDULE } from "../../components/index.ts";
import { CronJob, StatefulSet, type KubeClient } from "../../kube/index.ts";
import type { EtcdReadings } from "./readings.ts";

/** Where the etcds of Shoots stand: `seed` is read from watches, `seedClient` asks. */
export interface EtcdSights {
  readonly seed: Pick<KubeClient, "list">;
  readonly seedClient: KubeClient;
  /** What they have said of themselves. */
  readonly readings: Pick<EtcdReadings, "readiness">;
}

/**
 * Whether the etcds of a Shoot have room, raise no alarm, and their data let them run. Pods, logs and claims are read only while an etcd is not ready, or is stopped. Of
 * etcds that run, it says which had their data replaced.
 */
export function etcdReadiness({ seed, seedClient, readings }: EtcdSights, namespace: string): Promise<Readiness> {
  return safely(async () => {
    const sets = await seed.list(StatefulSet, { namespace, labelSelector: `${ROLE_LABEL}=controlplane` });
    const of = (role: (typeof ETCDS)[number]) => sets.find(({ metadata }) => metadata.name === `etcd-${role}`);
    const roles = ETCDS.filter((role) => {
      const set = of(role);
      return set !== undefined && (podsOf(set).wanted === 0 || !rolledOut(set).reached);
    });
    const notes = ETCDS.flatMap((role) => of(role)?.metadata.annotations?.[ETCD_REPLACED_ANNOTATION] ?? []);
    if (roles.length === 0) {
      const read = readings.readiness(namespace);
      return read.reached && notes.length > 0 ? { reached: true, note: `${notes.join("; ")}.` } : read;
    }
    const hasBackup = (await seedClient.read(CronJob, { namespace, name: SCHEDULE })) !== undefined;
    return await dataReadiness({ seedClient, namespace, roles, hasBackup });
  });
}
