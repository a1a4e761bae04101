import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Machine } from "../../src/activities/machines/kinds.ts";
import { OperatingSystemConfig, Shoot, Worker } from "../../src/api/index.ts";
import { Deployment, Namespace, Node, Pod, refTo, type KubeClient } from "../../src/kube/index.ts";
import { versions } from "../../src/local/binary/versions.ts";
import { kubeconfigFile } from "../../src/local/cluster/clusters.ts";
import { down } from "../../src/local/environment/down.ts";
import { helloImage } from "../../src/local/image/images.ts";
import { findBinary } from "../support/binary.ts";
import { createShoot, type TestShoot } from "../support/e2e-shoots.ts";
import { eventually } from "../support/eventually.ts";
import { localEnvironment, type LocalEnvironment } from "../support/local-environment.ts";
import { openShootCluster } from "../support/shoot-cluster.ts";
import { findSeedRemains, findShootRemains } from "../support/shoot-remains.ts";
import { prepareGarden, writeUpstreamRegistration } from "../support/upstream-provider.ts";
import { seconds } from "../support/patience.ts";

/**
 * Upstream's provider-local makes a Shoot's machines in an environment: its controllers of OperatingSystemConfig and Worker,
 * upstream's machine-controller-manager with the container of theirs, and machines that are pods of seed-1 with a systemd,
 * upstream's node agent and a kubelet. The network of a machine's pods ends at the machine: no Network of upstream's is there.
 */
const kept = process.env["PERENNIAL_E2E"];
const name = kept ?? "machine-pods";
let local: LocalEnvironment;
let folder: string;
let shoot: TestShoot;
let cluster: KubeClient;

beforeAll(async () => {
  if (kept === undefined) await down({ name }); // what an interrupted run has left
  folder = await mkdtemp(join(tmpdir(), "perennial-upstream-"));
  local = await localEnvironment(name, { upstreamMachines: true });
  await prepareGarden(local);
  await local.perennial("extension", "install", await writeUpstreamRegistration(local, folder));
}, seconds(600));

afterAll(async () => {
  await cluster?.close();
  await local?.close();
  if (kept === undefined) await down({ name });
  await rm(folder, { recursive: true, force: true });
}, seconds(120));

test(
  "a Shoot is created with a machine that upstream's controllers describe and make",
  async () => {
    shoot = await createShoot(local, { name: "pods" });
    await shoot.settles("Succeeded", "Create", 600_000);
    const { technicalID: namespace } = shoot;
    const worker = await local.seedClient.read(refTo(Worker, { namespace, name: shoot.name }));
    expect(worker?.status).toMatchObject({
      lastOperation: { type: "Create", state: "Succeeded", description: "Successfully reconciled Worker" },
      machineDeployments: [{ name: `${namespace}-worker-z1`, minimum: 1, maximum: 1 }],
    });
    const configs = await local.seedClient.list(OperatingSystemConfig, { namespace });
    expect(configs.map(({ spec, status }) => [spec.purpose, status?.lastOperation?.description]).sort()).toEqual([
      ["provision", "Successfully reconciled OperatingSystemConfig"],
      ["reconcile", "Successfully reconciled OperatingSystemConfig"],
    ]);
    cluster = await openShootCluster(local, shoot);
    const nodes = await readyNodes();
    expect(nodes.map(({ metadata }) => metadata.name)).toEqual(Object.keys(await machinePods()));
    expect(nodes[0]?.status).toMatchObject({ nodeInfo: { kubeletVersion: `v${versions.kubernetes}` } });
    // Upstream's Worker controller writes this into each machine, by exec.
    expect(await inMachine("cat", "/etc/os-release")).toContain("Machine Image Version 1.0.0");
    expect(await inMachine("systemctl", "--failed", "--plain", "--no-legend")).toBe("");
  },
  seconds(660),
);

test("a pod runs on the machine, answers there, and the API server reads its log", async () => {
  await cluster.apply({
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "hello", namespace: "default" } },
    spec: { containers: [{ name: "hello", image: helloImage }] },
  });
  const address = await eventually(async () => {
    const { phase, podIP } = (await readHello())?.status as { phase?: string; podIP?: string };
    expect(phase).toBe("Running");
    return podIP ?? expect.fail("the pod has no address");
  }, 90_000);
  expect(await inMachine("curl", "-sSm2", `http://${address}:8080`)).toBe("hello from hello");
  expect(await cluster.get("/api/v1/namespaces/default/pods/hello/log")).toContain("GET");
});

test(
  "a machine more joins when the pool grows",
  async () => {
    await resize(2);
    await shoot.settles("Succeeded", "Reconcile", 300_000);
    expect(await readyNodes()).toHaveLength(2);
    expect(Object.keys(await machinePods())).toHaveLength(2);
  },
  seconds(330),
);

test(
  "the Shoot moves: its machines, Nodes and pods stay, and the other seed manages them",
  async () => {
    const before = [await machinePods(), await nodeUids(), (await readHello())?.metadata.uid];
    await local.perennial("shoot", "migrate", `garden-dev/${shoot.name}`, "--to", "seed-2", "-y");
    await shoot.settles("Succeeded", "Restore", 600_000);
    await cluster.close();
    cluster = await openShootCluster(local, shoot);
    expect([await machinePods(), await nodeUids(), (await readHello())?.metadata.uid]).toEqual(before);
    const { technicalID: namespace } = shoot;
    const machines = await local.seeds["seed-2"].list(Machine, { namespace });
    expect(machines.map(({ metadata }) => `machine-${metadata.name}`).sort()).toEqual(Object.keys(before[0] as object));
    const manager = refTo(Deployment, { namespace, name: "machine-controller-manager" });
    expect((await local.seeds["seed-2"].read(manager))?.status).toMatchObject({ readyReplicas: 1 });
    expect(await cluster.get("/api/v1/namespaces/default/pods/hello/log")).toContain("GET");
    await eventually(async () => expect(await findSeedRemains(local, shoot, "seed-1")).toEqual([]), 120_000);
  },
  seconds(780),
);

test(
  "a machine goes when the pool shrinks, and its Node with it",
  async () => {
    await resize(1);
    await shoot.settles("Succeeded", "Reconcile", 300_000);
    await eventually(async () => {
      expect(Object.keys(await machinePods())).toHaveLength(1);
      expect(Object.keys(await nodeUids())).toEqual(Object.keys(await machinePods()));
    }, 180_000);
  },
  seconds(510),
);

test(
  "the Shoot is deleted with its machines, and nothing is left of it",
  async () => {
    await shoot.remove();
    await shoot.gone(600_000);
    expect(await machinePods()).toEqual({});
    await eventually(async () => expect(await findShootRemains(local, shoot)).toEqual([]), 60_000);
    expect(await local.seedClient.read(refTo(Namespace, { name: machineNamespace() }))).toBeUndefined();
  },
  seconds(720),
);

/** Where upstream makes a Shoot's machines, in the seed of its credentials. */
const machineNamespace = (): string => `infra-${shoot.technicalID}`;

/** Uids by names. */
type Uids = Record<string, string | undefined>;

/** The pods that are machines. */
async function machinePods(): Promise<Uids> {
  const pods = await local.seedClient.list(Pod, { namespace: machineNamespace(), labelSelector: "app=machine" });
  return uidsOf(pods);
}

const nodeUids = async (): Promise<Uids> => uidsOf(await cluster.list(Node));

function uidsOf(objects: readonly (Pod | Node)[]): Uids {
  const sorted = objects.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return Object.fromEntries(sorted.map(({ metadata }) => [metadata.name, metadata.uid]));
}

async function readyNodes(): Promise<Node[]> {
  const isReady = ({ status }: Node) =>
    status?.conditions?.some((one) => one.type === "Ready" && one.status === "True");
  return (await cluster.list(Node)).filter(isReady);
}

const readHello = () => cluster.read(Pod, { namespace: "default", name: "hello" });

async function resize(size: number): Promise<void> {
  const [pool, ...others] = (await shoot.read())?.spec.provider.workers ?? [];
  if (pool === undefined) throw new Error("the Shoot has no pool");
  const workers = [{ ...pool, minimum: size, maximum: size }, ...others];
  const { namespace, name } = shoot.ref;
  await local.gardenClient.patch(refTo(Shoot, { namespace, name }), { spec: { provider: { workers } } });
}

/** What a command prints in the first machine. */
async function inMachine(...command: readonly string[]): Promise<string> {
  const [pod = ""] = Object.keys(await machinePods());
  const seed = ["--kubeconfig", kubeconfigFile(local.environment, "seed-1"), "--namespace", machineNamespace()];
  const { stdout } = await execa(await findBinary("kubectl"), [...seed, "exec", pod, "--", ...command]);
  return stdout.trim();
}
