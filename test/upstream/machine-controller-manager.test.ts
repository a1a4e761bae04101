import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createExtensionMoves } from "../../src/activities/extensions/moves.ts";
import { fenced } from "../../src/activities/leadership/fenced-client.ts";
import { forgetMachineState } from "../../src/activities/machines/forgetting.ts";
import { createMachineHandover } from "../../src/activities/machines/handover.ts";
import { machineStateOf, readMachineObjects, type MachineState } from "../../src/activities/machines/state.ts";
import { createDecommissioning } from "../../src/activities/teardown/decommissioning.ts";
import { Worker, type KubeObject } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { components } from "../../src/components/index.ts";
import { Deployment, Pod, refTo, type KubeClient } from "../../src/kube/index.ts";
import { applyCrds, applyUpstreamCrds } from "../../src/local/cluster/manifests.ts";
import { exampleContext } from "../support/control-plane-context.ts";
import { startControlPlane, type ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { startCloud, workerController } from "../support/machine-cloud.ts";
import { followDeployment, permitManagers, type MachineManagers } from "../support/machine-managers.ts";
import { notedWaits } from "../support/noted-waits.ts";
import { shootRun } from "../support/shoot-run.ts";

/**
 * Upstream's machine-controller-manager with its local provider, as they are published, in two seeds; machines are pods of a
 * third API server, which is the Shoot's, too. What Kubernetes' own controllers and kubelets do, the test does.
 */
const migration = { source: "seed-1", destination: "seed-2", takeover: false };
const run = shootRun({
  name: "example",
  technicalID: "shoot--dev--example",
  machineControllerManager: true,
  migration,
});
const restoring: ShootRun = { ...run, operation: "Restore", epoch: 2, seedName: "seed-2" };
const namespace = run.technicalID;
let directory: string;
let source: ControlPlane;
let destination: ControlPlane;
let outside: ControlPlane;
let cloud: ReturnType<typeof startCloud>;
const managers: MachineManagers[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "perennial-upstream-"));
  const privileged = { flags: ["--allow-privileged=true"] }; // what stands for a machine is such a pod
  [source, destination, outside] = (await Promise.all([{}, {}, privileged].map(startControlPlane))) as Three;
  await outside.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "machines" } });
  for (const seed of [source, destination]) {
    await Promise.all([applyCrds(seed.client, "seed"), applyUpstreamCrds(seed.client)]);
    await seed.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    await permitManagers(seed.client, outside.client, namespace);
    managers.push(followDeployment({ directory, seed, shoot: outside, namespace }));
  }
  const seeds = [source.client, destination.client];
  cloud = startCloud(outside.client, "machines", { shoot: outside.client, seeds, seedNamespace: namespace });
});

afterAll(async () => {
  await Promise.all([cloud, ...managers].map((one) => one.stop()));
  await Promise.all([source, destination, outside].map((cluster) => cluster.stop()));
  await rm(directory, { recursive: true });
});

type Three = [ControlPlane, ControlPlane, ControlPlane];

const controller = (seed: ControlPlane) =>
  workerController(seed.client, { namespace, cloudKubeconfig: outside.kubeconfig });
const output = (seed: ControlPlane): string => managers[seed === source ? 0 : 1]?.output() ?? "";
const rounds = (seed: ControlPlane): number => output(seed).split("reconcileClusterMachineSafetyOrphanVMs: End").length;

/** Returns when the provider's look for machines of which nothing is known has come round so many times more. */
async function orphansSought(seed: ControlPlane, times = 3): Promise<void> {
  const before = rounds(seed);
  await eventually(() => expect(rounds(seed)).toBeGreaterThanOrEqual(before + times), 60_000);
}

/** Deploys the component, as a flow does, with so many pods. */
async function deployManager(client: KubeClient, { epoch }: ShootRun, managerReplicas: number): Promise<void> {
  const context = exampleContext({ namespace, machines: { managerReplicas, deployments: [] } });
  const [deployment] = components["machine-controller-manager"]
    .objects(context)
    .filter(({ kind }) => kind === "Deployment");
  await fenced(client, { technicalID: namespace, epoch }).apply(deployment ?? expect.fail());
}

async function stopManager(): Promise<void> {
  const waits = { ...notedWaits, readiness: () => ({ reached: false as const, message: "it runs" }) };
  const stop = createDecommissioning({ seedClient: source.client, waits });
  const targets = await stop.stopWorkload(run, "machine-controller-manager", "stopMachineControllerManager");
  const pods = () => source.client.list(Pod, { namespace });
  expect(targets.length + (await pods()).length).toBeLessThanOrEqual(2);
  await eventually(async () => expect(await pods()).toEqual([]));
}

const worker = {
  apiVersion: Worker.apiVersion,
  kind: "Worker",
  metadata: { name: run.name, namespace },
  spec: { type: "local", region: "local", secretRef: { name: "cloudprovider", namespace }, pools: [] },
} satisfies KubeObject;
const readWorker = async () =>
  (await destination.client.read(refTo(Worker, worker.metadata))) ?? expect.fail("no Worker");

async function restoreWorker(kept: MachineState | undefined): Promise<void> {
  const seedClient = fenced(destination.client, restoring);
  const moves = createExtensionMoves({
    seedClient,
    waits: notedWaits,
    wanted: async () => [worker],
    kept: async () => undefined,
    machines: createMachineHandover({ seedClient, kept: async () => kept }),
    protect: async () => undefined,
  });
  await moves.restore(restoring, "Worker", "worker");
}

let kept: MachineState;

test("it makes the machines that a Worker's controller asks for, with the rights that it is given", async () => {
  await deployManager(source.client, run, 1);
  await controller(source).deploy(2);
  await controller(source).running(2);
  expect(Object.keys(await cloud.machines())).toHaveLength(2);
  await orphansSought(source);
  expect(output(source)).not.toMatch(/forbidden/i);
});

test("stopped before a move, it is gone, and what is kept of its machines has each of them", async () => {
  await stopManager();
  kept = machineStateOf(await readMachineObjects(source.client, namespace));
  expect((await source.client.read(Deployment, { namespace, name: "machine-controller-manager" }))?.spec.replicas).toBe(
    0,
  );
});

test("a Worker is not restored without what is kept of its machines", async () => {
  await expect(restoreWorker(undefined)).rejects.toThrow("has no machines of it");
});

test("in the other seed it goes on with the very same machines, and takes none for an orphan", async () => {
  const before = await cloud.machines();
  await deployManager(destination.client, restoring, 0);
  await restoreWorker(kept);
  const { status, metadata } = await readWorker();
  expect(status?.state).toEqual(kept);
  expect(metadata.annotations).toMatchObject({ "gardener.cloud/operation": "restore" });

  await controller(destination).restore(status?.state as unknown as MachineState);
  await deployManager(destination.client, restoring, 1);
  const names = await controller(destination).running(2);
  await orphansSought(destination);
  expect(await cloud.machines()).toEqual(before);
  expect(names.map((name) => `machine-${name}`)).toEqual(Object.keys(before).sort());

  await forgetMachineState(fenced(destination.client, restoring), restoring);
  expect((await readWorker()).status?.state ?? null).toBeNull();
});

test("what the other seed makes then stays, while the old manager is stopped", async () => {
  await controller(destination).scale(3);
  await controller(destination).running(3);
  await orphansSought(destination);
  expect(Object.keys(await cloud.machines())).toHaveLength(3);
});

test("were the old manager still there, it would end that machine", async () => {
  await deployManager(source.client, run, 1);
  await eventually(() => output(source).includes("Orphan VM found and terminated VM"), 60_000);
  await stopManager();
});
