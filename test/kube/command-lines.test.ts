import "reflect-metadata";
import { webcrypto, X509Certificate } from "node:crypto";
import { Pkcs10CertificateRequestGenerator } from "@peculiar/x509";
import { afterAll, expect } from "vitest";
import { bootstrapTokenSecret } from "../../src/activities/secrets/bootstrap-token.ts";
import { ensureSecrets } from "../../src/activities/secrets/secrets.ts";
import type { KubeObject } from "../../src/api/index.ts";
import { components, nodeAgentSecret, operatingSystemConfigs, poolsOf } from "../../src/components/index.ts";
import { createKubeClient, defineKind, parseKubeconfig, refTo, Secret, type KubeClient } from "../../src/kube/index.ts";
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

test("a machine reads its configuration with the bootstrap token, and gets a certificate of the client CA", async () => {
  const token = await tokenOf();
  await gardener.apply(bootstrapTokenSecret(token));
  for (const object of components["node-bootstrap"].objects(context)) await gardener.apply(object);
  const names: string[] = [];
  for (const pool of poolsOf(context)) {
    for (const config of operatingSystemConfigs(context, pool).slice(1)) {
      const { metadata } = await gardener.apply(nodeAgentSecret(context, pool, config, () => ""));
      names.push(metadata.name);
    }
  }
  const machine = await machineClient();
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

async function tokenOf() {
  const { "token-id": id = "", "token-secret": secretPart = "" } = await dataOf("bootstrap-token");
  return { id, secret: secretPart };
}

/** Kubeconfigs that lead to a public name, for use where that name is not known. */
async function shootClientAs(name: string): Promise<KubeClient> {
  const { server } = parseKubeconfig(await shoot.kubeconfig("gardener-internal"));
  const kubeconfig = (await shoot.kubeconfig(name)).replace(/server: .*/, `server: ${server}`);
  return createKubeClient({ kubeconfig });
}

const machineClient = () => shootClientAs("bootstrap-token");

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
