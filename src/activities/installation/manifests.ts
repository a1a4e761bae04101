import { parseAllDocuments, stringify } from "yaml";
import type { KubeObject } from "../../api/schema/meta.ts";

/** The objects that rendered manifests describe; throws where they are not objects. */
export function parseManifests(text: string): KubeObject[] {
  return parseAllDocuments(text, { version: "1.1" }).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`it renders to what is no YAML: ${error.message.split("\n")[0] ?? ""}`);
    const object: unknown = document.toJS();
    if (object === null || object === undefined) return [];
    if (isObject(object)) return object.kind === "List" ? itemsOf(object) : [object];
    throw new Error("it renders to a document that is no object: apiVersion, kind or metadata.name is missing");
  });
}

/** The objects that Helm would create around an installation: the resource manager knows no such moments. */
export const hooksOf = (objects: readonly KubeObject[]): readonly KubeObject[] =>
  objects.filter(({ metadata }) => HOOK in (metadata.annotations ?? {}));

const HOOK = "helm.sh/hook";

/** One text of these objects, in their order. */
export const renderManifests = (objects: readonly KubeObject[]): string =>
  objects.map((object) => stringify(object, { version: "1.1", aliasDuplicateObjects: false })).join("---\n");

function isObject(value: unknown): value is KubeObject {
  if (typeof value !== "object" || value === null) return false;
  const { apiVersion, kind, metadata } = value as Partial<KubeObject>;
  if (typeof apiVersion !== "string" || typeof kind !== "string") return false;
  return kind === "List" || typeof metadata?.name === "string";
}

function itemsOf(list: KubeObject): KubeObject[] {
  const { items = [] } = list as { readonly items?: readonly unknown[] };
  if (items.every(isObject)) return [...items];
  throw new Error("it renders to a List of what are no objects");
}
