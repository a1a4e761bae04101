import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import type { Shoot } from "../../api/shoot/shoot.ts";
import type { KubeClient } from "../../kube/client.ts";

const CLUSTER = { apiVersion: "extensions.gardener.cloud/v1alpha1", kind: "Cluster", name: SYSTEM_NAMESPACE } as const;

/** The Shoot as its cluster knows it, unchecked, and so without the schemas, which an agent at rest does without; undefined before there is one. */
export async function shootAtHand(client: KubeClient): Promise<Shoot | undefined> {
  const cluster = await client.read(CLUSTER);
  return (cluster?.["spec"] as { readonly shoot?: Shoot } | undefined)?.shoot;
}
