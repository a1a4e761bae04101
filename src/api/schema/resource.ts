import { z } from "zod";
import type { Kind as KindOf, Scope as AnyScope } from "./kind.ts";
import { namespacedMeta, objectMeta } from "./meta.ts";
import { object, type Rule } from "./fields.ts";

/** What makes a kind of object: its names, its content, and what the API server is told about it. */
export interface ResourceDefinition<
  Group extends string,
  Version extends string,
  Kind extends string,
  Scope extends AnyScope,
  Content extends z.ZodRawShape,
> {
  readonly group: Group;
  readonly version: Version;
  /** Versions with the same content that are served besides `version`, which is the stored one. */
  readonly alsoServed?: readonly string[];
  readonly kind: Kind;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly scope: Scope;
  /** First words of `kubectl explain`. */
  readonly description: string;
  /** `spec`, `status` and other fields next to the metadata. */
  readonly content: Content;
  /** Columns of `kubectl get`, before the age. */
  readonly columns?: readonly Column[];
  /** CEL rules about the whole object. */
  readonly rules?: readonly Rule[];
  /** Labels of the CustomResourceDefinition itself. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** A column of `kubectl get`; priority 1 shows it with `-o wide` only. */
export interface Column {
  readonly name: string;
  readonly path: string;
  readonly type?: "string" | "integer" | "boolean" | "date";
  readonly priority?: number;
  readonly description?: string;
}

/**
 * A kind of object of the API: one definition from which its type, its parser, its CustomResourceDefinition and its
 * documentation come. `parse` accepts what a server returned and keeps the fields that it does not know.
 */
export function defineResource<
  const Group extends string,
  const Version extends string,
  const Kind extends string,
  const Scope extends AnyScope,
  Content extends z.ZodRawShape,
>(definition: ResourceDefinition<Group, Version, Kind, Scope, Content>) {
  const apiVersion: `${Group}/${Version}` = `${definition.group}/${definition.version}`;
  const metadata = (definition.scope === "Namespaced" ? namespacedMeta : objectMeta) as Scope extends "Namespaced"
    ? typeof namespacedMeta
    : typeof objectMeta;
  const schema = object({
    apiVersion: z.literal(apiVersion),
    kind: z.literal(definition.kind),
    metadata,
    ...definition.content,
  });
  const resource = { ...definition, apiVersion, schema, parse: (value: unknown) => schema.parse(value) };
  return resource as typeof resource & KindOf<z.infer<typeof schema>, Scope>;
}

/** Any resource, seen without its content's type. */
export interface Resource extends ResourceDefinition<string, string, string, "Namespaced" | "Cluster", z.ZodRawShape> {
  readonly apiVersion: string;
  /** The object, checked; fields that the schema does not name are kept. */
  parse(value: unknown): unknown;
}
