import { isIP } from "node:net";
import { afterAll, describe, expect } from "vitest";
import { CONTROL_PLANE_LABEL } from "../../../src/api/labels.ts";
import type { NodeRole } from "../../../src/api/names.ts";
import { createNodeApprover, type NodeApprover } from "../../../src/gardenadm/node-access/approver.ts";
import {
  CertificateSigningRequest,
  createKubeClient,
  Node,
  refTo,
  renderKubeconfig,
  Secret,
  typeMeta,
  type KubeClient,
} from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { extendingTest as test } from "../../support/cluster-test.ts";
import type { ControlPlane } from "../../support/control-plane.ts";
import {
  craftedKey,
  craftRequest,
  extensionRequest,
  alternativeNames,
  pemOf,
  subjectOf,
} from "../../support/crafted-request.ts";
import { eventually } from "../../support/eventually.ts";
import { hostileNames, hostileRequests, hostileTexts, requestsOf } from "../../support/hostile-requests.ts";
import { startKubernetesSigner, type KubernetesSigner } from "../../support/kubernetes-signer.ts";
import { giveNodeAccess, makeToken, orderMachines } from "../../support/node-access.ts";

const log = createLogger({ name: "test", level: "silent" });

let cluster: ControlPlane;
let approver: NodeApprover;
let signer: KubernetesSigner;
let worker: KubeClient;
const clients: KubeClient[] = [];

test.beforeAll(async ({ cluster: own }) => {
  cluster = own;
  await giveNodeAccess(cluster);
  signer = await startKubernetesSigner(cluster);
  startApprover();
  await makeNode("victim", ["10.0.0.8"], { [CONTROL_PLANE_LABEL]: "" });
  worker = await withToken("worker");
});
afterAll(async () => {
  await Promise.all([approver.stop(), signer.stop(), ...clients.map((client) => client.close())]);
});

const agents = "gardener.cloud:node-agents";
const agent = {
  own: { commonName: "gardener.cloud:node-agent:machine:w0", organizations: [agents, `${agents}:worker`] },
  foreign: { commonName: "gardener.cloud:node-agent:machine:w0", organizations: [agents, `${agents}:control-plane`] },
};
const kubelet = {
  own: { commonName: "system:node:w1", organizations: ["system:nodes"] },
  foreign: { commonName: "system:node:victim", organizations: ["system:nodes"] },
};

describe("a worker's token does not become an agent of the control plane by", () => {
  test.for(Object.entries(hostileTexts(requestsOf(agent))))("%s", async ([, text]) => {
    expect(await verdictOf(await ask(worker, "kube-apiserver-client", text))).toMatch(
      /^Denied: the request is malformed: it is not one PEM/,
    );
  });
  test.for(Object.entries(hostileRequests(agent)))("%s", async ([, request]) => {
    expect(await verdictOf(await ask(worker, "kube-apiserver-client", pemOf(request)))).toMatch(/^Denied: /);
  });
});

describe("a worker's token does not become another node's kubelet by", () => {
  test.for(Object.entries(hostileTexts(requestsOf(kubelet))))("%s", async ([, text]) => {
    expect(await verdictOf(await ask(worker, "kube-apiserver-client-kubelet", text))).toMatch(/^Denied: /);
  });
});

test("a kubelet does not serve under names of others, however it asks for them", async () => {
  const client = await kubeletOf("w1", ["10.0.0.7"]);
  await restartApprover({ longestWait: 0 });
  const requests = hostileNames(kubelet, "10.0.0.7");
  const verdicts = Object.entries(requests).map(async ([what, request]) => {
    expect(await verdictOf(await ask(client, "kubelet-serving", pemOf(request))), what).toMatch(/^Denied: /);
  });
  await Promise.all(verdicts);
  await restartApprover();
});

test("a kubelet serves under no address of another Node, also where its own Node claims it", async () => {
  const client = await kubeletOf("claims", ["10.0.0.9", "10.0.0.8"]);
  const verdict = await verdictOf(await ask(client, "kubelet-serving", pemOf(serving("claims", "10.0.0.8"))));
  expect(verdict).toBe("Denied: 10.0.0.8 is an address of Node victim");
});

test.for([
  ["the API server's name", ["kubernetes.default.svc"], []],
  ["the API server's long name", ["Kubernetes.Default.svc.cluster.local"], []],
  ["the API server's short name", ["kubernetes.default"], []],
  ["a Service of the system", ["metrics-server.kube-system"], []],
  ["every name", ["*"], []],
  ["every name of a domain", ["*.example.org"], []],
  ["the machine itself", ["localhost"], []],
  ["the loopback address", [], ["127.0.0.1"]],
  ["no address", [], ["0.0.0.0"]],
] as const)("a kubelet does not serve as %s, also where its Node claims it", async ([what, names, addresses]) => {
  const node = `serves-${what.replaceAll(/[^a-z]/g, "")}`;
  const client = await kubeletOf(node, [...addresses]);
  const status = {
    addresses: [
      ...names.map((address) => ({ type: "InternalDNS", address })),
      ...addresses.map((address) => ({ type: "InternalIP", address })),
    ],
  };
  await cluster.client.patch(refTo(Node, { name: node }), { status }, { subresource: "status" });
  const asked = pemOf(
    servingFor(node, [...names.map((name) => [0x82, Buffer.from(name)] as const), ...addresses.map(inBytes)]),
  );
  expect(await verdictOf(await ask(client, "kubelet-serving", asked))).toMatch(/^Denied: .* cannot be that of a Node/);
});

test.for([
  "kubernetes.default",
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
  "a.localhost",
  "a.kube-system",
])("a kubelet does not serve as %s, also where its own Node has that name", async (node) => {
  const client = await kubeletOf(node, [node]);
  const asked = pemOf(servingFor(node, [[0x82, Buffer.from(node)]]));
  expect(await verdictOf(await ask(client, "kubelet-serving", asked))).toMatch(/^Denied: .* cannot be that of a Node/);
});

test("a kubelet serves under the name that a cloud has given its machine", async () => {
  const client = await kubeletOf("named", ["10.0.0.11"]);
  const [address, name] = ["10.0.0.11", "ec2-10-0-0-11.example.org"];
  const status = {
    addresses: [
      { type: "InternalIP", address },
      { type: "ExternalDNS", address: name },
    ],
  };
  await cluster.client.patch(refTo(Node, { name: "named" }), { status }, { subresource: "status" });
  const asked = pemOf(servingFor("named", [[0x82, Buffer.from(name)], inBytes(address)]));
  expect(await verdictOf(await ask(client, "kubelet-serving", asked))).toMatch(/^Approved/);
});

test("a kubelet serves under no name of another Node in capitals, also where its own Node claims it", async () => {
  await makeNode("other", ["other.example.org"]);
  const client = await kubeletOf("mimic", ["10.0.0.12", "OTHER.Example.org"]);
  const names = [[0x82, Buffer.from("OTHER.Example.org")] as const];
  const verdict = await verdictOf(await ask(client, "kubelet-serving", pemOf(servingFor("mimic", names))));
  expect(verdict).toBe("Denied: OTHER.Example.org is an address of Node other");
});

test("a kubelet waits for the addresses of its Node, and is denied what its Node does not get", async () => {
  const client = await kubeletOf("waits", []);
  const waiting = await ask(client, "kubelet-serving", pemOf(serving("waits", "10.0.0.10")));
  await restartApprover({ longestWait: 0 });
  expect(await verdictOf(waiting)).toBe("Denied: 10.0.0.10 is not an address of Node waits");
  await restartApprover();
  const again = await ask(client, "kubelet-serving", pemOf(serving("waits", "10.0.0.10")));
  await setAddresses("waits", ["10.0.0.10"]);
  expect(await verdictOf(again)).toMatch(/^Approved/);
});

test("a kubelet does not write the range of pod addresses of its Node", async () => {
  const client = await kubeletNamed("greedy");
  const greedy = {
    ...typeMeta(Node),
    metadata: { name: "greedy" },
    spec: { podCIDR: "0.0.0.0/0", podCIDRs: ["0.0.0.0/0"] },
  };
  await eventually(async () => {
    await expect(client.create(greedy, { dryRun: true })).rejects.toThrow("kube-controller-manager assigns the range");
  });
  const { spec, ...plain } = greedy;
  await client.create(plain);
  await expect(client.patch(refTo(Node, { name: "greedy" }), { spec })).rejects.toThrow("assigns the range");
  await cluster.client.patch(refTo(Node, { name: "greedy" }), {
    spec: { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24"] },
  });
  await client.patch(refTo(Node, { name: "greedy" }), { metadata: { annotations: { a: "b" } } });
});

test("a token asks for nothing but an agent or a kubelet, and people's requests are left alone", async () => {
  const person = pemOf(craftRequest({ subject: subjectOf("alice", ["developers"]) }));
  const left = await Promise.all([
    ask(cluster.client, "kube-apiserver-client", person),
    ask(cluster.client, "kube-apiserver-client", `hello\n${person}`),
  ]);
  expect(await verdictOf(await ask(worker, "kube-apiserver-client", person))).toMatch(/^Denied: .* may not ask signer/);
  for (const name of left)
    expect((await cluster.client.read(CertificateSigningRequest, { name }))?.status?.conditions).toBeUndefined();
});

function startApprover(options?: { longestWait: number }): void {
  approver = createNodeApprover(cluster.client, log, options);
  approver.start();
}

async function restartApprover(options?: { longestWait: number }): Promise<void> {
  await approver.stop();
  startApprover(options);
}

const serving = (node: string, address: string): Buffer => servingFor(node, [inBytes(address)]);

const servingFor = (node: string, names: readonly (readonly [tag: number, value: Buffer])[]): Buffer =>
  craftRequest({
    subject: subjectOf(`system:node:${node}`, ["system:nodes"]),
    attributes: [extensionRequest(alternativeNames(...names))],
  });

const inBytes = (address: string) => [0x87, Buffer.from(address.split(".").map(Number))] as const;

async function makeNode(name: string, addresses: string[], labels: Record<string, string> = {}): Promise<void> {
  await cluster.client.create({ ...typeMeta(Node), metadata: { name, labels } });
  await setAddresses(name, addresses);
}

async function setAddresses(name: string, addresses: string[]): Promise<void> {
  const typeOf = (address: string) => (isIP(address) === 0 ? "Hostname" : "InternalIP");
  const status = { addresses: addresses.map((address) => ({ type: typeOf(address), address })) };
  await cluster.client.patch(refTo(Node, { name }), { status }, { subresource: "status" });
}

function opened(parts: { token: string } | { clientCert: string; clientKey: string }): KubeClient {
  const { server } = cluster.client;
  const client = createKubeClient({
    kubeconfig: renderKubeconfig({ server, ca: cluster.authority.certificate, ...parts }),
  });
  clients.push(client);
  return client;
}

/** A client with a token of this role, which the API server knows by now. */
async function withToken(role: NodeRole): Promise<KubeClient> {
  const name = await orderMachines(cluster, role, {});
  const client = opened({ token: await makeToken(cluster, role) });
  await eventually(async () => await client.read(Secret, { namespace: "kube-system", name }));
  return client;
}

/** A client with the certificate of a kubelet that has joined as a worker, and its Node with these addresses. */
async function kubeletOf(node: string, addresses: string[]): Promise<KubeClient> {
  await makeNode(node, addresses);
  return await kubeletNamed(node);
}

/** A client with the certificate of a kubelet that has joined as a worker. */
async function kubeletNamed(node: string): Promise<KubeClient> {
  const pem = pemOf(craftRequest({ subject: subjectOf(`system:node:${node}`, ["system:nodes"]) }));
  const name = await ask(worker, "kube-apiserver-client-kubelet", pem);
  const encoded = await eventually(async () => {
    const found = await cluster.client.read(CertificateSigningRequest, { name });
    return found?.status?.certificate ?? false;
  });
  return opened({ clientCert: Buffer.from(encoded, "base64").toString(), clientKey: craftedKey });
}

let asked = 0;

/** Creates a request; returns its name. */
async function ask(client: KubeClient, signerName: string, pem: string): Promise<string> {
  const name = `request-${asked++}`;
  const side = signerName === "kubelet-serving" ? "server auth" : "client auth";
  await client.create<CertificateSigningRequest>({
    ...typeMeta(CertificateSigningRequest),
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString("base64"),
      signerName: `kubernetes.io/${signerName}`,
      usages: ["digital signature", side],
    },
  });
  return name;
}

/** The decision on a request, and why. Waits for it. */
async function verdictOf(name: string): Promise<string> {
  return await eventually(async () => {
    const request = await cluster.client.read(CertificateSigningRequest, { name });
    const [condition] = request?.status?.conditions ?? [];
    return condition !== undefined && `${condition.type}: ${condition.message ?? ""}`;
  });
}
