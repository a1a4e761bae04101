import type { Shoot } from "../../api/index.ts";
import type { KubeClient, MergePatch } from "../../kube/client.ts";
import { isConflict, isNotFound } from "../../kube/errors.ts";
import { CLUSTER, shootAtHand } from "./shoot-at-hand.ts";

/** The status of a Shoot that is in no garden, and stands in its `Cluster`. */
export type ShootStatus = NonNullable<Shoot["status"]>;

/** Who writes which part of the status. */
export type StatusWriter = "gardenadm" | "gardener-node-agent";

const MOST_ATTEMPTS = 5;

/** The status as it stands; undefined while there is no `Cluster`, and empty where nothing was said yet. */
export async function readShootStatus(client: Pick<KubeClient, "read">): Promise<ShootStatus | undefined> {
  const shoot = await shootAtHand(client);
  return shoot && (shoot.status ?? {});
}

/**
 * Merges into the status what is made of it as it is, and leaves alone what else is in it; nothing where there is nothing to change.
 * Answers whether there is a `Cluster`. By managers of their own: what the next apply of the `Cluster` says nothing of stays.
 */
export async function changeShootStatus(
  client: Pick<KubeClient, "read" | "patch">,
  fieldManager: StatusWriter,
  change: (status: ShootStatus) => MergePatch | undefined,
): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    const cluster = await client.read(CLUSTER);
    if (cluster === undefined) return false;
    const status = change(cluster.spec.shoot.status ?? {});
    if (status === undefined) return true;
    const { resourceVersion } = cluster.metadata;
    try {
      await client.patch(CLUSTER, { metadata: { resourceVersion }, spec: { shoot: { status } } }, { fieldManager });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      if (!isConflict(error) || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}
