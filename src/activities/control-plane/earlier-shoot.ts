import { SHOOT_UID_ANNOTATION } from "../../api/annotations.ts";
import { Cluster } from "../../api/index.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { Namespace, refOf, refTo, type KubeClient } from "../../kube/index.ts";
import { StepError } from "../step-error.ts";
import type { SeedActivities } from "../index.ts";

/**
 * The same activities, kept off a namespace that belongs to an earlier Shoot of that name: they wait until it is gone,
 * because nothing but that Shoot's own deletion, or an operator, knows what its infrastructure is. A Shoot that is deleted
 * has nothing there, and leaves it alone.
 */
export function onlyInOwnNamespace(seedClient: KubeClient, activities: SeedActivities): SeedActivities {
  const keptOff = Object.entries<Activity>(activities as never).map(([name, activity]) => {
    if (unaffected.has(name)) return [name, activity] as const;
    const careful: Activity = async (run, ...rest) => {
      const earlier = await findEarlier(seedClient, run);
      if (earlier === undefined) return activity(run, ...rest);
      if (run.operation !== "Delete") throw new StepError(earlier);
      return name === "readControlPlane" ? nothingThere : [];
    };
    return [name, careful] as const;
  });
  return Object.fromEntries(keptOff) as never;
}

type Activity = (run: ShootRun, ...rest: unknown[]) => Promise<unknown>;

/** They act on nothing in the namespace, or on what another activity has changed. */
const unaffected: ReadonlySet<string> = new Set<keyof SeedActivities>([
  "waitFor",
  "explainWait",
  "removeState",
  "answer",
]);

const nothingThere = { namespaceUsable: false, cleanable: false, controlPlaneNeeded: false };

/** What to tell of an earlier Shoot's namespace; undefined when it is the run's own, or there is none. */
export async function findEarlier(
  seedClient: KubeClient,
  { technicalID, uid, seedName }: Pick<ShootRun, "technicalID" | "uid" | "seedName">,
): Promise<string | undefined> {
  const namespace = await seedClient.read(Namespace, { name: technicalID });
  const owner = namespace?.metadata.annotations?.[SHOOT_UID_ANNOTATION];
  if (owner === undefined || owner === uid) return undefined;
  const goes = namespace?.metadata.deletionTimestamp === undefined ? "" : ", and is being deleted";
  return `namespace ${technicalID} in Seed ${seedName} is that of an earlier Shoot of this name, with uid ${owner}${goes}: see what is left in it, and delete it; the Shoot goes on when it is gone`;
}

/** Removes the Cluster of an earlier Shoot of that name, of which the namespace is gone: no extension has anything to do there. */
export async function removeEarlierCluster(seedClient: KubeClient, { technicalID, uid }: ShootRun): Promise<void> {
  const cluster = await seedClient.read(refTo(Cluster, { name: technicalID }));
  const owner = cluster?.spec.shoot.metadata.uid;
  if (cluster === undefined || owner === undefined || owner === uid) return;
  await seedClient.remove(refOf(cluster), cluster.metadata.uid === undefined ? {} : { uid: cluster.metadata.uid });
}
