import { PROJECT_NAMESPACE_ANNOTATION } from "../../api/annotations.ts";
import { PROJECT_NAMESPACE_LABEL } from "../../api/labels.ts";
import type { NamespacedMeta } from "../../api/schema/meta.ts";
import type { KubeClient, Namespace } from "../../kube/index.ts";
import { obstacle, type Obstacle } from "../objects/obstacle.ts";
import type { World } from "./world.ts";

/** The project namespace in the garden that a management namespace may use, or why there is none. */
export type ProjectChoice = { readonly namespace: string } | { readonly obstacle: Obstacle };

/**
 * Where the Shoot of a control plane is, and what its infrastructure has. Where the management cluster is the garden, in their own namespace;
 * elsewhere, where the management namespace is annotated to be. It stays where it was at first. Pure.
 */
export function projectNamespaceOf(
  { metadata }: Projected,
  { isGarden, namespace }: { readonly isGarden: boolean; readonly namespace: Namespace | undefined },
): ProjectChoice {
  const allowed = isGarden ? metadata.namespace : namespace?.metadata.annotations?.[PROJECT_NAMESPACE_ANNOTATION];
  const remembered = metadata.labels?.[PROJECT_NAMESPACE_LABEL];
  if (allowed === undefined)
    return obstacle(
      "NoProject",
      `Namespace ${metadata.namespace} may use no project: annotate it with ${PROJECT_NAMESPACE_ANNOTATION}`,
    );
  if (remembered !== undefined && remembered !== allowed)
    return obstacle(
      "ProjectChanged",
      `Namespace ${metadata.namespace} may use ${allowed} now, and the Shoot is in ${remembered}: Shoots do not move between projects`,
    );
  return { namespace: allowed };
}

/** The same, by what is known of the Namespace. */
export const projectOf = ({ management, garden, world }: ProjectSource, object: Projected): ProjectChoice =>
  projectNamespaceOf(object, {
    isGarden: management === garden,
    namespace: world.namespaces.get(object.metadata.namespace),
  });

/** A control plane or an infrastructure. */
interface Projected {
  readonly metadata: NamespacedMeta;
}

/** What says which project a namespace may use. */
export interface ProjectSource {
  readonly management: KubeClient;
  readonly garden: KubeClient;
  readonly world: { readonly namespaces: Pick<World["namespaces"], "get"> };
}
