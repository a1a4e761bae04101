import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Scope, TypeRef } from "../../api/schema/kind.ts";
import { isApiVersion } from "../discovery.ts";
import type { ObjectRef } from "../path.ts";
import { malformedError } from "../refusal.ts";
import type { Call } from "./refusals.ts";
import { groupOf, scopeOf } from "./traits.ts";

/** The folder of objects that live in no namespace; no namespace can have this name. */
export const CLUSTER_FOLDER = "_cluster";

/**
 * Where an object is, below the directory: `kube-system/Secret/ca.yaml`, `_cluster/Namespace/garden.yaml`,
 * `kube-system/Deployment.apps/coredns.yaml`. The version of its group makes no difference. Throws for names that would
 * lead elsewhere.
 */
export function fileOf(ref: ObjectRef, call: Call): string {
  const { name } = ref;
  if (["", ".", ".."].includes(name) || /[/%\0]/.test(name) || !name.isWellFormed() || name.length > LONGEST_NAME)
    throw malformedError(call.what.slice(0, 1024), `${JSON.stringify(name.slice(0, 80))} is no name`);
  return join(folderOf(ref, namespaceOf(ref, call), call), fileName(name));
}

/** The folder of the objects of a kind, in a namespace or, where it is undefined, in none. */
export function folderOf({ apiVersion, kind }: TypeRef, namespace: string | undefined, call: Call): string {
  const group = groupOf(apiVersion);
  if (!isApiVersion(apiVersion)) throw malformedError(call.what, `${JSON.stringify(apiVersion)} is no API version`);
  if (!/^[A-Za-z][A-Za-z0-9]{0,62}$/.test(kind)) throw malformedError(call.what, `${JSON.stringify(kind)} is no kind`);
  if (namespace !== undefined && !isLabel(namespace))
    throw malformedError(call.what.slice(0, 1024), `${JSON.stringify(namespace.slice(0, 80))} is no namespace`);
  return join(namespace ?? CLUSTER_FOLDER, group === "" ? kind : `${kind}.${group}`);
}

/** The namespace of an object; undefined for one that lives in none. Throws where it should be given and is not. */
export function namespaceOf(ref: ObjectRef, call: Call): string | undefined {
  const scope: Scope | undefined = scopeOf(ref);
  if (scope === "Cluster") return undefined;
  if (scope === "Namespaced" && ref.namespace === undefined)
    throw new Error(`cannot ${call.what}: ${ref.kind} needs a namespace`);
  return ref.namespace;
}

/** Whether a text is a DNS label, as the name of a namespace has to be. */
export const isLabel = (text: string): boolean => text.length <= 63 && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(text);

const LONGEST_NAME = 1024;

/** A file name has 255 bytes; a longer name is told apart by its hash. */
function fileName(name: string): string {
  const plain = encodeURIComponent(name).replaceAll("%3A", ":").replace(/^\./, "%2E");
  if (plain.length <= 200) return `${plain}.yaml`;
  return `${plain.slice(0, 160)}%${createHash("sha256").update(name).digest("hex").slice(0, 32)}.yaml`;
}
