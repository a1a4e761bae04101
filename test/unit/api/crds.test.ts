import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { crdFiles, crdFolders } from "../../../scripts/generate-crds.ts";
import { Shoot, type Resource } from "../../../src/api/index.ts";
import { toCustomResourceDefinition } from "../../../src/api/schema/crd.ts";
import { share } from "../../../src/api/schema/syntax.ts";
import { defineResource } from "../../../src/api/schema/resource.ts";

const folders = Object.keys(crdFolders) as (keyof typeof crdFolders)[];
const all = Object.values(crdFolders).flat();

test.each(folders)("the files in %s are those that the schemas make", async (folder) => {
  const directory = join(import.meta.dirname, "../../..", folder);
  const files = crdFiles(folder);
  expect((await readdir(directory)).sort()).toEqual([...files.keys()].sort());
  for (const [name, content] of files) {
    expect(await readFile(join(directory, name), "utf8"), `${name}: run scripts/generate-crds.ts`).toBe(content);
  }
});

test("every field of every kind explains itself", () => {
  const silent = all.flatMap((resource) => silentFields(schemaOf(resource), resource.kind));
  expect(silent).toEqual([]);
});

test("every list, map and text that users or flows write has a bound, and so has every list in a status", () => {
  const unbounded = all.flatMap((resource) => unboundedFields(schemaOf(resource), resource.kind));
  expect(unbounded).toEqual([]);
});

test("a Shoot has at most a hundred worker pools, each with at most a hundred labels", () => {
  const pools = schemaOf(Shoot).properties?.["spec"]?.properties?.["provider"]?.properties?.["workers"];
  expect(pools).toMatchObject({ maxItems: 100, items: { properties: { labels: { maxProperties: 100 } } } });
});

test("a union has no structural form, and the message names its field", () => {
  const odd = defineResource({
    group: "test",
    version: "v1",
    kind: "Odd",
    plural: "odds",
    scope: "Cluster",
    description: "",
    content: { spec: z.object({ odd: z.union([z.string(), z.boolean()]) }) },
  });
  expect(() => toCustomResourceDefinition(odd)).toThrow("cannot describe Odd.spec.odd to an API server");
});

test("bounds of integers and of numbers reach the API server", () => {
  const bounded = defineResource({
    group: "test",
    version: "v1",
    kind: "Bounded",
    plural: "boundeds",
    scope: "Cluster",
    description: "",
    content: {
      spec: z.object({
        count: z.int().min(1).max(3),
        chance: z.number().min(0).max(0.02),
        any: z.int32(),
        share: share(),
      }),
    },
  });
  const { count, chance, any, share: part } = schemaOf(bounded).properties?.["spec"]?.properties ?? {};
  expect(count).toMatchObject({ type: "integer", minimum: 1, maximum: 3 });
  expect(any).toMatchObject({ type: "integer", minimum: -2147483648, maximum: 2147483647 });
  expect(part).toMatchObject({ "x-kubernetes-int-or-string": true, minimum: 0, pattern: expect.stringContaining("%") });
  expect(chance).toMatchObject({ type: "number", minimum: 0, maximum: 0.02 });
});

interface Node {
  type?: string;
  description?: string;
  properties?: Record<string, Node>;
  additionalProperties?: Node;
  items?: Node;
  enum?: string[];
  format?: string;
  maxItems?: number;
  maxProperties?: number;
  maxLength?: number;
}

function schemaOf(resource: Resource): Node {
  const { spec } = toCustomResourceDefinition(resource) as unknown as {
    spec: { versions: { schema: { openAPIV3Schema: Node } }[] };
  };
  return spec.versions[0]?.schema.openAPIV3Schema ?? {};
}

function unboundedFields(node: Node, path: string): string[] {
  const { items, additionalProperties: values, properties = {} } = node;
  const lacksBound = [
    items && node.maxItems === undefined,
    values && node.maxProperties === undefined,
    isFreeText(node, path) && node.maxLength === undefined,
  ];
  return [
    ...(lacksBound.includes(true) ? [path] : []),
    ...(items ? unboundedFields(items, `${path}[]`) : []),
    ...(values ? unboundedFields(values, `${path}{}`) : []),
    ...Object.entries(properties).flatMap(([name, field]) => unboundedFields(field, `${path}.${name}`)),
  ];
}

/** What controllers write of errors may be long; words of a closed list and times are short by themselves. */
function isFreeText({ type, enum: words, format }: Node, path: string): boolean {
  const isSeen = /^\w+\.(status\b|apiVersion$|kind$)/.test(path);
  return type === "string" && words === undefined && format !== "date-time" && !isSeen;
}

function silentFields(node: Node, path: string): string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, field]) => [
    ...(field.description || name === "metadata" ? [] : [`${path}.${name}`]),
    ...silentFields(field.items ?? field, `${path}.${name}`),
  ]);
}
