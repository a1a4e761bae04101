import { gunzipSync, gzipSync } from "node:zlib";
import { beforeEach, expect } from "vitest";
import { createExtensionMoves } from "../../src/activities/extensions/moves.ts";
import { fenced } from "../../src/activities/leadership/fenced-client.ts";
import { forgetMachineState } from "../../src/activities/machines/forgetting.ts";
import { createMachineHandover } from "../../src/activities/machines/handover.ts";
import { Machine, MachineDeployment, MachineSet } from "../../src/activities/machines/kinds.ts";
import {
  machinesIn,
  machineStateOf,
  noMachines,
  readMachineObjects,
  type MachineState,
} from "../../src/activities/machines/state.ts";
import { abandonMachines } from "../../src/activities/teardown/abandonment.ts";
import { Worker } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { Pod, refTo, Secret, type KubeClient } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";
import { notedWaits } from "../support/noted-waits.ts";
import { shootRun } from "../support/shoot-run.ts";

const api = "machine.sapcloud.io/v1alpha1";
const migration = { source: "seed-1", destination: "seed-2", takeover: false };
let kube: KubeClient;
let run: ShootRun;
let count = 0;

test.beforeAll(({ cluster }) => {
  kube = cluster.client;
});

beforeEach(async () => {
  const technicalID = `shoot--dev--handed-${(count += 1)}`;
  run = shootRun({ operation: "Restore", epoch: 2, technicalID, machineControllerManager: true, migration });
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: technicalID } });
});

const returning = (): ShootRun => ({ ...run, migration: { ...migration, destination: "seed-1", returning: true } });
const workerRef = () => refTo(Worker, { namespace: run.technicalID, name: run.name });
const readWorker = async () => (await kube.read(workerRef())) ?? expect.fail("there is no Worker");
const stateOf = async () => ((await readWorker()).status?.state ?? null) as MachineState | null;

/** Three objects as a manager makes them, each held by its finalizer. */
async function make(machine: string, namespace = run.technicalID): Promise<void> {
  const finalizers = ["machine.sapcloud.io/machine-controller-manager"];
  const owner = (kind: string, name: string) => [{ apiVersion: api, kind, name, uid: "1" }];
  const spec = {
    template: { metadata: {}, spec: { class: { kind: "MachineClass", name: "pool" }, nodeTemplate: {} } },
  };
  const object = (kind: string, name: string, ownerReferences: object[], more: object) =>
    kube.create({
      ...{ apiVersion: api, kind, metadata: { name, namespace, finalizers, ownerReferences } as never },
      ...more,
    });
  await object("MachineDeployment", "pool", [], { spec: { replicas: 1, ...spec } });
  await object("MachineSet", "pool-1", owner("MachineDeployment", "pool"), { spec: { replicas: 1, ...spec } });
  const { class: machineClass } = spec.template.spec;
  const ofMachine = { class: machineClass, providerID: `x:///${machine}`, nodeTemplate: {} };
  await object("Machine", machine, owner("MachineSet", "pool-1"), { spec: ofMachine });
}

const machines = async () => (await kube.list(Machine, { namespace: run.technicalID })).map((one) => one.metadata.name);

/** What was kept of a seed with this machine. */
async function stateWith(machine: string): Promise<MachineState> {
  const namespace = `${run.technicalID}-elsewhere`;
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await make(machine, namespace);
  return machineStateOf(await readMachineObjects(kube, namespace));
}

const compressed = (content: unknown): MachineState => ({
  state: gzipSync(JSON.stringify(content)).toString("base64"),
});
const decompressed = ({ state }: MachineState): unknown =>
  JSON.parse(gunzipSync(Buffer.from(state, "base64")).toString());

async function restore(of: ShootRun, kept?: MachineState): Promise<void> {
  const seedClient = fenced(kube, of);
  const spec = {
    ...{ type: "x", region: "x", pools: [] },
    secretRef: { name: "cloudprovider", namespace: of.technicalID },
  };
  const metadata = { name: of.name, namespace: of.technicalID };
  const moves = createExtensionMoves({
    seedClient,
    waits: notedWaits,
    wanted: async () => [{ apiVersion: Worker.apiVersion, kind: "Worker", metadata, spec }],
    kept: async () => undefined,
    machines: createMachineHandover({ seedClient, kept: async () => kept }),
    protect: async () => undefined,
  });
  await moves.restore(of, "Worker", "worker");
}

test("a Worker that arrives is given the machines that are kept, and what an earlier time has left here goes", async () => {
  await make("left");
  await restore(run, await stateWith("kept"));
  expect(machinesIn((await stateOf()) ?? noMachines)).toEqual(["kept"]);
  expect(await machines()).toEqual([]);
  expect((await readWorker()).metadata.annotations).toMatchObject({
    "gardener.cloud/operation": "restore",
    "perennial.dev/machine-state": "2",
  });
});

test("a Worker that arrives is given no machine of another namespace, of another owner or with a finalizer", async () => {
  const foreign = {
    ...{ name: "pool-1", namespace: "shoot--other--victim", Namespace: "shoot--other--victim", generateName: "x" },
    ...{ labels: { name: "pool" }, annotations: { a: "b" }, finalizers: ["example.com/hold"] },
    ...{ ownerReferences: [{ apiVersion: api, kind: "MachineDeployment", name: "theirs", uid: "1" }], uid: "2" },
  };
  const object = { metadata: foreign, spec: { replicas: 1 }, status: { replicas: 1 }, Metadata: foreign };
  const pool = { replicas: 1, machineSets: [object], machines: [object] };
  await restore(run, compressed({ machineDeployments: { pool } }));
  const metadata = { name: "pool-1", namespace: run.technicalID, labels: { name: "pool" }, annotations: { a: "b" } };
  const bare = { metadata, spec: { replicas: 1 } };
  expect(decompressed((await stateOf()) ?? noMachines)).toEqual({
    machineDeployments: { pool: { replicas: 1, machineSets: [bare], machines: [bare] } },
  });
});

test.for([
  ["no state", { pool: 1 }],
  ["no gzip", { state: "AAAA" }],
  ["no JSON", compressed("")],
  ["no map of deployments", compressed({ machineDeployments: [] })],
  [
    "an object without a name",
    compressed({ machineDeployments: { pool: { replicas: 1, machineSets: [{}], machines: [] } } }),
  ],
] as const)("a Worker is given nothing of a state with %s", async ([, state]) => {
  await expect(restore(run, state as MachineState)).rejects.toThrow("is not a state of machines");
  expect(await kube.read(workerRef())).toBeUndefined();
});

test("a step that is done again takes nothing away of what its controller has made meanwhile", async () => {
  const kept = await stateWith("kept");
  await restore(run, kept);
  await make("made-anew");
  await restore(run, kept);
  expect(await machines()).toEqual(["made-anew"]);
  expect(machinesIn((await stateOf()) ?? noMachines)).toEqual(["kept"]);

  await forgetMachineState(fenced(kube, run), run);
  expect(await stateOf()).toBeNull();
  await restore(run, kept); // a Restore from its beginning, in the same epoch
  expect(await machines()).toEqual(["made-anew"]);
  expect(machinesIn((await stateOf()) ?? noMachines)).toEqual(["made-anew"]);
});

test("nothing is taken away while a manager still runs here", async () => {
  await make("left");
  const labels = { app: "kubernetes", role: "machine-controller-manager" };
  const metadata = { name: "manager-0", namespace: run.technicalID, labels };
  await kube.create({ apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [{ name: "a", image: "a" }] } });
  const kept = await stateWith("kept");
  await expect(restore(run, kept)).rejects.toThrow("manager-0 is not gone yet");
  expect(await machines()).toEqual(["left"]);
  await kube.remove(refTo(Pod, metadata), { gracePeriodSeconds: 0 });
  await restore(run, kept);
  expect(await machines()).toEqual([]);
});

test("without what is kept, a planned move goes no further; a takeover goes on with no machines", async () => {
  await expect(restore(run)).rejects.toThrow("the ShootState has no machines of it");
  expect(await kube.read(workerRef())).toBeUndefined();
  await restore({ ...run, migration: { ...migration, takeover: true } });
  expect(await stateOf()).toEqual(noMachines);
});

test("a Shoot that stays after all goes on with the machines that are here, or else with those that are kept", async () => {
  await make("here");
  await restore(returning(), await stateWith("kept"));
  expect(machinesIn((await stateOf()) ?? noMachines)).toEqual(["here"]);
  expect(await machines()).toEqual(["here"]);
  await abandonMachines(fenced(kube, run), run);
  await restore({ ...returning(), epoch: 3 }, machineStateOf({ deployments: [], sets: [], machines: [] }));
  expect(await stateOf()).toEqual(noMachines);
});

test("a Worker whose controller makes machines itself is given nothing", async () => {
  const { machineControllerManager: _, ...itself } = run;
  await restore(itself, await stateWith("kept"));
  expect(await stateOf()).toBeNull();
});

test("by force, the objects of machines and the credentials that they hold are let go, and nothing else", async () => {
  await make("left");
  const { technicalID: namespace } = run;
  const finalizers = ["machine.sapcloud.io/machine-controller"];
  const metadata = { name: "cloudprovider", namespace, finalizers };
  await kube.create({ apiVersion: "v1", kind: "Secret", metadata } as never);
  await abandonMachines(fenced(kube, run), run);
  for (const kind of [MachineDeployment, MachineSet, Machine])
    expect(await kube.list(kind, { namespace }), kind.kind).toEqual([]);
  expect((await kube.read(Secret, { namespace, name: "cloudprovider" }))?.metadata.finalizers ?? []).toEqual([]);
});
