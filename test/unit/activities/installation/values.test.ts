import { expect, test } from "vitest";
import { chartValues } from "../../../../src/activities/installation/values.ts";
import { exampleContext } from "../../../support/control-plane-context.ts";

const { seed } = exampleContext();
const told = (values: Record<string, unknown>) => chartValues(values, { seed, gardenIdentity: "garden-uid" });

test("a chart is told of the real garden and Seed, whatever its deployment says of them", () => {
  const { gardener, replicas } = told({
    replicas: 3,
    gardener: { seed: { name: "x" }, garden: { clusterIdentity: "x" }, extra: "kept" },
  });
  expect(replicas).toBe(3);
  expect(gardener).toMatchObject({
    seed: { name: seed.metadata.name, identifier: seed.metadata.name },
    garden: { clusterIdentity: "garden-uid", identifier: "garden-uid" },
    extra: "kept",
  });
});

test("a chart is told which garden it is by the uid of its namespace garden, also where it has a name for itself", () => {
  const { gardener } = chartValues({}, { seed, gardenIdentity: "landscape", gardenIdentifier: "garden-uid" });
  expect(gardener).toMatchObject({ garden: { clusterIdentity: "landscape", identifier: "garden-uid" } });
});
