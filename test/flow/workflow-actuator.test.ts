import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "@temporalio/worker";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { Infrastructure, type Cluster } from "../../src/api/index.ts";
import { refTo } from "../../src/kube/index.ts";
import { startControlPlane, type ControlPlane } from "../support/control-plane.ts";
import { applyCrds } from "../support/crds.ts";
import { eventually } from "../support/eventually.ts";
import type { Answer, NetworkActivities } from "../support/extension-workflow.ts";
import { startTemporal, type TemporalServer } from "../support/temporal.ts";

const namespace = "shoot--dev--workflow";
let plane: ControlPlane;
let temporal: TemporalServer;
let worker: Worker;
let running: Promise<void>;
let controller: ChildProcess;
let noted: string[];
let count = 0;

beforeAll(async () => {
  [plane, temporal] = await Promise.all([startControlPlane(), startTemporal()]);
  await applyCrds(plane.client);
  await plane.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await plane.client.apply({
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Cluster",
    metadata: { name: namespace },
    spec: { cloudProfile: {}, seed: {}, shoot: { metadata: { name: "workflow", namespace: "garden-dev" } } },
  } as unknown as Cluster);
  const activities: NetworkActivities = { note: async (what) => void noted.push(what) };
  const workflowsPath = fileURLToPath(new URL("../support/extension-workflow.ts", import.meta.url));
  worker = await Worker.create({ connection: temporal.connection, taskQueue: "networks", workflowsPath, activities });
  running = worker.run();
});
afterAll(async () => {
  worker?.shutdown();
  await running;
  await Promise.all([plane?.stop(), temporal?.stop()]);
});
beforeEach(async () => {
  noted = [];
  count += 1;
  await start();
});
afterEach(() => kill());

test("a controller that is killed in the middle finds its run, which there is once, and reports what it made", async () => {
  await create();
  await eventually(() => expect(noted).toEqual(["reconcile 1 begins"]));
  await kill();
  await start();
  await sleep(3_000);
  await kill();
  await start();
  await answer({});
  const object = await until("Succeeded");
  expect(object?.status).toMatchObject({ state: { networks: [1] }, lastOperation: { type: "Create" } });
  expect(noted).toEqual(["reconcile 1 begins"]);
});

test("a run that ends while no controller runs is not run again: its result is reported", async () => {
  await create();
  await eventually(() => expect(noted).toEqual(["reconcile 1 begins"]));
  await kill();
  await answer({});
  await (await handle()).result();
  await start();
  expect((await until("Succeeded"))?.status).toMatchObject({ state: { networks: [1] } });
  expect(noted).toEqual(["reconcile 1 begins"]);

  await plane.client.patch(ref(), { metadata: { annotations: { "gardener.cloud/operation": "reconcile" } } });
  await eventually(() => expect(noted).toEqual(["reconcile 1 begins", "reconcile 1 begins"])); // asked anew
  await answer({});
  await until("Succeeded");
});

test("a spec that has changed while no controller ran is begun anew, once the run of the old one has ended", async () => {
  await create();
  await eventually(() => expect(noted).toEqual(["reconcile 1 begins"]));
  await kill();
  await plane.client.patch(ref(), { spec: { region: "two" }, metadata: asked("reconcile") });
  await start();
  await eventually(() =>
    expect(noted).toEqual(["reconcile 1 begins", "reconcile 1 is cancelled", "reconcile 2 begins"]),
  );
  await answer({});
  expect((await until("Succeeded"))?.status).toMatchObject({ state: { networks: [2] }, observedGeneration: 2 });
});

test("a deletion ends the run of what was to be made, and then has a run of its own", async () => {
  await create();
  await eventually(() => expect(noted).toEqual(["reconcile 1 begins"]));
  await kill();
  await plane.client.patch(ref(), { metadata: { annotations: { "confirmation.gardener.cloud/deletion": "true" } } });
  await plane.client.remove(ref());
  await start();
  await eventually(() => expect(noted.slice(1)).toEqual(["reconcile 1 is cancelled", "delete 2 begins"]));
  await answer({});
  await eventually(async () => expect(await read()).toBeUndefined());
});

test.for<[string, NonNullable<Answer["failure"]>, readonly string[] | undefined]>([
  ["a code as its type", { type: "ERR_INFRA_RESOURCES_DEPLETED" }, ["ERR_INFRA_RESOURCES_DEPLETED"]],
  [
    "codes in its details",
    { type: "NoRoom", details: [{ codes: ["ERR_INFRA_QUOTA_EXCEEDED", "ERR_INFRA_DEPENDENCIES"] }] },
    ["ERR_INFRA_QUOTA_EXCEEDED", "ERR_INFRA_DEPENDENCIES"],
  ],
  ["no code", { type: "NoRoom" }, undefined],
])("a failure with %s is the object's, and another run begins after it", async ([, failure, codes]) => {
  await create();
  await eventually(() => expect(noted).toHaveLength(1));
  await answer({ failure });
  const failed = await until("Error");
  expect(failed?.status?.lastError?.description).toBe("Error creating Infrastructure: the provider has no room");
  expect(failed?.status?.lastError?.codes).toEqual(codes);
  await eventually(() => expect(noted).toHaveLength(2));
  await answer({});
  await until("Succeeded");
});

test("a controller that is told to end does, and its run goes on", async () => {
  await create();
  await eventually(() => expect(noted).toHaveLength(1));
  controller.kill("SIGTERM");
  expect(await once(controller, "exit")).toEqual([0, null]);
  expect((await read())?.status?.lastOperation?.state).toBe("Processing");
  expect((await (await handle()).describe()).status.name).toBe("RUNNING");
  await answer({});
  await (await handle()).result();
  expect(noted).toEqual(["reconcile 1 begins"]);
});

async function start(): Promise<void> {
  const main = join(import.meta.dirname, "../support/workflow-extension-main.ts");
  const env = { ...process.env, KUBECONFIG: plane.kubeconfigFile, TEMPORAL_ADDRESS: temporal.address };
  controller = spawn("setpriv", ["--pdeathsig", "KILL", process.execPath, main], { env, stdio: "ignore" });
  await once(controller, "spawn");
}

async function kill(): Promise<void> {
  if (controller.exitCode !== null || controller.signalCode !== null) return;
  controller.kill("SIGKILL");
  await once(controller, "exit");
}

async function answer(what: Answer): Promise<void> {
  await (await handle()).signal("answer", what);
}

async function handle() {
  const uid = (await read())?.metadata.uid;
  return temporal.client.workflow.getHandle(`extension/Infrastructure/${namespace}/i${count}/${uid}`);
}

const asked = (operation: string) => ({
  annotations: { "gardener.cloud/operation": operation, "gardener.cloud/timestamp": new Date().toISOString() },
});

function create(): Promise<Infrastructure> {
  return plane.client.create<Infrastructure>({
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Infrastructure",
    metadata: { name: `i${count}`, namespace, ...asked("reconcile") },
    spec: { type: "workflow", region: "one", secretRef: { name: "cloudprovider", namespace } },
  });
}

const ref = () => refTo(Infrastructure, { namespace, name: `i${count}` });
const read = () => plane.client.read(ref());

async function until(state: string): Promise<Infrastructure | undefined> {
  await eventually(async () => expect((await read())?.status?.lastOperation?.state).toBe(state));
  return await read();
}
