import type { ShootCluster } from "../../api/cluster-api/index.ts";
import { INFRASTRUCTURE_ID_LABEL, PROJECT_NAMESPACE_LABEL } from "../../api/labels.ts";
import { INFRASTRUCTURE_FINALIZER } from "../../api/names.ts";
import { refOf, type KubeClient } from "../../kube/index.ts";

/** In the garden: whose a thing is, and for which Shoot. Users write labels of ShootClusters, so an id alone gives no right to it. */
export interface Holder {
  readonly id: string;
  /** The Shoot that it is for, in the only project that the ShootCluster's namespace may use. */
  readonly shoot: { readonly namespace: string; readonly name: string };
}

/**
 * Writes down, before anything is made in the garden, what has to be known for as long as the ShootCluster lives, also after
 * `clusterctl move` has made it anew: its identity, and its project. The finalizer keeps it until the garden has nothing of it.
 */
export async function establishInfrastructure(
  management: KubeClient,
  infrastructure: ShootCluster,
  project: string,
): Promise<void> {
  const { labels = {}, finalizers = [], uid, resourceVersion } = infrastructure.metadata;
  const isHeld = finalizers.includes(INFRASTRUCTURE_FINALIZER);
  if (labels[INFRASTRUCTURE_ID_LABEL] && labels[PROJECT_NAMESPACE_LABEL] && isHeld) return;
  const identity = {
    [INFRASTRUCTURE_ID_LABEL]: infrastructureId(infrastructure),
    [PROJECT_NAMESPACE_LABEL]: project,
  };
  const kept = [...new Set([...finalizers, INFRASTRUCTURE_FINALIZER])];
  await management.patch(refOf(infrastructure), {
    metadata: { labels: identity, finalizers: kept, uid, resourceVersion },
  });
}

/** What a ShootCluster is known by in the garden: its label, else its uid, which the label will be. */
export const infrastructureId = ({ metadata: { labels, uid = "" } }: ShootCluster): string =>
  labels?.[INFRASTRUCTURE_ID_LABEL] || uid;
