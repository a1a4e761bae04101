import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { headOf, upstreamCrds } from "../../../scripts/upstream-crds.ts";
import { ManagedResource } from "../../../src/api/index.ts";
import { toCustomResourceDefinition } from "../../../src/api/schema/crd.ts";
import type { JsonSchema } from "../../../src/api/schema/structural.ts";

const directory = join(import.meta.dirname, "../../../deploy/seed/crds");
const textOf = (name: string) => readFileSync(join(directory, `${name}.yaml`), "utf8");

test("the definitions of others in deploy/seed/crds are those that are pinned, at their versions", () => {
  const names = upstreamCrds.flatMap((source) => source.names);
  expect(readdirSync(directory).sort()).toEqual(names.map((name) => `${name}.yaml`).sort());
  for (const source of upstreamCrds) {
    for (const name of source.names) {
      const [head] = textOf(name).split("\n");
      expect(head, `${name}: run npm run generate:upstream`).toBe(headOf(source));
    }
  }
});

test("what we write into a ManagedResource is what upstream's definition has", () => {
  const upstream = schemaOf(parse(textOf("resources.gardener.cloud_managedresources")));
  const ours = schemaOf(toCustomResourceDefinition(ManagedResource));
  expect(leaves(ours).length).toBeGreaterThan(15);
  expect(leaves(upstream)).toEqual(expect.arrayContaining(leaves(ours)));
});

function schemaOf(crd: unknown): JsonSchema {
  const { spec } = crd as { spec: { versions: readonly { schema: { openAPIV3Schema: JsonSchema } }[] } };
  return spec.versions[0]?.schema.openAPIV3Schema ?? expect.fail("the definition has no schema");
}

/** Every field below `spec` and `status` that holds no further ones, with its type. */
function leaves(schema: JsonSchema, path = ""): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    if (path === "" && name !== "spec" && name !== "status") return [];
    const inner = field.items ?? field;
    return inner.properties ? leaves(inner, `${path}.${name}`) : [`${path}.${name}: ${inner.type ?? "any"}`];
  });
}
