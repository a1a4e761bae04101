import {
  contractOf,
  definitionOf,
  isClusterScoped,
  type AppliedKind,
  type ExtensionKind,
  type ExtensionObject,
} from "../../api/extensions/kinds.ts";
import type { ShootIdentity } from "../../api/extensions/define-extension.ts";
import type { KubeClient } from "../../kube/index.ts";

/** The Shoot's objects of a kind that there are in a seed, whatever its spec says of them now. */
export async function listExtensionObjects(
  seedClient: KubeClient,
  shoot: ShootIdentity,
  kind: ExtensionKind,
): Promise<ExtensionObject[]> {
  const definition = definitionOf(kind);
  if (!isClusterScoped(kind)) return seedClient.list(definition, { namespace: shoot.technicalID });
  const object = await seedClient.read(definition, { name: clusterScopedName(kind, shoot) });
  return object === undefined ? [] : [object];
}

/** An object in no namespace is found by its name, which says whose it is. */
function clusterScopedName(kind: ExtensionKind, shoot: ShootIdentity): string {
  const name = contractOf(kind as AppliedKind).nameOf?.(shoot);
  if (name === undefined) throw new Error(`cannot look for the Shoot's ${kind}: its contract names no object`);
  return name;
}
