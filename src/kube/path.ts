import type { KeyOf, Scope, TypeRef } from "../api/schema/kind.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import { versionPath, type ResourceType } from "./discovery.ts";
import { malformedError } from "./refusal.ts";
import { omitUndefined } from "../omit-undefined.ts";

/** What names an object: its kind, its name, and its namespace unless it is cluster-scoped. */
export interface ObjectRef<T = KubeObject> extends TypeRef<T> {
  readonly name: string;
  readonly namespace?: string;
}

/** Query parameters; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The reference to an object at hand. */
export function refOf<T extends KubeObject>({ apiVersion, kind, metadata }: T): ObjectRef<T> {
  return { apiVersion, kind, name: metadata.name ?? "", ...omitUndefined({ namespace: metadata.namespace }) };
}

/** What an object says of its kind: the fields with which every object begins. */
export function typeMeta<K extends TypeRef>({ apiVersion, kind }: K): Pick<K, "apiVersion" | "kind"> {
  return { apiVersion, kind };
}

/** The reference to an object of a kind; the kind decides whether there is a namespace to give. */
export function refTo<T extends KubeObject, S extends Scope>(
  { apiVersion, kind }: TypeRef<T, S>,
  { name, namespace }: KeyOf<S>,
): ObjectRef<T> {
  return { apiVersion, kind, name, ...omitUndefined({ namespace }) };
}

/** `Deployment ns/name`, as objects are called in errors and events. */
export function inWords({ kind, namespace, name }: ObjectRef): string {
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

/**
 * The path of an object, or of the collection when no name is given; `what` names the call in errors. Throws for names
 * that would make another path of it.
 */
export function pathOf(
  type: ResourceType,
  { namespace, name }: { readonly namespace?: string; readonly name?: string },
  subresource: string | undefined,
  what: string,
): string {
  if (type.namespaced && name !== undefined && namespace === undefined) {
    throw new Error(`cannot ${what}: ${type.kind} needs a namespace`);
  }
  for (const part of [namespace, name, subresource]) {
    if (part === undefined || (!["", ".", ".."].includes(part) && part.length <= longestName)) continue;
    throw malformedError(what.slice(0, longestName), `${JSON.stringify(part.slice(0, 80))} is no name`);
  }
  const inNamespace = type.namespaced && namespace !== undefined ? ["namespaces", namespace] : [];
  const parts = [...inNamespace, type.plural, name, subresource].filter((part) => part !== undefined);
  return [versionPath(type.apiVersion), ...parts.map(encodeURIComponent)].join("/");
}

/** Most kinds allow 253 characters, some any number; servers read a few thousand of a whole path. */
const longestName = 1024;

/** `?a=1&b=2`, or nothing. */
export function queryOf(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? "" : `?${parameters.toString()}`;
}
