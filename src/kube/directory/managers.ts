import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../api/schema/meta.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import {
  intersection,
  isEmpty,
  minus,
  noFields,
  parseFields,
  renderFields,
  union,
  withAncestors,
  type Fields,
} from "./field-set.ts";
import { listRulesOf } from "./lists.ts";
import { merge, without } from "./merge.ts";
import { differences, fieldsOf, isMap, type Place } from "./shape.ts";

/** Who writes what: an object apart from its status, or its status alone. */
export interface Writer {
  readonly manager: string;
  readonly part: Part;
  readonly apiVersion: string;
  /** As Kubernetes writes a time. */
  readonly at: string;
}

/** What of an object a write is about. */
export type Part = "main" | "status";

/** The object after server-side apply of `applied`, which takes over what others own; what the writer applied before and no longer does is gone unless others own it. */
export function applied(live: KubeObject, config: KubeObject, writer: Writer): KubeObject {
  const wanted = ownable(config, writer.part);
  const entries = entriesOf(live);
  const own = entries.find((entry) => isOf(entry, "Apply", writer));
  const others = entries.filter((entry) => entry !== own);
  const fields = { ...fieldsOf(placeIn(live, wanted)), self: false };
  const kept = withAncestors(union(others.map((entry) => entry.fields).reduce(union, noFields), fields));
  const gone = minus(own?.fields ?? noFields, kept);
  const joined = merge(placeIn(live, live), wanted);
  const next = withoutFields(live, joined, gone);
  const changed = changes(live, next);
  const left = others.map((entry) => ({ ...entry, fields: minus(entry.fields, changed) }));
  return withEntries(next, [...left, { ...entryOf("Apply", writer, own, fields), fields }]);
}

/** `next` with the fields in which it differs from `live` owned by the writer, and by no other. */
export function updated(live: KubeObject, next: KubeObject, writer: Writer): KubeObject {
  const changed = changes(live, next);
  const entries = entriesOf(live);
  if (isEmpty(changed)) return withEntries(next, entries);
  const own = entries.find((entry) => isOf(entry, "Update", writer));
  const present = fieldsOf(placeIn(next, ownable(next, writer.part)));
  const left = entries
    .filter((entry) => entry !== own)
    .map((entry) => ({ ...entry, fields: minus(entry.fields, changed) }));
  const fields = union(minus(own?.fields ?? noFields, changed), intersection({ ...changed, self: false }, present));
  return withEntries(next, [...left, { ...entryOf("Update", writer, own, fields), fields }]);
}

/** Whether two versions of an object are the same but for the times at which writers wrote, and the order in which these stand. */
export function isUnchanged(a: KubeObject, b: KubeObject): boolean {
  const [own, other] = [entriesOf(a), entriesOf(b)].map(
    (entries) => new Set(entries.map(({ time: _, ...rest }) => rest)),
  );
  return isDeepStrictEqual(bare(a), bare(b)) && isDeepStrictEqual(own, other);
}

interface Entry {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly time: string;
  readonly subresource?: string;
  readonly fields: Fields;
}

function entriesOf({ metadata }: KubeObject): readonly Entry[] {
  return (metadata.managedFields ?? []).map((entry) => {
    const { fieldsType: _, fieldsV1, ...rest } = entry as unknown as Omit<Entry, "fields"> & RenderedFields;
    return { ...rest, fields: parseFields(fieldsV1) };
  });
}

interface RenderedFields {
  readonly fieldsType: string;
  readonly fieldsV1: unknown;
}

function withEntries(object: KubeObject, entries: readonly Entry[]): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  const rendered = entries
    .filter(({ fields }) => !isEmpty(fields))
    .map(({ fields, ...entry }) => ({ ...entry, fieldsType: "FieldsV1", fieldsV1: renderFields(fields) }));
  return { ...object, metadata: { ...metadata, ...(rendered.length > 0 && { managedFields: rendered }) } };
}

function entryOf(
  operation: Entry["operation"],
  { manager, part, apiVersion, at }: Writer,
  before: Entry | undefined,
  fields: Fields,
): Omit<Entry, "fields"> {
  const time = before !== undefined && isDeepStrictEqual(before.fields, fields) ? before.time : at;
  return { manager, operation, apiVersion, time, ...omitUndefined({ subresource: subresourceOf(part) }) };
}

function isOf(entry: Entry, operation: Entry["operation"], { manager, part }: Writer): boolean {
  return entry.manager === manager && entry.operation === operation && entry.subresource === subresourceOf(part);
}

const subresourceOf = (part: Part): string | undefined => (part === "status" ? "status" : undefined);

/** What of an object can be owned; the rest belongs to the server. */
function ownable(object: KubeObject, part?: Part): Readonly<Record<string, unknown>> {
  const { apiVersion: _, kind: __, metadata, status, ...rest } = object;
  if (part === "status") return omitUndefined({ status });
  const free = Object.fromEntries(Object.entries(metadata).filter(([name]) => !SERVERS_OWN.has(name)));
  const meta = Object.keys(free).length > 0 ? { metadata: free } : {};
  return { ...rest, ...meta, ...(part === undefined ? omitUndefined({ status }) : {}) };
}

const SERVERS_OWN: ReadonlySet<string> = new Set([
  "name",
  "namespace",
  "generateName",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
]);

function placeIn(object: KubeObject, value: unknown): Place {
  return { value, path: [], rules: listRulesOf(object) };
}

function changes(live: KubeObject, next: KubeObject): Fields {
  return differences(placeIn(next, ownable(live)), placeIn(next, ownable(next)));
}

function withoutFields(live: KubeObject, joined: unknown, gone: Fields): KubeObject {
  const left = without(placeIn(live, joined), gone);
  // An object keeps its metadata, whatever is taken out of it.
  return { ...(isMap(left) ? left : {}), ...typeAndName(live, left) };
}

function typeAndName({ apiVersion, kind, metadata }: KubeObject, left: unknown): KubeObject {
  const free = isMap(left) && isMap(left["metadata"]) ? left["metadata"] : {};
  const own = Object.fromEntries(Object.entries(metadata).filter(([name]) => SERVERS_OWN.has(name)));
  return { apiVersion, kind, metadata: { ...free, ...own } as KubeObject["metadata"] };
}

function bare(object: KubeObject): unknown {
  const { managedFields: _, resourceVersion: __, ...metadata } = object.metadata;
  return { ...object, metadata };
}
