import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { crdFiles } from "../../../scripts/generate-crds.ts";
import { resources } from "../../../src/api/index.ts";
import { toCustomResourceDefinition } from "../../../src/api/schema/crd.ts";
import { defineResource } from "../../../src/api/schema/resource.ts";

const directory = join(import.meta.dirname, "../../../deploy/crds");

test("the files in deploy/crds are those that the schemas make", async () => {
  const files = crdFiles();
  expect((await readdir(directory)).sort()).toEqual([...files.keys()].sort());
  for (const [name, content] of files) {
    expect(await readFile(join(directory, name), "utf8"), `${name}: run scripts/generate-crds.ts`).toBe(content);
  }
});

test("every field of every kind explains itself", () => {
  const silent = resources.flatMap((resource) => silentFields(schemaOf(resource), resource.kind));
  expect(silent).toEqual([]);
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
    content: { spec: z.object({ count: z.int().min(1).max(3), chance: z.number().min(0).max(0.02) }) },
  });
  const { count, chance } = schemaOf(bounded).properties?.["spec"]?.properties ?? {};
  expect(count).toMatchObject({ type: "integer", minimum: 1, maximum: 3 });
  expect(chance).toMatchObject({ type: "number", minimum: 0, maximum: 0.02 });
});

interface Node {
  description?: string;
  properties?: Record<string, Node>;
  items?: Node;
}

function schemaOf(resource: (typeof resources)[number]): Node {
  const { spec } = toCustomResourceDefinition(resource) as unknown as {
    spec: { versions: { schema: { openAPIV3Schema: Node } }[] };
  };
  return spec.versions[0]?.schema.openAPIV3Schema ?? {};
}

function silentFields(node: Node, path: string): string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, field]) => [
    ...(field.description || name === "metadata" ? [] : [`${path}.${name}`]),
    ...silentFields(field.items ?? field, `${path}.${name}`),
  ]);
}
