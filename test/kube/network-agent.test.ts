import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { CONTROL_PLANE_LABEL } from "../../src/api/labels.ts";
import { Node, refTo, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createNetworkAgent, type NetworkAgent } from "../../src/provider-local/network-agent/agent.ts";
import { networkAgentObjects } from "../../src/provider-local/network-agent/objects.ts";
import { admissionInForce } from "../support/admission-in-force.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { playLinks } from "../support/played-links.ts";
import { clientOfAccount } from "../support/service-account.ts";

/** An agent with the token that the kubelet of node a would give it, on a real API server; the kernel alone is played. */
const account = { namespace: "kube-system", name: "network-agent" };
const links = playLinks("172.30.0.2");
let admin: KubeClient;
let own: KubeClient;
let agent: NetworkAgent;
let folder: string;

beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "perennial-agent-"))));
afterAll(async () => {
  await agent.stop();
  await own.close();
  await rm(folder, { recursive: true, force: true });
});

test.beforeAll(async ({ cluster }) => {
  admin = cluster.client;
  const image = { name: "provider-local:1", content: "" };
  for (const object of networkAgentObjects(image, "10.0.0.0/16")) await admin.apply(object);
  await admissionInForce(admin, ["policy"]);
  await createNode("a", "172.30.0.2");
  await createNode("b", "172.30.0.3", "10.0.1.0/24");
  await admin.create({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: account.namespace, name: "network-agent-a" },
    spec: { nodeName: "a", serviceAccountName: account.name, containers: [{ name: "agent", image: image.name }] },
  });
  own = await clientOfAccount(cluster, account, "network-agent-a");
  await writeFile(join(folder, "ip_forward"), "0\n");
  agent = createNetworkAgent({
    ...{ client: own, node: "a", clusterPodCIDR: "10.0.0.0/16", run: links.run, cniDir: join(folder, "net.d") },
    forwardingFile: join(folder, "ip_forward"),
    log: createLogger({ name: "test", level: "silent" }),
  });
});

test("an agent makes nothing of a node without a range of addresses, and is not ready", async () => {
  agent.start();
  await expect(readdir(join(folder, "net.d"))).rejects.toThrow("ENOENT");
  expect(agent.ready()).toBe(false);
});

test("a node with a range gets a pod network, and a condition beside those of its kubelet that says so", async () => {
  await admin.patch(refTo(Node, { name: "a" }), { spec: { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24"] } });
  await eventually(async () => expect((await conditions("a"))["NetworkUnavailable"]).toBe("False"));
  expect(await conditions("a")).toEqual({ Ready: "True", NetworkUnavailable: "False" });
  expect([...links.routes]).toEqual([["10.0.1.0/24", "172.30.0.3"]]);
  expect(await readFile(join(folder, "net.d/10-perennial.conflist"), "utf8")).toContain("10.0.0.0/24");
  expect(await readFile(join(folder, "ip_forward"), "utf8")).toBe("1");
  await eventually(async () => expect(agent.ready()).toBe(true));
});

test("pods of a node that comes are reached, and those of one that goes no more", async () => {
  await createNode("c", "172.30.0.4", "10.0.2.0/24");
  await eventually(async () => expect(links.routes.get("10.0.2.0/24")).toBe("172.30.0.4"));
  await admin.remove(refTo(Node, { name: "b" }));
  await eventually(async () => expect([...links.routes.keys()]).toEqual(["10.0.2.0/24"]));
});

test("a node that calls its network unavailable is corrected", async () => {
  await setConditions("a", { Ready: "True", NetworkUnavailable: "True" });
  await eventually(async () => expect((await conditions("a"))["NetworkUnavailable"]).toBe("False"));
});

test("an agent says nothing of another node, and changes no node beside its status", async ({ cluster }) => {
  const status = { status: { nodeInfo: { bootID: "x" } } };
  const refused = own.patch(refTo(Node, { name: "c" }), status, { subresource: "status" });
  await expect(refused).rejects.toThrow("a network agent writes the status of its own Node only");
  for (const metadata of [
    { labels: { [CONTROL_PLANE_LABEL]: "" } },
    { annotations: { note: "x" } },
    { finalizers: ["example.com/x"] },
    { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "none", uid: randomUUID() }] },
  ]) {
    const relabelled = own.patch(refTo(Node, { name: "a" }), { metadata }, { subresource: "status" });
    await expect(relabelled).rejects.toThrow("a network agent changes no metadata of its Node");
  }
  const cordon = own.patch(refTo(Node, { name: "a" }), { spec: { unschedulable: true } });
  await expect(cordon).rejects.toThrow("forbidden");
  const stray = await clientOfAccount(cluster, account);
  try {
    const unbound = stray.patch(refTo(Node, { name: "a" }), status, { subresource: "status" });
    await expect(unbound, "a token of no pod").rejects.toThrow(
      "a network agent writes the status of its own Node only",
    );
  } finally {
    await stray.close();
  }
});

async function createNode(name: string, address: string, podCIDR?: string): Promise<void> {
  const spec = podCIDR === undefined ? {} : { podCIDR, podCIDRs: [podCIDR] };
  await admin.create({ apiVersion: "v1", kind: "Node", metadata: { name }, spec });
  const status = { addresses: [{ type: "InternalIP", address }] };
  await admin.patch(refTo(Node, { name }), { status }, { subresource: "status" });
  await setConditions(name, { Ready: "True" });
}

async function setConditions(name: string, wanted: Readonly<Record<string, string>>): Promise<void> {
  const list = Object.entries(wanted).map(([type, status]) => ({ type, status, reason: "Test", message: "" }));
  await admin.patch(refTo(Node, { name }), { status: { conditions: list } }, { subresource: "status" });
}

async function conditions(name: string): Promise<Readonly<Record<string, string>>> {
  const { status } = (await admin.read(Node, { name })) ?? expect.fail(`no Node ${name}`);
  return Object.fromEntries((status?.conditions ?? []).map((one) => [one.type, one.status]));
}
