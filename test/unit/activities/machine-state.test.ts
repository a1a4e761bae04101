import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { MachineDeployment, type MachineObject } from "../../../src/activities/machines/kinds.ts";
import { machinesIn, machineStateOf, noMachines, tellsOfMachines } from "../../../src/activities/machines/state.ts";

const namespace = "shoot--dev--example";
const owned = (kind: string, name: string) => ({
  ownerReferences: [{ apiVersion: "machine.sapcloud.io/v1alpha1", kind, name, uid: "1" }],
});
const object = (name: string, metadata: object, spec: object): MachineObject => ({
  ...{ apiVersion: MachineDeployment.apiVersion, kind: "Machine" },
  metadata: {
    name,
    namespace,
    uid: `uid-of-${name}`,
    resourceVersion: "7",
    finalizers: ["machine.sapcloud.io/x"],
    ...metadata,
  },
  spec,
  status: { replicas: 1 },
});
const deployment = object("pool", {}, { replicas: 2 });
const set = object("pool-1", { ...owned("MachineDeployment", "pool"), annotations: { a: "b" } }, { replicas: 2 });
const made = object("pool-1-a", owned("MachineSet", "pool-1"), { providerID: "x:///a", class: { name: "pool" } });
const joined = object("pool-1-b", { ...owned("MachineSet", "pool-1"), labels: { node: "b" } }, {});
const ordered = object("pool-1-c", owned("MachineSet", "pool-1"), {});
const restored = object("pool-1-d", { labels: { name: "pool" } }, { providerID: "x:///d" });
const stray = object("other-1-a", owned("MachineSet", "other-1"), { providerID: "x:///e" });

const decoded = (state: string) => JSON.parse(gunzipSync(Buffer.from(state, "base64")).toString()) as object;

test("machines are kept in upstream's form: by MachineDeployment, without status, owners and what an API server adds", () => {
  const { state } = machineStateOf({ deployments: [deployment], sets: [set], machines: [made] });
  expect(decoded(state)).toEqual({
    machineDeployments: {
      pool: {
        replicas: 2,
        machineSets: [{ metadata: { name: "pool-1", namespace, annotations: { a: "b" } }, spec: { replicas: 2 } }],
        machines: [
          { metadata: { name: "pool-1-a", namespace }, spec: { providerID: "x:///a", class: { name: "pool" } } },
        ],
      },
    },
  });
});

test("a machine is kept once it has a provider's id or a Node, by its set or, where it has just been restored, its label", () => {
  const machines = [stray, restored, ordered, joined, made];
  const state = machineStateOf({ deployments: [deployment], sets: [set], machines });
  expect(machinesIn(state)).toEqual(["pool-1-a", "pool-1-b", "pool-1-d"]);
});

test("the same machines make the same state in whatever order they are listed", () => {
  const sets = [set, object("pool-2", owned("MachineDeployment", "pool"), {})];
  const machines = [made, joined];
  const one = machineStateOf({ deployments: [deployment, object("a", {}, {})], sets, machines });
  const other = machineStateOf({
    deployments: [object("a", {}, {}), deployment],
    sets: sets.toReversed(),
    machines: machines.toReversed(),
  });
  expect(one).toEqual(other);
});

test("where no MachineDeployment has a set, the state is empty, which upstream reads as no machines", () => {
  expect(machineStateOf({ deployments: [deployment], sets: [], machines: [] })).toEqual(noMachines);
  expect(machinesIn(noMachines)).toEqual([]);
});

test.for([
  ["of this epoch, as it was created", { "perennial.dev/epoch": "3" }, undefined, true],
  ["of an earlier epoch", { "perennial.dev/epoch": "2" }, undefined, false],
  [
    "that has been given its machines",
    { "perennial.dev/epoch": "3", "perennial.dev/machine-state": "3" },
    { state: "x" },
    false,
  ],
  ["that has made them anew", { "perennial.dev/epoch": "3", "perennial.dev/machine-state": "3" }, undefined, true],
  [
    "that waits for its state",
    { "perennial.dev/epoch": "3", "gardener.cloud/operation": "wait-for-state" },
    undefined,
    false,
  ],
] as const)("the machines beside a Worker %s count: %j", ([, annotations, state, expected]) => {
  const worker = {
    ...{ apiVersion: "extensions.gardener.cloud/v1alpha1", kind: "Worker" },
    metadata: { name: "example", namespace, annotations },
    status: { state },
  };
  expect(tellsOfMachines(worker, 3)).toBe(expected);
});
