import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { describe, expect } from "vitest";
import { CONTROL_PLANE_LABEL, NODE_ROLE_LABEL } from "../../../src/api/labels.ts";
import { nodeAgentLeaseName, serialLeaseName, type NodeRole } from "../../../src/api/names.ts";
import { createClientRequest } from "../../../src/activities/secrets/certificate-request.ts";
import { createNodeApprover, type NodeApprover } from "../../../src/gardenadm/node-access/approver.ts";
import { ensureCredentials } from "../../../src/gardenadm/node-agent/credentials.ts";
import { requestCertificate } from "../../../src/gardenadm/node-agent/request-certificate.ts";
import {
  CertificateSigningRequest,
  createKubeClient,
  Lease,
  Node,
  refTo,
  renderKubeconfig,
  Secret,
  typeMeta,
  type KubeClient,
} from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { servingCertificateRequest } from "../../support/certificate-requests.ts";
import { extendingTest as test } from "../../support/cluster-test.ts";
import type { ControlPlane } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { startKubernetesSigner, type KubernetesSigner } from "../../support/kubernetes-signer.ts";
import { giveNodeAccess, joiningMachine, makeToken, orderMachines } from "../../support/node-access.ts";

const namespace = "kube-system";
const log = createLogger({ name: "test", level: "silent" });
const { signal } = new AbortController();

let cluster: ControlPlane;
let approver: NodeApprover;
let signer: KubernetesSigner;
const secretNames: Record<NodeRole, string> = { worker: "", "control-plane": "" };
const clients: KubeClient[] = [];
const folders: string[] = [];

test.beforeAll(async ({ cluster: own }) => {
  cluster = own;
  await giveNodeAccess(cluster);
  for (const role of ["worker", "control-plane"] as const) secretNames[role] = await orderMachines(cluster, role, {});
  for (const name of ["ca-client", "ca", "service-account-key", "gardener", "etcd-server-a"])
    await cluster.client.create<Secret>({ ...typeMeta(Secret), metadata: { name, namespace }, data: { key: "a2V5" } });
  await makeNode("a", { [CONTROL_PLANE_LABEL]: "" });
  approver = createNodeApprover(cluster.client, log);
  approver.start();
  signer = await startKubernetesSigner(cluster);
});

test.afterAll(async () => {
  await Promise.all([approver.stop(), signer.stop(), ...clients.map((client) => client.close())]);
  for (const folder of folders) await rm(folder, { recursive: true });
});

describe("what a machine may read", () => {
  test.for(["token", "certificate"] as const)(
    "is, with the %s of a worker, what workers are given and no other Secret there is",
    async (by) => {
      const client = by === "token" ? await withToken("worker") : await agentOf(`reads-${by}`, "worker");
      expect(await readable(client)).toEqual([secretNames.worker]);
    },
  );

  test.for(["token", "certificate"] as const)(
    "is, with the %s of a control-plane node, what the control plane is given",
    async (by) => {
      const client = by === "token" ? await withToken("control-plane") : await agentOf(`rules-${by}`, "control-plane");
      expect(await readable(client)).toEqual([secretNames["control-plane"]]);
    },
  );

  test("cannot be listed, by a worker, beside its own", async () => {
    const client = await agentOf("lists", "worker");
    await expect(client.list(Secret, { namespace })).rejects.toThrow("forbidden");
    const fieldSelector = `metadata.name=${secretNames.worker}`;
    expect(await client.list(Secret, { namespace, fieldSelector })).toHaveLength(1);
    const others = `metadata.name=${secretNames["control-plane"]}`;
    await expect(client.list(Secret, { namespace, fieldSelector: others })).rejects.toThrow("forbidden");
  });
});

describe("a worker's token does not become", () => {
  const agent = (name: string) => `gardener.cloud:node-agent:machine:${name}`;
  const agents = "gardener.cloud:node-agents";

  test.for([
    ["an agent of the control plane", agent("t1"), [agents, `${agents}:control-plane`]],
    ["an agent of both", agent("t2"), [agents, `${agents}:worker`, `${agents}:control-plane`]],
    ["an administrator", agent("t3"), [agents, `${agents}:worker`, "gardener.cloud:system:admins"]],
    ["the agent of a control-plane node", agent("a"), [agents, `${agents}:worker`]],
    ["one that takes the turns of a pool", agent("serial-cp"), [agents, `${agents}:worker`]],
    ["an agent without a role", agent("t4"), [agents]],
  ] as const)("%s", async ([, user, groups]) => {
    const client = await withToken("worker");
    await expect(requestCertificate(client, user, groups, signal)).rejects.toThrow("was denied");
  });

  test("the kubelet of a control-plane node, nor of one that is still to come", async () => {
    const client = await withToken("worker");
    expect(await verdictOf(await askAsKubelet(client, "a"))).toBe("Denied");
    expect(await verdictOf(await askAsKubelet(await withToken("control-plane"), "b"))).toBe("Approved");
    expect(await verdictOf(await askAsKubelet(client, "b"))).toBe("Denied");
    expect(await verdictOf(await askAsKubelet(client, "w"))).toBe("Approved");
    expect(await verdictOf(await askAsKubelet(await withToken("control-plane"), "w"))).toBe("Denied");
  });

  test("anything, where the token has no role", async () => {
    const secret = await makeToken(cluster, "worker");
    const ref = refTo(Secret, { namespace, name: `bootstrap-token-${secret.slice(0, 6)}` });
    await cluster.client.patch(ref, { data: { "auth-extra-groups": null } });
    const client = clientWith(secret);
    const ask = async () => {
      const name = await askAsKubelet(client, "roleless");
      const request = await cluster.client.read(CertificateSigningRequest, { name });
      return request?.spec.groups?.every((group) => !group.includes("gardenadm")) === true && name;
    };
    expect(await verdictOf(await eventually(ask))).toBe("Denied");
  });
});

describe("an agent", () => {
  test("renews as what it is, and as nothing else", async () => {
    const client = await agentOf("renews", "worker");
    const [user, other] = ["renews", "another"].map((name) => `gardener.cloud:node-agent:machine:${name}`);
    const groups = ["gardener.cloud:node-agents", "gardener.cloud:node-agents:worker"];
    await expect(requestCertificate(client, user ?? "", groups, signal)).resolves.toHaveProperty("key");
    await expect(requestCertificate(client, other ?? "", groups, signal)).rejects.toThrow("agent of another machine");
    const more = [groups[0] ?? "", "gardener.cloud:node-agents:control-plane"];
    await expect(requestCertificate(client, user ?? "", more, signal)).rejects.toThrow("may not ask for groups");
  });

  test("says on its own Node what the machine was made, and changes no other and nothing else", async () => {
    await makeNode("says");
    const client = await agentOf("says", "worker");
    const [own, other] = [refTo(Node, { name: "says" }), refTo(Node, { name: "a" })];
    const annotations = { metadata: { annotations: { "checksum/cloud-config-data": "1" } } };
    await eventually(async () => await client.patch(own, annotations));
    await expect(client.patch(other, annotations)).rejects.toThrow("its own Node only");
    const labels = { metadata: { labels: { [CONTROL_PLANE_LABEL]: "" } } };
    await expect(client.patch(own, labels)).rejects.toThrow("annotations of its Node only");
    await expect(client.patch(own, { spec: { unschedulable: true } })).rejects.toThrow("annotations of its Node only");
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "none", uid: randomUUID() }];
    await expect(client.patch(own, { metadata: { ownerReferences } })).rejects.toThrow("no owner and no finalizer");
    await expect(client.remove(own)).rejects.toThrow("forbidden");
  });

  test("renews its own Lease, and does not say what role it has", async () => {
    const client = await agentOf("beats", "worker");
    const lease = await client.read(Lease, { namespace, name: nodeAgentLeaseName("beats") });
    expect(lease?.metadata.labels).toEqual({ [NODE_ROLE_LABEL]: "worker" });
    if (lease === undefined) return expect.fail("there is no Lease");
    const renewed = await client.replace<Lease>({ ...lease, spec: { holderIdentity: "beats" } });
    const metadata = { ...renewed.metadata, labels: { [NODE_ROLE_LABEL]: "control-plane" } };
    await expect(client.replace<Lease>({ ...renewed, metadata })).rejects.toThrow("its own Lease only");
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "none", uid: randomUUID() }];
    for (const added of [{ ownerReferences }, { finalizers: ["example.com/x"] }])
      await expect(client.replace<Lease>({ ...renewed, metadata: { ...renewed.metadata, ...added } })).rejects.toThrow(
        "a node agent changes no owner and no finalizer",
      );
    await agentOf("other", "worker");
    const another = await client.read(Lease, { namespace, name: nodeAgentLeaseName("other") });
    if (another === undefined) return expect.fail("there is no Lease");
    await expect(client.replace<Lease>(another)).rejects.toThrow("its own Lease only");
  });

  test("of a worker takes no turn among the nodes of the control plane, whose agents do", async () => {
    const lease = { ...typeMeta(Lease), metadata: { namespace, name: serialLeaseName("cp") }, spec: {} };
    await expect((await agentOf("pushes", "worker")).create<Lease>(lease)).rejects.toThrow("no turn to take");
    await expect((await agentOf("rules", "control-plane")).create<Lease>(lease)).resolves.toHaveProperty("metadata");
  });
});

test("a kubelet serves under the names of its Node, and not under those of another", async () => {
  await makeNode("serves", {}, ["10.0.0.7"]);
  await makeNode("victim", {}, ["10.0.0.8"]);
  const { certificate, key } = await kubeletCertificate("serves");
  const client = opened(
    renderKubeconfig({
      server: cluster.client.server,
      ca: cluster.authority.certificate,
      clientCert: certificate,
      clientKey: key,
    }),
  );
  await client.create(await servingCertificateRequest("own", { node: "serves", hosts: ["serves", "10.0.0.7"] }));
  await client.create(await servingCertificateRequest("foreign", { node: "serves", hosts: ["serves", "10.0.0.8"] }));
  expect(await verdictOf("own")).toBe("Approved");
  expect(await verdictOf("foreign")).toBe("Denied");
});

/** The names of the Secrets, of all that there are, that a client can read. */
async function readable(client: KubeClient): Promise<string[]> {
  const all = await cluster.client.list(Secret, { namespace });
  const tried = all.map(async ({ metadata: { name } }) => {
    const found = await client.read(Secret, { namespace, name }).catch((error: Error) => {
      expect(error.message).toContain("forbidden");
      return undefined;
    });
    return found === undefined ? [] : [name];
  });
  return (await Promise.all(tried)).flat();
}

async function makeNode(name: string, labels: Record<string, string> = {}, addresses: string[] = []): Promise<void> {
  const node = { ...typeMeta(Node), metadata: { name, labels } };
  const status = {
    addresses: [{ type: "Hostname", address: name }, ...addresses.map((address) => ({ type: "InternalIP", address }))],
  };
  await cluster.client.create(node);
  await cluster.client.patch(refTo(Node, { name }), { status }, { subresource: "status" });
}

function opened(kubeconfig: string): KubeClient {
  const client = createKubeClient({ kubeconfig });
  clients.push(client);
  return client;
}

const clientWith = (token: string): KubeClient =>
  opened(renderKubeconfig({ server: cluster.client.server, ca: cluster.authority.certificate, token }));

/** A client with a token of this role, which the API server knows by now. */
async function withToken(role: NodeRole): Promise<KubeClient> {
  const client = clientWith(await makeToken(cluster, role));
  await eventually(async () => await client.read(Secret, { namespace, name: secretNames[role] }));
  return client;
}

/** A client with the certificate that the agent of a machine gets by a token. */
async function agentOf(node: string, role: NodeRole): Promise<KubeClient> {
  const token = await makeToken(cluster, role);
  const { dir, identity } = await joiningMachine(cluster, { node, role, secretName: secretNames[role], token });
  folders.push(dir);
  await eventually(async () => await ensureCredentials(identity, Date.now(), signal));
  const client = createKubeClient({ file: identity.places.kubeconfig });
  clients.push(client);
  return client;
}

let asked = 0;

/** Asks for the client certificate of a kubelet; the name of the request. */
async function askAsKubelet(client: KubeClient, node: string): Promise<string> {
  const { request } = await createClientRequest(`system:node:${node}`, ["system:nodes"]);
  const name = `kubelet-${asked++}`;
  await client.create<CertificateSigningRequest>({
    ...typeMeta(CertificateSigningRequest),
    metadata: { name },
    spec: {
      request: Buffer.from(request).toString("base64"),
      signerName: "kubernetes.io/kube-apiserver-client-kubelet",
      usages: ["digital signature", "client auth"],
    },
  });
  return name;
}

async function verdictOf(name: string): Promise<string> {
  return await eventually(async () => {
    const request = await cluster.client.read(CertificateSigningRequest, { name });
    return request?.status?.conditions?.[0]?.type ?? false;
  });
}

/** What a kubelet has that joined by a worker's token. */
async function kubeletCertificate(node: string): Promise<{ certificate: string; key: string }> {
  const { request, key } = await createClientRequest(`system:node:${node}`, ["system:nodes"]);
  const name = `kubelet-${asked++}`;
  await (
    await withToken("worker")
  ).create<CertificateSigningRequest>({
    ...typeMeta(CertificateSigningRequest),
    metadata: { name },
    spec: {
      request: Buffer.from(request).toString("base64"),
      signerName: "kubernetes.io/kube-apiserver-client-kubelet",
      usages: ["digital signature", "client auth"],
    },
  });
  const encoded = await eventually(async () => {
    const found = await cluster.client.read(CertificateSigningRequest, { name });
    return found?.status?.certificate ?? false;
  });
  return { certificate: Buffer.from(encoded, "base64").toString(), key };
}
