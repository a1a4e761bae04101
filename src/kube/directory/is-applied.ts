import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../api/schema/meta.ts";
import { parseJson } from "../../parsing.ts";
import { parseFields, type Fields } from "./field-set.ts";
import { listRulesOf } from "./lists.ts";
import { isMap, partsOf, type Part, type Place } from "./shape.ts";

/**
 * Whether server-side apply of `object` would change nothing of `live`, as the API server has it, but for what admission adds: the fields
 * that the manager has applied are exactly those of the object, and each has its value. False also where only the server can tell, which
 * has its own ways with defaults and quantities.
 */
export function isApplied(object: KubeObject, live: KubeObject, manager: string): boolean {
  const own = live.metadata.managedFields?.find((entry) => isApplyOf(entry, manager));
  if (own?.["apiVersion"] !== object.apiVersion) return false;
  const rules = listRulesOf(object);
  const wanted = { value: contentOf(object), path: [], rules };
  return isSame(parseFields(own["fieldsV1"]), wanted, { ...wanted, value: live });
}

const isApplyOf = (entry: Readonly<Record<string, unknown>>, manager: string): boolean =>
  entry["manager"] === manager && entry["operation"] === "Apply" && entry["subresource"] === undefined;

/** As it is sent, without what says which object is meant. */
function contentOf(object: KubeObject): unknown {
  const { apiVersion: _, kind: __, metadata, ...rest } = parseJson(JSON.stringify(object), object.kind) as KubeObject;
  const { name: ___, namespace: ____, ...more } = metadata;
  return Object.keys(more).length > 0 ? { ...rest, metadata: more } : rest;
}

function isSame(own: Fields, wanted: Place, found: Place): boolean {
  const parts = partsOf(wanted);
  if (own.below.size === 0) return isWhole(wanted, parts) && isDeepStrictEqual(wanted.value, found.value);
  const there = partsOf(found);
  if (parts?.length !== own.below.size || there === undefined) return false;
  const isPartSame = (part: Part): boolean => {
    const fields = own.below.get(part.element);
    const same = there.find(({ element }) => element === part.element);
    if (fields === undefined || same === undefined) return false;
    return isSame(fields, { ...part, rules: wanted.rules }, { ...same, rules: found.rules });
  };
  return parts.every(isPartSame) && (isMap(wanted.value) || isInOrder(parts, there));
}

/** Of a value that was empty when it was applied, the server has noted no parts either: that alone does not say that it has one owner. */
function isWhole({ value, path }: Place, parts: readonly Part[] | undefined): boolean {
  return parts === undefined || parts.length === 0 || (isMap(value) && WHOLE.has(path.at(-1) ?? ""));
}

/** Maps of Kubernetes' own kinds that have one owner. */
const WHOLE: ReadonlySet<string> = new Set(["roleRef", "selector", "matchLabels", "nodeSelector"]);

/** Whether the items stand in the same order among those that are there. */
function isInOrder(parts: readonly Part[], there: readonly Part[]): boolean {
  const places = parts.map((part) => there.findIndex(({ element }) => element === part.element));
  return places.every((place, index) => index === 0 || place > (places[index - 1] ?? -1));
}
