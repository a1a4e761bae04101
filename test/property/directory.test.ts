import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDirectoryClient } from "../../src/kube/directory/directory-client.ts";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import { defineKind, refTo } from "../../src/kube/index.ts";

interface Anything extends KubeObject {
  readonly spec?: unknown;
}
const Anything = defineKind<Anything>({ apiVersion: "test.perennial.dev/v1", kind: "Any", scope: "Namespaced" });

let directory: string;

beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), "any-"))));
afterAll(() => rm(directory, { recursive: true, force: true }));

const text = fc.oneof(
  fc.string({ unit: "binary" }).filter((value) => value.isWellFormed()),
  fc.string({
    unit: fc.constantFrom("\n", " ", "\t", "\r", "a", ":", "#", "-", "'", '"', "\u0085", "\u2028", "\ufeff"),
  }),
  fc.constantFrom(
    "yes",
    "off",
    "~",
    "null",
    "0o7",
    "017",
    "1_000",
    "1:30",
    "2026-01-31",
    "2026-01-31T12:00:00Z",
    "1e3",
    ".inf",
    "<<",
    "=",
    "!!binary a",
    "&a",
    "*a",
    "%x",
    "---",
    "...",
    "0x1f",
    "+1",
  ),
);

const value = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.dictionary(text, tie("tree"), { maxKeys: 4 }),
  ),
})).tree;

test("a directory gives back whatever it was given", async () => {
  const client = createDirectoryClient({ directory });
  await fc.assert(
    fc.asyncProperty(value, async (given) => {
      const spec = JSON.parse(JSON.stringify({ given })) as unknown;
      const key = { namespace: "default", name: "any" };
      await client.remove(refTo(Anything, key));
      await client.create({ apiVersion: Anything.apiVersion, kind: Anything.kind, metadata: key, spec });
      expect((await createDirectoryClient({ directory }).read(Anything, key))?.spec).toEqual(spec);
    }),
    { numRuns: 300 },
  );
});
