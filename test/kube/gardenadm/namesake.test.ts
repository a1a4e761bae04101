import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createServer } from "node:tls";
import { expect } from "vitest";
import { stringify } from "yaml";
import { ensureSecrets } from "../../../src/activities/secrets/secrets.ts";
import { MACHINE_CHECKSUM_ANNOTATION } from "../../../src/api/annotations.ts";
import { CONTROL_PLANE_LABEL } from "../../../src/api/labels.ts";
import { ADMIN_KUBECONFIG } from "../../../src/api/names.ts";
import { clusterObject, nodeAgentSecretName, nodeObjectName } from "../../../src/components/index.ts";
import { readClusterContext } from "../../../src/gardenadm/cluster/control-plane.ts";
import { createControlPlaneActions } from "../../../src/gardenadm/join/control-plane-actions.ts";
import type { ControlPlaneAction } from "../../../src/gardenadm/join/join-control-plane.ts";
import { agentPlacesIn } from "../../../src/gardenadm/machine/agent-places.ts";
import { Lease, Node, refOf, refTo, Secret, typeMeta, type KubeClient } from "../../../src/kube/index.ts";
import { microTime } from "../../../src/kube/time.ts";
import { controlPlanePool } from "../../../src/self-hosted/machine-config.ts";
import { announceCluster } from "../../support/cluster-info.ts";
import type { ControlPlane } from "../../support/control-plane.ts";
import { test } from "../../support/cluster-test.ts";
import { eventually } from "../../support/eventually.ts";
import { backedUpOnNodes } from "../../support/self-hosted-control-plane.ts";

const namespace = "kube-system";
const HEARTBEATS = { namespace: "kube-node-lease", name: "b" };

let folder: string;

test.beforeAll(async ({ cluster: { client } }) => {
  folder = await mkdtemp(join(tmpdir(), "perennial-namesake-"));
  const context = backedUpOnNodes();
  const { provider } = context.shoot.spec;
  const [pool, ...others] = provider.workers ?? [];
  const three = pool && { ...pool, minimum: 3, maximum: 3 };
  const workers = three ? [three, ...others] : others;
  const spec = { ...context.shoot.spec, provider: { ...provider, workers } };
  await client.apply(clusterObject({ ...context, shoot: { ...context.shoot, spec } }));
  for (const { name, addresses } of context.nodes ?? []) {
    const metadata = { name, labels: { [CONTROL_PLANE_LABEL]: "" } };
    const node = await client.create<Node>({ ...typeMeta(Node), metadata });
    const status = { addresses: addresses.map((address) => ({ type: "InternalIP", address })) };
    await client.patch(refOf(node), { status }, { subresource: "status" });
  }
  await ensureSecrets(client, await readClusterContext(client));
});

test.afterAll(async () => {
  await rm(folder, { recursive: true });
});

test.beforeEach(async ({ cluster }) => {
  const { client } = cluster;
  await orderAdministrator(cluster);
  await rm(join(folder, "machine"), { recursive: true, force: true });
  await says(client, "True");
  await beats(client);
});

test("a machine with the host name of a node at work changes no Secret, and learns why as soon as that node is heard of", async ({
  cluster,
}) => {
  const { client } = cluster;
  const before = await secretsOf(client);
  const beating = setInterval(() => void beats(client), 1_000);
  const refused = await joins(cluster).catch((error: unknown) => String(error));
  clearInterval(beating);
  expect(await secretsOf(client)).toEqual(before);
  expect(await readdir(join(folder, "machine/var/lib/gardener-node-agent"))).toEqual(["credentials"]);
  expect(refused).toContain(
    "node b is another machine, which is at work: give this one another name with 'hostnamectl hostname NAME'",
  );
});

test("a machine that has lost its disk waits until its node is not ready any more, and gets certificates then", async ({
  cluster,
}) => {
  const { client } = cluster;
  const before = await secretsOf(client);
  const told: string[] = [];
  const joining = joins(cluster, (message) => told.push(message));
  await eventually(() => expect(told).toContain(WAITS), 20_000);
  expect(await secretsOf(client)).toEqual(before);
  await says(client, "Unknown");
  await expect(joining).rejects.toThrow("no containerd here");
  const name = nodeObjectName("kube-apiserver", "b");
  const certificates = (await secretsOf(client))[name] ?? expect.fail(`there is no Secret ${name}`);
  expect(certificates).not.toEqual(before[name]);
});

test("a machine with the host name of a node whose kubelet is silent, and whose etcd answers, changes no Secret", async ({
  cluster,
}) => {
  const { client } = cluster;
  const before = await secretsOf(client);
  await says(client, "Unknown");
  const { status: { addresses = [] } = {} } = (await client.read(Node, { name: "b" })) ?? {};
  await client.patch(refTo(Node, { name: "b" }), { status: { addresses: [HERE] } }, { subresource: "status" });
  const pair = (await client.read(Secret, { namespace, name: nodeObjectName("etcd-server", "b") }))?.data ?? {};
  const [cert, key] = ["tls.crt", "tls.key"].map((name) => Buffer.from(pair[name] ?? "", "base64"));
  const etcd = createServer({ ...(cert && { cert }), ...(key && { key }) }).listen(2379, HERE.address);
  await once(etcd, "listening");
  try {
    await expect(joins(cluster)).rejects.toThrow("node b is another machine, which is at work");
    expect(await secretsOf(client)).toEqual(before);
  } finally {
    etcd.close();
    await client.patch(refTo(Node, { name: "b" }), { status: { addresses } }, { subresource: "status" });
  }
});

/** An address of the loopback that no other run of this test takes: the port is etcd's. */
const HERE = { type: "InternalIP", address: `127.99.${(process.pid >> 8) & 0xff}.${process.pid & 0xff}` };

const WAITS = "node b is ready, and was another machine, or this one before it lost its disk";

const ROWS: readonly ControlPlaneAction[] = ["trust", "access", "turn", "certificates"];

/** The rows of a join until the machine's own files are due, on a machine of the name `b` with another address than node `b` has. */
async function joins(cluster: ControlPlane, tell: (message: string) => void = () => {}): Promise<void> {
  const { address, hashes } = await announceCluster(cluster, [TOKEN]);
  const root = join(folder, "machine");
  const places = agentPlacesIn(root);
  await write(join(root, "etc/machine-id"), "c".repeat(32));
  await write(places.kubeconfig, cluster.kubeconfig);
  const run = async () => await Promise.reject(new Error("no containerd here"));
  const machine = { root, hostName: "b", addresses: ["172.31.0.9"] as const, systemctl: run, ctr: run };
  const invitation = { address, token: TOKEN, role: "control-plane" as const };
  const { actions, close } = createControlPlaneActions({ machine, invitation, proof: { token: TOKEN, hashes } });
  const scope = { signal: AbortSignal.timeout(60_000), tell };
  try {
    for (const row of ROWS) await actions[row](scope);
  } finally {
    await close();
  }
}

const write = async (file: string, text: string): Promise<void> => {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
};

/** Its pool's Secret gives a node of the control plane the administrator's kubeconfig. */
async function orderAdministrator({ client, kubeconfig }: ControlPlane): Promise<void> {
  const context = await readClusterContext(client);
  const name = nodeAgentSecretName(context, controlPlanePool(context));
  const inline = { encoding: "b64", data: Buffer.from(kubeconfig).toString("base64") };
  const spec = { files: [{ path: ADMIN_KUBECONFIG, content: { inline } }], units: [] };
  const osc = Buffer.from(stringify({ kind: "OperatingSystemConfig", spec })).toString("base64");
  const metadata = { namespace, name, annotations: { [MACHINE_CHECKSUM_ANNOTATION]: "1" } };
  await client.apply({ ...typeMeta(Secret), metadata, data: { "osc.yaml": osc } });
}

/** Node `b` of another machine, as the controller manager judges it. */
async function says(client: KubeClient, ready: string): Promise<void> {
  const conditions = [{ type: "Ready", status: ready }];
  const status = { conditions, nodeInfo: { ...NODE_INFO, machineID: "b".repeat(32) } };
  await client.patch(refTo(Node, { name: "b" }), { status }, { subresource: "status" });
}

const NODE_INFO = Object.fromEntries(
  [
    ...["bootID", "kernelVersion", "osImage", "containerRuntimeVersion", "kubeletVersion", "kubeProxyVersion"],
    ...["operatingSystem", "architecture", "systemUUID"],
  ].map((key) => [key, ""]),
);

/** The kubelet of the other machine is at work. */
async function beats(client: KubeClient): Promise<void> {
  await client.apply({
    ...typeMeta(Lease),
    metadata: HEARTBEATS,
    spec: { holderIdentity: "b", renewTime: microTime() },
  });
}

const TOKEN = { id: "abcdef", secret: "0123456789abcdef" };

/** Contents of all Secrets, by name. */
const secretsOf = async (client: KubeClient): Promise<Record<string, unknown>> =>
  Object.fromEntries((await client.list(Secret, { namespace })).map(({ metadata, data }) => [metadata.name, data]));
