import fc from "fast-check";
import { expect, test } from "vitest";
import type { Cluster, ClusterEndpoint } from "../../src/api/cluster-api/index.ts";
import { decide } from "../../src/cluster-api/endpoint/decide.ts";
import { generatedLabels, originOf } from "../../src/cluster-api/endpoint/generated.ts";
import { planMigration } from "../../src/cluster-api/endpoint/migrate.ts";
import type { ProviderObject } from "../../src/cluster-api/endpoint/provider-objects.ts";
import { completeEndpoint, isSameEndpoint, type Endpoint } from "../../src/cluster-api/endpoint/value.ts";
import { clusterOf, endpointOf, owners } from "../support/cluster-endpoints.ts";

const hosts = fc.constantFrom("a.example.com", "b.example.com", "10.0.0.1", "2001:db8::1");
const values = fc.record({ host: hosts, port: fc.constantFrom(443, 6443) });
const owner = fc.constantFrom("infrastructure" as const, "controlPlane" as const, "cluster" as const, undefined);
const names = fc.constantFrom("x", "y", "foo");
const provider = fc.constantFrom("infrastructure" as const, "controlPlane" as const);

/** What others than our controller do. */
const change = fc.oneof(
  fc.record({ is: fc.constant("made" as const), name: names, value: values, owner }),
  fc.record({ is: fc.constant("edited" as const), name: names, value: values }),
  fc.record({ is: fc.constant("removed" as const), name: names }),
  fc.record({ is: fc.constant("field" as const), provider, value: fc.option(values, { nil: undefined }) }),
  fc.record({
    is: fc.constant("foreign" as const),
    value: fc.oneof(values, fc.record({ host: hosts }), fc.constant(undefined)),
  }),
  fc.record({ is: fc.constant("paused" as const), paused: fc.boolean() }),
);
type Change = typeof change extends fc.Arbitrary<infer C> ? C : never;

/** A management cluster with one Cluster, our controller's writes to its spec counted. */
interface World {
  cluster: Cluster;
  paused: boolean;
  fields: { infrastructure?: Endpoint | undefined; controlPlane?: Endpoint | undefined };
  endpoints: Map<string, ClusterEndpoint>;
  made: number;
  writes: number;
}

const newWorld = (): World => ({
  ...{ cluster: clusterOf(), paused: false, fields: {}, endpoints: new Map(), made: 0, writes: 0 },
});

function take(world: World, one: Change): void {
  const { endpoints } = world;
  if (one.is === "made" && !endpoints.has(one.name)) {
    const createdAt = new Date(Date.UTC(2026, 0, 1, 0, 0, world.made++)).toISOString();
    endpoints.set(
      one.name,
      endpointOf({ name: one.name, createdAt, ...one.value, ...(one.owner && { owner: one.owner }) }),
    );
  }
  const found = "name" in one ? endpoints.get(one.name) : undefined;
  if (one.is === "edited" && found) endpoints.set(one.name, { ...found, spec: { ...found.spec, ...one.value } });
  if (one.is === "removed") endpoints.delete(one.name);
  if (one.is === "field") world.fields[one.provider] = one.value;
  if (one.is === "foreign") setField(world, one.value);
  if (one.is === "paused") world.paused = one.paused;
}

function setField(world: World, controlPlaneEndpoint: Cluster["spec"]["controlPlaneEndpoint"]): void {
  const { controlPlaneEndpoint: _, ...spec } = world.cluster.spec;
  world.cluster = { ...world.cluster, spec: { ...spec, ...(controlPlaneEndpoint && { controlPlaneEndpoint }) } };
}

/** The core manager's rule: the infrastructure's value, else the control plane's, and only while there is none (v1.14.2). */
function actAsCore(world: World): void {
  if (world.paused || completeEndpoint(world.cluster.spec.controlPlaneEndpoint) !== undefined) return;
  const { infrastructure, controlPlane } = world.fields;
  if (infrastructure ?? controlPlane) setField(world, infrastructure ?? controlPlane);
}

/** One pass of our controller; false when it had nothing to do. */
function actAsController(world: World): boolean {
  if (world.paused) return false;
  const { cluster, endpoints } = world;
  const migration = endpoints.size === 0 ? planMigration(cluster, providersOf(world)) : undefined;
  if (migration?.endpoint) {
    endpoints.set(migration.endpoint.metadata.name, migration.endpoint);
    return true;
  }
  const { winner, surface, follow } = decide(cluster.spec, [...endpoints.values()]);
  if (winner === undefined || (surface ?? follow) === undefined) return false;
  if (surface) {
    setField(world, surface);
    world.writes++;
  }
  if (follow) {
    const labels = { ...winner.metadata.labels, ...generatedLabels(originOf(winner) ?? "provider", follow) };
    endpoints.set(winner.metadata.name, {
      ...winner,
      metadata: { ...winner.metadata, labels },
      spec: { ...winner.spec, ...follow },
    });
  }
  return true;
}

function providersOf({ fields }: World) {
  const objectOf = (of: "infrastructure" | "controlPlane"): ProviderObject => {
    const { apiVersion, kind, name, uid } = owners[of];
    const value = fields[of];
    return { apiVersion, kind, metadata: { name, uid }, spec: { ...(value && { controlPlaneEndpoint: value }) } };
  };
  return { infrastructure: objectOf("infrastructure"), controlPlane: objectOf("controlPlane") };
}

/** Passes until there is nothing to do; how many there were. */
function settle(world: World): number {
  let passes = 0;
  while (actAsController(world)) if (++passes > 5) throw new Error("the controller does not come to rest");
  return passes;
}

test("after any history there is one winner in any order of objects, with its value on the Cluster, by one write a change at most", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ change, coreFirst: fc.boolean() }), { maxLength: 12 }), (history) => {
      const world = newWorld();
      for (const { change: one, coreFirst } of history) {
        const had = completeEndpoint(world.cluster.spec.controlPlaneEndpoint);
        take(world, one);
        world.writes = 0;
        if (coreFirst) actAsCore(world);
        settle(world);
        actAsCore(world);
        settle(world);
        expect(world.writes).toBeLessThanOrEqual(1);
        expect(settle(world), "a second pass has nothing to do").toBe(0);
        if (world.paused) expect(world.writes).toBe(0);
        else expectWinner(world);
        const has = completeEndpoint(world.cluster.spec.controlPlaneEndpoint);
        if (had !== undefined && one.is !== "foreign") expect(has, "nothing empties the field").toBeDefined();
      }
    }),
    { numRuns: 10_000 },
  );
});

function expectWinner({ cluster, endpoints }: World): void {
  const objects = [...endpoints.values()];
  const { winner } = decide(cluster.spec, objects);
  for (const order of [objects.toReversed(), objects.toSorted((a, b) => a.spec.host.localeCompare(b.spec.host))])
    expect(decide(cluster.spec, order).winner).toBe(winner);
  if (winner === undefined) return;
  const { host, port } = winner.spec;
  expect(isSameEndpoint(completeEndpoint(cluster.spec.controlPlaneEndpoint), { host, port })).toBe(true);
}

test("a generated object never changes a whole endpoint of its Cluster, whatever else there is to lose to it", () => {
  fc.assert(
    fc.property(values, values, fc.constantFrom("user" as const, "provider" as const), (present, value, generated) => {
      expect(decide(clusterOf(present).spec, [endpointOf({ ...value, generated })])).not.toHaveProperty("surface");
    }),
    { numRuns: 1_000 },
  );
});
