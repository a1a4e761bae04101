import "reflect-metadata";
import { webcrypto, X509Certificate } from "node:crypto";
import { Pkcs10CertificateRequestGenerator } from "@peculiar/x509";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { issueCertificate } from "../../src/activities/secrets/pki.ts";
import { ensureSecrets } from "../../src/activities/secrets/secrets.ts";
import type { KubeObject } from "../../src/api/index.ts";
import { components, nodeAgentSecret, operatingSystemConfigs, poolsOf } from "../../src/components/index.ts";
import {
  ConfigMap,
  createKubeClient,
  defineKind,
  Node,
  parseKubeconfig,
  Pod,
  refTo,
  renderKubeconfig,
  Secret,
  ServiceAccount,
  type KubeClient,
} from "../../src/kube/index.ts";
import { ensureBootstrapToken } from "../../src/provider-local/worker/bootstrap-token.ts";
import { exampleContext } from "../support/control-plane-context.ts";
import { test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { startShootControlPlane, type ShootControlPlane } from "../support/shoot-control-plane.ts";

const context = exampleContext();
const secret = (name: string) => refTo(Secret, { namespace: context.namespace, name });
const EndpointSlice = defineKind<KubeObject>({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  scope: "Namespaced",
});
const CertificateSigningRequest = defineKind<CertificateSigningRequest, "Cluster">({
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  scope: "Cluster",
});
const Lease = defineKind<KubeObject>({ apiVersion: "coordination.k8s.io/v1", kind: "Lease", scope: "Namespaced" });
interface CertificateSigningRequest extends KubeObject {
  readonly status: { readonly certificate?: string };
}
let seed: ControlPlane;
let shoot: ShootControlPlane;
let gardener: KubeClient;

test.beforeAll(async ({ cluster }) => {
  seed = cluster;
  for (const object of components.namespace.objects(context)) await seed.client.apply(object);
  await ensureSecrets(seed.client, context);
  shoot = await startShootControlPlane(seed.client, context);
  gardener = await shoot.client("gardener-internal");
});

afterAll(async () => {
  await gardener.close();
  await shoot.stop();
});

test("every component starts with the command line and the Secrets that we deploy", async () => {
  expect(await shoot.probe("kube-apiserver", "/livez")).toBe(200);
  expect(await shoot.probe("kube-controller-manager", "/healthz")).toBe(200);
  expect(await shoot.probe("kube-scheduler", "/healthz")).toBe(200);
});

test("the controller manager gives each namespace the authority of the Shoot's API server", async () => {
  const published = refTo(ConfigMap, { namespace: "default", name: "kube-root-ca.crt" });
  await eventually(async () => expect(await gardener.read(published)).toBeDefined());
  expect((await gardener.read(published))?.data).toEqual({ "ca.crt": (await dataOf("ca"))["ca.crt"] });
});

test("the scheduler gives a pod its node", async () => {
  await gardener.apply({ apiVersion: "v1", kind: "Node", metadata: { name: "free" } });
  const status = { allocatable: { pods: "10" }, capacity: { pods: "10" } };
  await gardener.patch(refTo(Node, { name: "free" }), { status }, { subresource: "status" });
  const metadata = { namespace: "default", name: "waits" };
  await eventually(async () =>
    expect(await gardener.read(ServiceAccount, { ...metadata, name: "default" })).toBeDefined(),
  );
  const containers = [{ name: "main", image: "example.org/image" }];
  const spec = { containers, tolerations: [{ operator: "Exists" }] };
  await gardener.apply({ apiVersion: "v1", kind: "Pod", metadata, spec });
  await eventually(async () =>
    expect(await gardener.read(Pod, metadata)).toMatchObject({ spec: { nodeName: "free" } }),
  );
  await gardener.remove(refTo(Pod, metadata));
  await gardener.remove(refTo(Node, { name: "free" }));
});

test("anonymous requests reach the health endpoints and nothing else", async () => {
  expect(await shoot.probe("kube-apiserver", "/readyz")).toBe(200);
  expect(await shoot.probe("kube-apiserver", "/version")).toBe(401);
  expect(await shoot.probe("kube-apiserver", "/api")).toBe(401);
});

test("the Shoot accepts every object that we deploy into it, and knows its own endpoint", async () => {
  for (const { target, objects } of Object.values(components)) {
    if (target === "shoot") for (const object of objects(context)) await gardener.apply(object);
  }
  const slices = await gardener.list(EndpointSlice, { namespace: "default" });
  expect(slices).toMatchObject([{ metadata: { name: "kubernetes" }, endpoints: [{ addresses: ["172.30.128.1"] }] }]);
});

test("a machine reads its configuration with its own token, and gets a certificate of the client CA", async () => {
  const names = await deployMachineRights();
  const machine = await clientWith({ token: await ensureBootstrapToken(gardener, "node-1") });
  for (const name of names) {
    const found = await eventually(async () => {
      const read = await machine.read(Secret, { namespace: "kube-system", name });
      return read ?? Promise.reject(new Error("is not there yet"));
    });
    expect(found.metadata.name).toBe(name);
  }
  await expect(machine.list(Secret)).rejects.toThrow("forbidden");

  await machine.create(await certificateRequest("node-1"));
  const certificate = await eventually(async () => {
    const { status } = (await gardener.read(CertificateSigningRequest, { name: "node-1" })) ?? {};
    if (!status?.certificate) throw new Error(`no certificate yet: ${JSON.stringify(status)}`);
    return new X509Certificate(Buffer.from(status.certificate, "base64"));
  }, 30_000);
  const { "ca.crt": authority = "" } = await dataOf("ca-client");
  expect(certificate.verify(new X509Certificate(authority).publicKey)).toBe(true);
  await machine.close();
});

test("a machine's token is its own, is used again while it lasts, and no longer counts once it has expired", async () => {
  const first = await ensureBootstrapToken(gardener, "one");
  expect(await ensureBootstrapToken(gardener, "one")).toBe(first);
  expect(await ensureBootstrapToken(gardener, "two")).not.toBe(first);
  const later = new Date(Date.now() + 11 * 60_000);
  expect(await ensureBootstrapToken(gardener, "one", later)).not.toBe(first);

  const ago = new Date(Date.now() - 60 * 60_000);
  const expired = await clientWith({ token: await ensureBootstrapToken(gardener, "three", ago) });
  await expect(expired.create(await certificateRequest("node-3"))).rejects.toThrow(/401|Unauthorized/);
  await expired.close();
});

describe("a node agent", () => {
  const labelled = (machine: string) => ({ metadata: { labels: { "node.gardener.cloud/machine-name": machine } } });
  const lease = (name: string) => ({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace: "kube-system" },
    spec: { holderIdentity: "one" },
  });
  let agent: KubeClient;
  let names: readonly string[];

  beforeAll(async () => {
    names = await deployMachineRights();
    for (const name of ["node-a", "node-b", "node-c"])
      await gardener.apply({ apiVersion: "v1", kind: "Node", metadata: { name } });
    await gardener.patch(refTo(Node, { name: "node-a" }), labelled("one"));
    await gardener.patch(refTo(Node, { name: "node-b" }), labelled("two"));
    agent = await agentOf("one");
    // The policy counts a moment after it is there.
    await eventually(() => expect(agent.patch(refTo(Node, { name: "node-b" }), taint)).rejects.toThrow(notItsOwn));
  });

  afterAll(() => agent.close());

  const taint = { spec: { taints: [{ key: "a", effect: "NoExecute" }] } };
  const notItsOwn = "a node agent changes the Node of its own machine only";

  test("reads its pool's configuration and no other Secret", async () => {
    for (const name of names)
      expect((await agent.read(Secret, { namespace: "kube-system", name }))?.metadata.name).toBe(name);
    await gardener.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "other", namespace: "kube-system" } });
    await expect(agent.read(Secret, { namespace: "kube-system", name: "other" })).rejects.toThrow("forbidden");
    await expect(agent.list(Secret, { namespace: "kube-system" })).rejects.toThrow("forbidden");
  });

  test("changes the Node of its machine, once that is known to be its own", async () => {
    await agent.patch(refTo(Node, { name: "node-a" }), {
      metadata: { annotations: { "checksum/cloud-config-data": "1" } },
    });
    for (const name of ["node-b", "node-c"])
      await expect(agent.patch(refTo(Node, { name }), taint)).rejects.toThrow(notItsOwn);
    const status = { status: { conditions: [] } };
    await expect(agent.patch(refTo(Node, { name: "node-b" }), status, { subresource: "status" })).rejects.toThrow(
      notItsOwn,
    );
  });

  test("makes no other Node its own, and does not give its own away", async () => {
    await expect(agent.patch(refTo(Node, { name: "node-c" }), labelled("one"))).rejects.toThrow(notItsOwn);
    await expect(agent.patch(refTo(Node, { name: "node-a" }), labelled("two"))).rejects.toThrow(notItsOwn);
  });

  test("holds leases of node agents, and not the one that leads the control plane", async () => {
    await agent.create(lease("gardener-node-agent-node-a"));
    await expect(agent.create(lease("kube-scheduler-x"))).rejects.toThrow("holds leases of node agents only");
    const leader = refTo(Lease, { namespace: "kube-system", name: "kube-scheduler" });
    await eventually(async () => expect(await gardener.read(leader)).toBeDefined());
    const { metadata } = (await gardener.read(leader)) ?? lease("kube-scheduler");
    const change = agent.replace({ ...lease("kube-scheduler"), metadata });
    await expect(change).rejects.toThrow("holds leases of node agents only");
  });

  test("that names no machine changes nothing", async () => {
    const nobody = await agentOf("");
    await gardener.patch(refTo(Node, { name: "node-c" }), labelled(""));
    await expect(nobody.patch(refTo(Node, { name: "node-c" }), taint)).rejects.toThrow("acts for one machine");
    await nobody.close();
  });
});

test("service account tokens name the Shoot's own issuer", async () => {
  const document = await gardener.get("/.well-known/openid-configuration");
  const issuer = "https://api.example.dev.internal.perennial.test";
  expect(document).toMatchObject({ issuer, jwks_uri: `${issuer}/openid/v1/jwks` });
});

async function dataOf(name: string): Promise<Record<string, string>> {
  const found = await seed.client.read(secret(name));
  return Object.fromEntries(
    Object.entries(found?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
  );
}

/** What machines may do in the Shoot, and the Secrets that they read; the names of these. */
async function deployMachineRights(): Promise<string[]> {
  for (const object of components["node-bootstrap"].objects(context)) await gardener.apply(object);
  const secrets = poolsOf(context).flatMap((pool) =>
    operatingSystemConfigs(context, pool)
      .slice(1)
      .map((config) => nodeAgentSecret(context, pool, config, () => "")),
  );
  for (const each of secrets) await gardener.apply(each);
  return secrets.map(({ metadata }) => metadata.name);
}

/** Upstream's agent has a certificate for itself and its machine. */
async function agentOf(machine: string): Promise<KubeClient> {
  const { "ca.crt": certificate = "", "ca.key": key = "" } = await dataOf("ca-client");
  const commonName = `gardener.cloud:node-agent:machine:${machine}`;
  const request = { commonName, organizations: ["gardener.cloud:node-agents"], usages: ["client"] as const };
  const issued = await issueCertificate({ certificate, key }, request, new Date());
  return clientWith({ clientCert: issued.certificate, clientKey: issued.key });
}

/** A client of the Shoot for someone else than its administrator. */
async function clientWith(
  identity: { token: string } | { clientCert: string; clientKey: string },
): Promise<KubeClient> {
  const { server } = parseKubeconfig(await shoot.kubeconfig("gardener-internal"));
  const { "ca.crt": ca = "" } = await dataOf("ca");
  return createKubeClient({ kubeconfig: renderKubeconfig({ server, ca, ...identity }) });
}

async function certificateRequest(node: string): Promise<KubeObject> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const name = [{ O: ["system:nodes"] }, { CN: [`system:node:${node}`] }];
  const request = await Pkcs10CertificateRequestGenerator.create(
    { name, keys, signingAlgorithm: algorithm },
    webcrypto,
  );
  return {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: node },
    spec: {
      request: Buffer.from(request.toString("pem")).toString("base64"),
      signerName: "kubernetes.io/kube-apiserver-client-kubelet",
      usages: ["digital signature", "client auth"],
    },
  };
}
