import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";

import { parseYaml } from "../../src/parsing.ts";
import { renderYaml } from "../../src/yaml.ts";
import { startGoReaders, type GoReaders } from "../support/go-readers.ts";
import { seconds } from "../support/patience.ts";

let go: GoReaders;

beforeAll(async () => void (go = await startGoReaders()), seconds(1.5));

afterAll(async () => await go?.close());

/** Words and characters that the versions of YAML and their readers do not agree on. */
const piece = fc.oneof(
  fc.constantFrom(
    ...[
      "yes",
      "no",
      "on",
      "Off",
      "TRUE",
      "y",
      "n",
      "~",
      "null",
      "Null",
      ".inf",
      "-.INF",
      ".nan",
      "0x",
      "0b",
      "0o",
      "<<",
    ],
    ...[
      "!!binary ",
      "!!float ",
      "!!str ",
      "!foo ",
      "2026-01-01",
      "1e3",
      "&a ",
      "*a",
      "? ",
      ": ",
      "- ",
      "# ",
      "%YAML 1.2",
    ],
  ),
  fc.constantFrom(..."0123456789_:.,-+eEabx'\"{}[]|> \n\t!=\\\r\u0085\u2028\ufeff"),
);
const words = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""));

const read = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(JSON.stringify(parseYaml(text, "it") ?? null)) };
  } catch {
    return undefined;
  }
};

test.each([
  ["a scalar", words.map((text) => `a: ${text}\n`)],
  ["a key", words.map((text) => `${text}: a\n`)],
  [
    "a map",
    fc.tuple(words, words, words).map(([one, two, three]) => `x: &a {b: 1}\nc:\n  ${one}: ${two}\n  b: ${three}\n`),
  ],
  ["a list", fc.array(words, { maxLength: 3 }).map((texts) => texts.map((text) => `- ${text}\n`).join(""))],
  ["a document", fc.array(words, { maxLength: 4 }).map((texts) => texts.join("\n"))],
])("%s is read as programs in Go read it, or refused", async (_, texts) => {
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      const [ours, theirs] = [read(text), await go.read("yaml", text)];
      if (ours !== undefined && theirs !== undefined) expect({ text, value: theirs }).toEqual({ text, ...ours });
    }),
    { numRuns: 500 },
  );
});

test("what is rendered is read by programs in Go, and by ours, as what it was", async () => {
  const value = fc.dictionary(
    words,
    fc.oneof(words, fc.string({ unit: "grapheme" }), fc.integer(), fc.double(), fc.boolean()),
  );
  await fc.assert(
    fc.asyncProperty(value, async (content) => {
      const plain: unknown = JSON.parse(JSON.stringify(content));
      const text = renderYaml(plain);
      expect({ text, value: await go.read("yaml", text) }).toEqual({ text, value: plain });
      expect(read(text)).toEqual({ value: plain });
    }),
    { numRuns: 500 },
  );
});
