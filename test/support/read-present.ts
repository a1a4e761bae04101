import type { KubeObject } from "../../src/api/index.ts";
import type { Kind } from "../../src/api/schema/kind.ts";
import type { NamespacedKey } from "../../src/kube/index.ts";
import type { ControlPlane } from "./control-plane.ts";

/** An object that has to be there; throws where it is not. */
export async function readPresent<T extends KubeObject>(
  { client }: Pick<ControlPlane, "client">,
  kind: Kind<T, "Namespaced">,
  name: NamespacedKey,
): Promise<T> {
  const found = await client.read(kind, name);
  if (found === undefined) throw new Error(`there is no ${kind.kind} ${name.namespace}/${name.name}`);
  return found;
}
