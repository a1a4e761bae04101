import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect } from "vitest";
import { Infrastructure, type Cluster } from "../../src/api/index.ts";
import { ConfigMap, Lease, refTo } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";

const namespace = "shoot--dev--elected";
const object = refTo(Infrastructure, { namespace, name: "i" });
const replicas: ChildProcess[] = [];
let plane: ControlPlane;

test.beforeAll(async ({ cluster }) => {
  plane = cluster;
  await plane.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await plane.client.apply({
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Cluster",
    metadata: { name: namespace },
    spec: { cloudProfile: {}, seed: {}, shoot: { metadata: { name: "elected", namespace: "garden-dev" } } },
  } as unknown as Cluster);
  await plane.client.create<Infrastructure>({
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Infrastructure",
    metadata: { name: "i", namespace, annotations: { "gardener.cloud/operation": "reconcile" } },
    spec: { type: "elected", region: "one", secretRef: { name: "cloudprovider", namespace } },
  });
});
afterEach(() => replicas.forEach((replica) => replica.kill("SIGKILL")));

test("of two replicas one acts, and one that has lost its Lease writes nothing more, however it lost it", async () => {
  const first = startReplica("a");
  await eventually(async () => expect((await writers()).length).toBeGreaterThan(5));
  const second = startReplica("b");
  await sleep(2_000);
  expect(new Set(await writers())).toEqual(new Set(["a"]));

  first.kill("SIGSTOP");
  const renewedAt = Date.parse((await readLease())?.spec.renewTime ?? "");
  await eventually(async () => expect((await writers()).filter((name) => name === "b").length).toBeGreaterThan(5));
  expect(Date.now() - renewedAt).toBeGreaterThan(4_000 - 50);
  first.kill("SIGCONT");
  await sleep(2_000);
  // A call that had been checked when the process was stopped leaves it afterwards: see createLeadershipGuard.
  const overdue = (await writes()).filter((name, index, all) => owner(name) === "a" && all.slice(0, index).some(isB));
  expect(overdue.length).toBeLessThanOrEqual(1);
  const turns = async () => turnsOf((await writes()).filter((name) => !overdue.includes(name)).map(owner));
  expect(await turns()).toEqual(["a", "b"]);
  expect((await plane.client.read(object))?.status?.lastOperation?.state).toBe("Processing");

  second.kill("SIGKILL");
  await eventually(async () => expect(await turns()).toEqual(["a", "b", "a"]));

  startReplica("c");
  const held = (await readLease())?.spec.holderIdentity;
  first.kill("SIGTERM");
  expect(await once(first, "exit")).toEqual([0, null]);
  expect((await readLease())?.spec.holderIdentity).not.toBe(held); // it was given back, and need not run out
  await eventually(async () => expect(await turns()).toEqual(["a", "b", "a", "c"]));
  expect((await readLease())?.spec.leaseTransitions).toBe(3);
});

const readLease = () => plane.client.read(Lease, { namespace, name: "elected-leader-election" });

function startReplica(name: string): ChildProcess {
  const env = {
    ...process.env,
    KUBECONFIG: plane.kubeconfigFile,
    NAMESPACE: namespace,
    REPLICA: name,
    TYPE: "elected",
  };
  const main = join(import.meta.dirname, "../support/elected-main.ts");
  const command = ["--pdeathsig", "KILL", process.execPath, main];
  const replica = spawn("setpriv", command, { env, stdio: "ignore" });
  replicas.push(replica);
  return replica;
}

/** Who wrote, in the order of the API server. */
const writers = async () => (await writes()).map(owner);

/** What was written, `<replica>-<number>`, in the order of the API server. */
async function writes(): Promise<string[]> {
  const written = await plane.client.list(ConfigMap, { namespace });
  return written
    .filter(({ metadata }) => /^[abc]-\d+$/.test(metadata.name))
    .map(({ metadata }) => ({ name: metadata.name, version: Number(metadata.resourceVersion) }))
    .sort((one, other) => one.version - other.version)
    .map(({ name }) => name);
}

const owner = (write: string) => write.slice(0, 1);
const isB = (write: string) => owner(write) === "b";
const turnsOf = (names: readonly string[]) => names.filter((name, index) => name !== names[index - 1]);
