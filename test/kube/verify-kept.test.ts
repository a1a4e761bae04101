import { expect } from "vitest";
import { machinesIn, type MachineState } from "../../src/activities/machines/state.ts";
import { Worker } from "../../src/api/index.ts";
import { keptOf } from "../../src/conformance/kept.ts";
import { refOf, refTo, type KubeClient } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";

const api = "machine.sapcloud.io/v1alpha1";
let client: KubeClient;
test.beforeAll(({ cluster }) => void ({ client } = cluster));

async function makeWorker(namespace: string, state?: object): Promise<Worker> {
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const spec = { type: "x", region: "x", pools: [], secretRef: { name: "cloudprovider", namespace } };
  const { apiVersion, kind } = Worker;
  const worker = await client.create<Worker>({ apiVersion, kind, metadata: { name: "w", namespace }, spec });
  if (state === undefined) return worker;
  await client.patch(refOf(worker), { status: { state } }, { subresource: "status" });
  return (await client.read(refTo(Worker, worker.metadata))) ?? expect.fail("there is no Worker");
}

/** As a Worker's controller and machine-controller-manager leave them. */
async function makeMachine(namespace: string): Promise<void> {
  const template = { metadata: {}, spec: { class: { kind: "MachineClass", name: "pool" }, nodeTemplate: {} } };
  const metadataOf = (name: string, owner?: { kind: string; name: string }) => ({
    ...{ name, namespace },
    ...(owner && { ownerReferences: [{ apiVersion: api, uid: "1", ...owner }] }),
  });
  const make = (kind: string, metadata: ReturnType<typeof metadataOf>, spec: object) =>
    client.create({ apiVersion: api, kind, metadata, spec });
  await make("MachineDeployment", metadataOf("pool"), { replicas: 1, template });
  const deployment = { kind: "MachineDeployment", name: "pool" };
  await make("MachineSet", metadataOf("pool-1", deployment), { replicas: 1, template });
  const set = { kind: "MachineSet", name: "pool-1" };
  await make("Machine", metadataOf("one", set), { ...template.spec, providerID: "x:///one" });
}

test("of a Worker that reports no state, the machines are kept that its controller has asked for", async () => {
  const worker = await makeWorker("kept-machines");
  await makeMachine("kept-machines");
  const { state } = await keptOf(client, worker);
  expect(machinesIn(state as MachineState)).toEqual(["one"]);
});

test("of a Worker that reports a state, that is kept", async () => {
  const worker = await makeWorker("kept-state", { own: true });
  await makeMachine("kept-state");
  expect(await keptOf(client, worker)).toMatchObject({ state: { own: true } });
});

test("of a Worker whose controller asks no manager for machines, nothing is kept", async () => {
  expect((await keptOf(client, await makeWorker("kept-nothing"))).state).toBeUndefined();
});
