import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import type { Cluster } from "../../api/extensions/cluster.ts";
import type { Shoot } from "../../api/shoot/shoot.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { ObjectRef } from "../../kube/path.ts";

/** The Shoot's `Cluster`, without the schema of its kind, whose making takes megabytes. */
export const CLUSTER: ObjectRef<Cluster> = {
  ...{ apiVersion: "extensions.gardener.cloud/v1alpha1", kind: "Cluster" },
  name: SYSTEM_NAMESPACE,
};

/** The Shoot as its cluster knows it, unchecked, and so without the schemas, which an agent at rest does without; undefined before there is one. */
export async function shootAtHand(client: Pick<KubeClient, "read">): Promise<Shoot | undefined> {
  return (await client.read(CLUSTER))?.spec.shoot;
}
