import { expect, test } from "vitest";
import { REPLICAS_MANAGED_BY_ANNOTATION, type Cluster } from "../../../src/api/cluster-api/index.ts";
import { POOL_LABEL } from "../../../src/api/labels.ts";
import { SHOOT_FINALIZER } from "../../../src/api/names.ts";
import type { Shoot } from "../../../src/api/index.ts";
import { renderKubeconfig } from "../../../src/kube/index.ts";
import { reconcilePool, type PoolDeps, type PoolPlace } from "../../../src/cluster-api/machine-pool/machine-pool.ts";
import { removePool } from "../../../src/cluster-api/machine-pool/removal.ts";
import type { Pool } from "../../../src/cluster-api/shoot/row.ts";
import { clusterOf, poolOf, shootOf, type PoolOptions } from "../../support/cluster-api-objects.ts";

const annotations = { [REPLICAS_MANAGED_BY_ANNOTATION]: "autoscaler" };
const initialized: Cluster = {
  ...clusterOf("one"),
  status: { initialization: { controlPlaneInitialized: true } },
};

/** A Shoot with these rows, which is awake unless it says otherwise. */
function shootWith(rows: readonly string[], hibernated = false): Shoot {
  const workers = rows.map((name) => ({ name, minimum: 1, maximum: 1, machine: { type: "local" } }));
  const spec = { provider: { type: "local", workers }, hibernation: { enabled: hibernated } };
  return { ...shootOf("one", spec), status: { hibernated } };
}

/** A pool that the controller has seen before. */
function pool(name: string, o: PoolOptions = {}): Pool {
  const { machinePool, infrastructure } = poolOf("one", name, o);
  const metadata = { ...infrastructure.metadata, finalizers: [SHOOT_FINALIZER] };
  return { machinePool, infrastructure: { ...infrastructure, metadata } };
}

const kubeconfig = Buffer.from(renderKubeconfig({ server: "https://one.example.com", ca: "CA", token: "t" })).toString(
  "base64",
);

/** What the controller writes about objects, by their kinds and names, in a Shoot with this many Nodes in row `a`. */
function lab(nodes: number | undefined) {
  const written: Record<string, unknown[]> = {};
  const patch = async (ref: { readonly kind: string; readonly name: string }, change: unknown) => {
    (written[`${ref.kind} ${ref.name}`] ??= []).push(change);
    return {};
  };
  const metadata = { name: "machine", labels: { [POOL_LABEL]: "a" } };
  const listed = [...Array(nodes ?? 0).keys()].map((index) => ({ metadata, spec: { providerID: `test:///${index}` } }));
  const deps = {
    management: { patch },
    world: { kubeconfigs: { get: () => ({ data: { kubeconfig } }) } },
    servers: { nodes: () => (nodes === undefined ? undefined : listed) },
  } as unknown as PoolDeps;
  return { deps, written };
}

const letGo = { metadata: { finalizers: [], resourceVersion: undefined } };
const place = ({ shoot = shootWith(["a"]), ...o }: Partial<PoolPlace> = {}): PoolPlace => ({
  cluster: initialized,
  shoot,
  pools: [],
  findShoot: async () => ({ shoot }),
  ...o,
});

test("the controller tells a MachinePool its replicas where an autoscaler decides between two bounds", async () => {
  const { deps, written } = lab(3);
  const autoscaled = pool("a", { annotations, spec: { minimum: 1, maximum: 9 } });
  await reconcilePool(deps, autoscaled, place({ pools: [autoscaled] }));
  expect(written["MachinePool a"]).toEqual([{ spec: { replicas: 3 } }]);
});

test.each([{}, { minimum: 1 }, { maximum: 9 }])(
  "the controller leaves replicas to the MachinePool where an autoscaler decides and a user says bounds %j only",
  async (spec) => {
    const { deps, written } = lab(3);
    const unbounded = pool("a", { annotations, spec });
    await reconcilePool(deps, unbounded, place({ pools: [unbounded] }));
    expect(written).not.toHaveProperty(["MachinePool a"]);
  },
);

const older = pool("older", { createdAt: "2026-01-01T00:00:00Z", spec: { name: "a" } });
const younger = pool("younger", { createdAt: "2026-02-02T00:00:00Z", spec: { name: "a" } });

test("the controller tells a pool nothing of the machines of an older one with its row's name, and says whose they are", async () => {
  const { deps, written } = lab(3);
  await reconcilePool(deps, younger, place({ pools: [older, younger] }));
  const [{ status }, ...others] = written["ShootMachinePool younger"] as [{ readonly status: object }];
  expect(others).toEqual([]);
  expect(Object.keys(status)).toEqual(["conditions"]);
  expect(status).toMatchObject({
    conditions: [{ status: "False", reason: "NameTaken" }, { type: "Paused" }],
  });
});

test.each([
  ["younger", younger, older],
  ["older", older, younger],
])(
  "the controller lets the %s of two pools with one row's name go at once: the row is the other's",
  async (...[name, one, other]) => {
    const { deps, written } = lab(3);
    const metadata = { ...one.infrastructure.metadata, deletionTimestamp: "2026-03-03T00:00:00Z" };
    const infrastructure = { ...one.infrastructure, metadata };
    const pools = [{ ...one, infrastructure }, other];
    await removePool(deps, infrastructure, place({ pools }));
    expect(written).toEqual({ [`ShootMachinePool ${name}`]: [letGo] });
  },
);

test.each([
  ["goes", "hibernates", place({ shoot: shootWith(["b"], true) }), true],
  ["goes", "has never answered", place({ shoot: shootWith(["b"]), cluster: clusterOf("one") }), true],
  ["stays", "does not answer now", place({ shoot: shootWith(["b"]) }), false],
  ["stays", "hibernates and has its row still", place({ shoot: shootWith(["a", "b"], true) }), false],
])("a pool that a user deletes %s while its Shoot %s", async (_, __, where, isGone) => {
  const { deps, written } = lab(undefined);
  const { infrastructure } = pool("a");
  await removePool(deps, infrastructure, where);
  const writes = written["ShootMachinePool a"];
  if (isGone) expect(writes).toEqual([letGo]);
  else expect(writes).not.toContainEqual(letGo);
});

test("a pool that a user deletes stays while the garden has its row, of which the watch has not told yet", async () => {
  const { deps, written } = lab(0);
  const { infrastructure } = pool("a");
  const findShoot = async () => ({ shoot: shootWith(["a", "b"]) });
  for (const seen of [{}, { shoot: shootWith(["b"]) }]) {
    const where = { ...place({ ...seen, findShoot }), ...(!("shoot" in seen) && { shoot: undefined }) };
    await removePool(deps, infrastructure, where);
  }
  expect(written["ShootMachinePool a"]).not.toContainEqual(letGo);
  expect(written["ShootMachinePool a"]).toMatchObject([
    { status: { conditions: [{ type: "Ready", reason: "Deleting" }] } },
    { status: { conditions: [{ type: "Ready", reason: "Deleting" }] } },
  ]);
});

test("a pool that a user deletes stays while its namespace may use no project, and says so", async () => {
  const { deps, written } = lab(0);
  const { infrastructure } = pool("a");
  const obstacle = { reason: "NoProject", message: "Namespace garden-dev may use no project" };
  await removePool(deps, infrastructure, place({ shoot: shootWith(["b"]), findShoot: async () => ({ obstacle }) }));
  expect(written["ShootMachinePool a"]).toMatchObject([
    { status: { conditions: [{ type: "Ready", status: "False", ...obstacle }] } },
  ]);
});

test.each(["GardenUnreachable", "GardenUnreadable"])(
  "a pool that a user deletes stays while the garden cannot be asked, and is Unknown with reason %s",
  async (reason) => {
    const { deps, written } = lab(0);
    const { infrastructure } = pool("a");
    const obstacle = { reason, message: "the garden has not answered since 2026-11-23T12:00:00Z" };
    await removePool(deps, infrastructure, place({ shoot: shootWith(["b"]), findShoot: async () => ({ obstacle }) }));
    expect(written["ShootMachinePool a"]).toMatchObject([
      { status: { conditions: [{ type: "Ready", status: "Unknown", ...obstacle }] } },
    ]);
  },
);

test("a pool goes with its Cluster at once, and the garden is not asked", async () => {
  const { deps, written } = lab(3);
  const { infrastructure } = pool("a");
  const { metadata, ...kept } = initialized;
  const leaving = { ...kept, metadata: { ...metadata, deletionTimestamp: "2026-03-03T00:00:00Z" } };
  const findShoot = async (): Promise<never> => {
    throw new Error("the garden is away");
  };
  await removePool(deps, infrastructure, place({ cluster: leaving, findShoot }));
  expect(written).toEqual({ "ShootMachinePool a": [letGo] });
});
