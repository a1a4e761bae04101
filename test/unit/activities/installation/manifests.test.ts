import { expect, test } from "vitest";
import { parseManifests, renderManifests } from "../../../../src/activities/installation/manifests.ts";

const configMap = (name: string) => `apiVersion: v1
kind: ConfigMap
metadata: { name: ${name} }
data: { ${Array.from({ length: 1_000 }, (_, index) => `key-${index}: "${name} ${index}"`).join(", ")} }
`;

test("large manifests are read in turns with whatever else the worker does", async () => {
  const names = Array.from({ length: 40 }, (_, index) => `part-${index}`);
  let turns = 0;
  let done = false;
  const others = () => {
    turns += 1;
    if (!done) setImmediate(others);
  };
  setImmediate(others);
  const objects = await parseManifests(names.map(configMap).join("---\n"));
  done = true;
  expect(objects.map(({ metadata }) => metadata.name)).toEqual(names);
  expect(turns).toBeGreaterThan(3);
});

test.each([
  ["9007199254740993", "9007199254740993"],
  ["-9223372036854775808", "-9223372036854775808"],
  ["18446744073709551615", "18446744073709551615"],
  ["0x20000000000001", "9007199254740993"],
  ["9_007_199_254_740_993", "9007199254740993"],
  ["9007199254740991", "9007199254740991"],
  ["1.0", "1"],
  ["1e22", "1e+22"],
  ["1.5e-7", "1.5e-7"],
  ["017", "15"],
  ["12:30", '"12:30"'],
  ["2026-01-01", '"2026-01-01"'],
])("the scalar %s of a manifest is applied as %s", async (scalar, expected) => {
  const text = `apiVersion: v1\nkind: Limit\nmetadata: { name: one }\nspec: { limits: [${scalar}] }\n`;
  expect(renderManifests(await parseManifests(text))).toContain(`{"limits":[${expected}]}`);
});
