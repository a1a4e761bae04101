import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cluster, Extension } from "perennial/api";
import type { ActuatorContext } from "perennial/extension";
import { actuator } from "../src/actuator.ts";

test("a greeting is written beside the control plane, and goes with the object", async () => {
  const { world, context } = seed();
  await actuator.reconcile(extension({ greeting: "good day" }), cluster, context);
  assert.deepEqual([...world.values()], [{ greeting: "good day", shoot: "garden" }]);
  await actuator.delete(extension({}), cluster, context);
  assert.equal(world.size, 0);
});

test("a greeting that is no text is refused with a code", async () => {
  const { context } = seed();
  await assert.rejects(
    async () => await actuator.reconcile(extension({ greeting: 1 }), cluster, context),
    (error: unknown) => error instanceof Error && "codes" in error,
  );
});

function extension(providerConfig: object): Extension {
  return {
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Extension",
    metadata: { name: "__NAME__", namespace: "shoot--dev--garden" },
    spec: { type: "__NAME__", providerConfig },
  } as Extension;
}

const cluster = { spec: { shoot: { metadata: { name: "garden" } } } } as Cluster;

/** As much of a cluster as the actuator uses: the data of ConfigMaps, by name. */
function seed() {
  const world = new Map<string, unknown>();
  const client = {
    apply: async (object: { metadata: { name: string }; data: unknown }) =>
      void world.set(object.metadata.name, object.data),
    remove: async (ref: { name: string }) => void world.delete(ref.name),
  };
  return { world, context: { client, log: { info: () => undefined } } as unknown as ActuatorContext };
}
