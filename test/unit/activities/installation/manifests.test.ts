import { expect, test } from "vitest";
import { parseManifests } from "../../../../src/activities/installation/manifests.ts";

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
