import { z } from "zod";
import type { KubeObject } from "../../api/schema/meta.ts";
import { dnsSubdomain } from "../../api/schema/syntax.ts";
import type { ConfiguredObject } from "./documents.ts";
import { createFault, nameOf, type Fault } from "./fault.ts";
import { configuredKinds, type ConfiguredKind } from "./kinds.ts";

/** The object as the garden would have stored it, or what is wrong with it. */
export function checkObject({ file, object }: ConfiguredObject): ConfiguredObject & { readonly faults: Fault[] } {
  const called = nameOf(object);
  const kind = configuredKinds.find((one) => one.kind === object.kind);
  if (kind === undefined) return { file, object, faults: [createFault({ file, object: called }, unknownKind(object))] };
  const converted = isServed(object, kind) ? { ...object, apiVersion: kind.apiVersion } : object;
  const faults = [...formFaults(converted, kind), ...schemaFaults(converted, kind)];
  return {
    file,
    object: faults.length === 0 ? stored(converted) : object,
    faults: faults.map(({ field, message }) => createFault({ file, object: called, field }, message)),
  };
}

function isServed({ apiVersion }: KubeObject, kind: ConfiguredKind): boolean {
  const group = kind.apiVersion.slice(0, kind.apiVersion.lastIndexOf("/"));
  return (kind.alsoServed ?? []).some((version) => apiVersion === `${group}/${version}`);
}

interface FieldFault {
  readonly field: string;
  readonly message: string;
}

function unknownKind({ kind, apiVersion }: KubeObject): string {
  const known = configuredKinds.map((one) => one.kind).join(", ");
  return `kind ${kind} of ${apiVersion} has no place in a configuration: take it out; what has one is ${known}`;
}

function formFaults({ apiVersion, metadata }: KubeObject, kind: ConfiguredKind): FieldFault[] {
  const faults: FieldFault[] = [];
  if (apiVersion !== kind.apiVersion)
    faults.push({ field: "apiVersion", message: `is ${apiVersion}: write ${kind.apiVersion}` });
  if (!isName(metadata.name))
    faults.push({ field: "metadata.name", message: "is no name: use small letters, digits and hyphens" });
  if (kind.scope === "Cluster" && metadata.namespace !== undefined)
    faults.push({ field: "metadata.namespace", message: `is set, and a ${kind.kind} is in no namespace: take it out` });
  if (kind.scope === "Namespaced" && !isName(metadata.namespace ?? ""))
    faults.push({ field: "metadata.namespace", message: "is missing or no name: write the namespace of its Project" });
  if (metadata.uid !== undefined && !UID.test(String(metadata.uid)))
    faults.push({ field: "metadata.uid", message: "is no uid: write that of the garden, or take it out" });
  return faults;
}

/** Upstream's are UUIDs; names of backups and of certificates are made of them. */
const UID = /^[0-9a-zA-Z][-0-9a-zA-Z]{0,62}$/;

const { maxLength, pattern } = z.object({ maxLength: z.number(), pattern: z.string() }).parse(dnsSubdomain().meta());
const isName = (text: unknown): boolean =>
  typeof text === "string" && text.length <= maxLength && new RegExp(pattern).test(text);

/** What the schema has against all but the fields that `formFaults` has spoken of. */
function schemaFaults(object: KubeObject, { schema }: ConfiguredKind): FieldFault[] {
  const { error } = schema.safeParse(object);
  return (error?.issues ?? [])
    .map(({ path, message }) => ({ field: fieldOf(path), message: `${lowerCase(message)}: see docs/api.md` }))
    .filter(({ field }) => !["apiVersion", "metadata.name", "metadata.namespace", "metadata.uid"].includes(field));
}

function fieldOf(path: readonly PropertyKey[]): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`))
    .join("")
    .replace(/^\./, "");
}

const lowerCase = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** A Secret's `stringData` becomes `data`, as an API server has it. */
function stored(object: KubeObject): KubeObject {
  const { stringData, ...rest } = object;
  if (object.kind !== "Secret" || stringData === undefined) return object;
  const texts = Object.entries(stringData as Readonly<Record<string, string>>);
  const encoded = texts.map(([key, text]) => [key, Buffer.from(text).toString("base64")] as const);
  return { ...rest, data: { ...(object["data"] as object | undefined), ...Object.fromEntries(encoded) } };
}
