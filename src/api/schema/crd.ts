import { z } from "zod";
import type { KubeObject } from "./meta.ts";
import type { Column, Resource } from "./resource.ts";
import { toStructural, type Bounds, type JsonSchema } from "./structural.ts";
import { jsonSchemaOf } from "./walk.ts";

/** The CustomResourceDefinition of a resource. Throws when its schema has no structural form, naming the field. */
export function toCustomResourceDefinition(resource: Resource): KubeObject {
  const { group, plural, kind, scope } = resource;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}`, ...(resource.labels && { labels: { ...resource.labels } }) },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(resource.shortNames && { shortNames: [...resource.shortNames] }),
        ...(resource.categories && { categories: [...resource.categories] }),
      },
      scope,
      versions: [resource.version, ...(resource.alsoServed ?? [])].map((name) => version(resource, name)),
    },
  };
}

function version(resource: Resource, name: string) {
  return {
    name,
    served: true,
    storage: name === resource.version,
    ...("status" in resource.content && { subresources: { status: {} } }),
    additionalPrinterColumns: [...(resource.columns ?? []), age].map(printerColumn),
    schema: { openAPIV3Schema: rootSchema(resource) },
  };
}

const age: Column = { name: "Age", path: ".metadata.creationTimestamp", type: "date" };

function printerColumn({ name, path, type = "string", priority, description }: Column) {
  return { name, jsonPath: path, type, ...(priority && { priority }), ...(description && { description }) };
}

function rootSchema(resource: Resource): JsonSchema {
  const { kind } = resource;
  const schema = jsonSchemaOf(z.looseObject(resource.content));
  const { status, ...wanted } = schema.properties ?? {};
  const { properties, required, ...rest } = toStructural({ ...schema, properties: wanted }, kind, written);
  const seen = status === undefined ? {} : { status: toStructural(status, `${kind}.status`, observed) };
  return {
    description: resource.description,
    ...rest,
    ...(resource.rules && { "x-kubernetes-validations": resource.rules }),
    properties: { ...typeMeta, ...described({ ...properties, ...seen }) },
    ...(required && { required }),
  };
}

/** Of what users and flows write. A field that needs more, or has reason to allow less, says so. */
const written: Bounds = { maxItems: 1000, maxProperties: 1000, maxLength: 4096 };

/** Of what controllers write: they quote errors, and count machines. */
const observed: Bounds = { maxItems: 10_000, maxProperties: 10_000 };

function described(properties: JsonSchema["properties"] = {}): JsonSchema["properties"] {
  const texts: Readonly<Record<string, string>> = {
    spec: "What is wanted.",
    status: "What has been seen last.",
  };
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [
      name,
      name in texts ? { description: texts[name] ?? "", ...field } : field,
    ]),
  );
}

const typeMeta = {
  apiVersion: { type: "string", description: "Version of the schema that this object follows." },
  kind: { type: "string", description: "Kind of this object." },
  metadata: { type: "object" },
};
