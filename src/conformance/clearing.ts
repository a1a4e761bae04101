import { EXTENSIONS_API, isClusterScoped } from "../api/extensions/kinds.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import { credentialsName, secretsOf, type Place } from "./objects.ts";
import type { Subject } from "./subject.ts";

/**
 * Commands of kubectl that clear away what a scenario leaves when the object's deletion does not end. The first takes the
 * controller's finalizer from the object: the controller does not look after what the object stands for any more.
 */
export function clearCommands({ kind }: Pick<Subject, "kind">, { metadata }: KubeObject, place: Place): string[] {
  const [group] = EXTENSIONS_API.split("/");
  const scope = metadata.namespace === undefined ? "" : ` --namespace ${metadata.namespace}`;
  const patch = `--type merge --patch '{"metadata":{"finalizers":null}}'`;
  const secret = `kubectl --namespace ${secretsOf(kind, place)} delete secret ${credentialsName(kind, place)}`;
  return [
    `kubectl${scope} patch ${kind.toLowerCase()}.${group} ${metadata.name} ${patch}`,
    ...(isClusterScoped(kind) ? [secret] : []),
    `kubectl delete cluster.${group} ${place.namespace}`,
    `kubectl delete namespace ${place.namespace}`,
  ];
}
