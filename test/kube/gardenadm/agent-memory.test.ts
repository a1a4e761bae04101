import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, expect } from "vitest";
import { Cluster, CloudProfile, Shoot } from "../../../src/api/index.ts";
import { CONTROL_PLANE_LABEL } from "../../../src/api/labels.ts";
import { clusterObject } from "../../../src/components/index.ts";
import { changeShootStatus, readShootStatus } from "../../../src/gardenadm/cluster/shoot-status.ts";
import {
  CertificateSigningRequest,
  createKubeClient,
  Node,
  refTo,
  renderKubeconfig,
  typeMeta,
  type KubeClient,
} from "../../../src/kube/index.ts";
import { ownClusterTest } from "../../support/cluster-test.ts";
import { exampleConfiguration } from "../../support/configuration.ts";
import type { ControlPlane } from "../../support/control-plane.ts";
import { craftRequest, pemOf, subjectOf } from "../../support/crafted-request.ts";
import { eventually } from "../../support/eventually.ts";
import { giveNodeAccess, makeToken } from "../../support/node-access.ts";
import { startSmallProcess, type SmallProcess } from "../../support/small-heap.ts";

/*
 * A worker's token, its kubelet and its agent make requests for certificates, Nodes and mirror pods as they like, each of up to a megabyte
 * and more. The agents of the control plane read these, in little memory. It would fill the etcd of a shared cluster.
 */
const test = ownClusterTest({
  crds: true,
  flags: ["--enable-bootstrap-token-auth=true", "--authorization-mode=Node"],
});
const COUNT = 100;
const MEGABYTE = 1_000_000;
let cluster: ControlPlane;
let folder: string;
let agent: SmallProcess | undefined;

test.beforeAll(async ({ cluster: own }) => {
  cluster = own;
  folder = await mkdtemp(join(tmpdir(), "perennial-agent-memory-"));
  await writeFile(join(folder, "kubeconfig"), cluster.kubeconfig);
  await giveNodeAccess(cluster);
  const { client } = cluster;
  const [shootOf, , profileOf] = exampleConfiguration();
  const shoot = Shoot.parse({ ...shootOf, metadata: { name: "root", namespace: "garden", uid: "x" } });
  await client.apply(clusterObject({ shoot, namespace: "kube-system", cloudProfile: CloudProfile.parse(profileOf) }));
  await client.apply({ ...typeMeta(Node), metadata: { name: "a", labels: { [CONTROL_PLANE_LABEL]: "" } } });
});
afterEach(() => agent?.end());
afterAll(async () => await rm(folder, { recursive: true, force: true }));

test("however many large requests a worker's token makes, an agent approves the next kubelet's", async () => {
  const worker = await withToken();
  const filling = "x".repeat(MEGABYTE);
  for (let index = 0; index < COUNT; index += 1) await ask(worker, `large-${index}`, `${filling}\n${asked("w0")}`);
  startAgent();
  await ask(worker, "next", asked("w1"));
  await eventually(async () => expect(await verdictOf("next")).toBe("Approved"));
  expect(agent?.isRunning(), agent?.output()).toBe(true);
});

test("however large the Nodes of workers are, an agent says how the cluster is", async () => {
  const { client } = cluster;
  const images = Array.from({ length: 40 }, (_, index) => ({ names: ["x".repeat(MEGABYTE / 40)], sizeBytes: index }));
  for (let index = 0; index < COUNT; index += 1) {
    const name = `large-${index}`;
    await client.create({ ...typeMeta(Node), metadata: { name } });
    await client.patch(refTo(Node, { name }), { status: { images } }, { subresource: "status" });
  }
  await changeShootStatus(client, "gardenadm", () => ({ lastOperation: { ...DONE } }));
  startAgent();
  await eventually(async () => {
    const { conditions = [] } = (await readShootStatus(client)) ?? {};
    expect(conditions.find(({ type }) => type === "EveryNodeReady")?.message).toMatch(
      /^Not ready: a, large-0, .* more$/,
    );
  });
  await delay(6_000); // it looks again
  expect(agent?.isRunning(), agent?.output()).toBe(true);
});

const DONE = {
  ...{ type: "Reconcile", state: "Succeeded", progress: 100, description: "done" },
  lastUpdateTime: "2026-01-01T00:00:00Z",
};

/** With the memory that its unit gives an agent. */
function startAgent(): void {
  const env = { KUBECONFIG: join(folder, "kubeconfig"), NODE: "a" };
  agent = startSmallProcess("node-keeper-main.ts", env, 96);
}

async function withToken(): Promise<KubeClient> {
  const { server } = cluster.client;
  const token = await makeToken(cluster, "worker");
  const client = createKubeClient({
    kubeconfig: renderKubeconfig({ server, ca: cluster.authority.certificate, token }),
  });
  await eventually(async () => await client.read(Cluster, { name: "kube-system" }));
  return client;
}

const asked = (node: string): string =>
  pemOf(craftRequest({ subject: subjectOf(`system:node:${node}`, ["system:nodes"]) }));

async function ask(client: KubeClient, name: string, text: string): Promise<void> {
  await client.create<CertificateSigningRequest>({
    ...typeMeta(CertificateSigningRequest),
    metadata: { name },
    spec: {
      request: Buffer.from(text).toString("base64"),
      signerName: "kubernetes.io/kube-apiserver-client-kubelet",
      usages: ["digital signature", "client auth"],
    },
  });
}

async function verdictOf(name: string): Promise<string | undefined> {
  const request = await cluster.client.read(CertificateSigningRequest, { name });
  return request?.status?.conditions?.[0]?.type;
}
