import { X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { requestToken } from "../../../src/activities/control-plane/service-account-token.ts";
import { issueCertificate } from "../../../src/activities/secrets/pki.ts";
import { ensureSecrets } from "../../../src/activities/secrets/secrets.ts";
import type { KubeObject } from "../../../src/api/index.ts";
import { components, type ControlPlaneContext } from "../../../src/components/index.ts";
import {
  CertificateSigningRequest,
  createKubeClient,
  Node,
  parseKubeconfig,
  refTo,
  renderKubeconfig,
  Secret,
  ServiceAccount,
  type KubeClient,
} from "../../../src/kube/index.ts";
import { applyUpstreamCrds } from "../../../src/local/cluster/manifests.ts";
import { readManifest } from "../../../src/manifests.ts";
import { servingCertificateRequest } from "../../support/certificate-requests.ts";
import type { Child } from "../../support/child.ts";
import { exampleContext } from "../../support/control-plane-context.ts";
import { startControlPlane, type ControlPlane } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { startResourceManager } from "../../support/resource-manager.ts";
import { startShootControlPlane, type ShootControlPlane } from "../../support/shoot-control-plane.ts";

/**
 * Upstream's resource manager beside a control plane of ours: with the rights that it has there, with its certificate for
 * the Shoot, and a Shoot's API server with the command line that we deploy.
 */
const context: ControlPlaneContext = exampleContext({ namespace: "shoot--dev--entered", managesResources: true });
const { namespace } = context;
let directory: string;
let seed: ControlPlane;
let shoot: ShootControlPlane;
let gardener: KubeClient;
let manager: Child;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "perennial-upstream-"));
  seed = await startControlPlane();
  await applyUpstreamCrds(seed.client);
  const roles = await readManifest("seed/worker-rbac.yaml");
  await seed.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await ensureSecrets(seed.client, context);
  for (const object of [...roles.filter(({ kind }) => kind === "ClusterRole"), ...ofManager(beside)])
    await seed.client.apply(object);
  shoot = await startShootControlPlane(seed.client, context);
  gardener = await shoot.client("gardener");
  for (const name of ["gardener-access", "node-bootstrap"] as const)
    for (const object of components[name].objects(context)) await gardener.apply(object);
  const server = await seed.client.read(Secret, { namespace, name: "gardener-resource-manager-server" });
  manager = await startResourceManager(join(directory, "manager"), ofManager(configuration)[0], {
    source: await fileOf("source", await withOwnRights()),
    target: await fileOf("target", await shoot.kubeconfig("gardener-resource-manager")),
    server: server?.data ?? {},
  });
});

afterAll(async () => {
  await manager.kill();
  await gardener.close();
  await shoot.stop();
  await seed.stop();
  await rm(directory, { recursive: true });
});

test("an access Secret is filled, opens the Shoot with the generic kubeconfig, and no more once its account is gone", async () => {
  await seed.client.create(accessSecret("example"));
  const token = await eventually(async () => {
    const found = await seed.client.read(Secret, { namespace, name: "shoot-access-example" });
    return textOf(found?.data?.["token"]) || expect.fail("it has no token yet");
  }, 30_000);
  const visitor = createKubeClient({ file: await enteringWith(token) });
  const look = () => visitor.read(Secret, { namespace: "kube-system", name: "any" });
  await expect(look()).rejects.toThrow(/system:serviceaccount:kube-system:example.* cannot get/); // known, without rights
  await gardener.remove(refTo(ServiceAccount, { namespace: "kube-system", name: "example" }));
  await eventually(() => expect(look()).rejects.toMatchObject({ status: 401 }), 30_000);
  await visitor.close();
});

test("a kubelet gets a certificate of the kubelets' authority for what its Node says it is, and is denied another's address", async () => {
  await gardener.create({ ...{ apiVersion: "v1", kind: "Node" }, metadata: { name: "one" } });
  const addresses = [
    { type: "InternalIP", address: "10.250.0.7" },
    { type: "Hostname", address: "one" },
  ];
  await gardener.patch(refTo(Node, { name: "one" }), { status: { addresses } }, { subresource: "status" });
  const kubelet = createKubeClient({ kubeconfig: await asNode("one") });
  const ask = async (name: string, host: string) =>
    await kubelet.create(await servingCertificateRequest(name, { node: "one", hosts: ["one", host] }));
  const read = async (name: string) => (await gardener.read(CertificateSigningRequest, { name }))?.status;
  await ask("own", "10.250.0.7");
  await ask("foreign", "10.250.0.8");
  const issued = await eventually(async () => (await read("own"))?.certificate ?? false, 30_000);
  const authority = await seed.client.read(Secret, { namespace, name: "ca-kubelet" });
  const certificate = new X509Certificate(textOf(issued));
  expect(certificate.verify(new X509Certificate(textOf(authority?.data?.["ca.crt"])).publicKey)).toBe(true);
  expect(certificate.checkIP("10.250.0.7")).toBe("10.250.0.7");
  await eventually(async () => expect((await read("foreign"))?.conditions).toMatchObject([{ type: "Denied" }]));
  await kubelet.close();
});

/** A kubeconfig for a kubelet that has joined as this node. */
async function asNode(name: string): Promise<string> {
  const read = async (secret: string) => (await seed.client.read(Secret, { namespace, name: secret }))?.data ?? {};
  const { "ca.crt": certificate, "ca.key": key } = await read("ca-client");
  const request = { commonName: `system:node:${name}`, organizations: ["system:nodes"], usages: ["client"] } as const;
  const pair = await issueCertificate({ certificate: textOf(certificate), key: textOf(key) }, request, new Date());
  const { server } = parseKubeconfig(await shoot.kubeconfig("gardener"));
  const ca = textOf((await read("ca"))["ca.crt"]);
  return renderKubeconfig({ server, ca, clientCert: pair.certificate, clientKey: pair.key });
}

const accessSecret = (name: string): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    namespace,
    name: `shoot-access-${name}`,
    labels: { "resources.gardener.cloud/purpose": "token-requestor", "resources.gardener.cloud/class": "shoot" },
    annotations: {
      "serviceaccount.resources.gardener.cloud/name": name,
      "serviceaccount.resources.gardener.cloud/namespace": "kube-system",
    },
  },
  type: "Opaque",
});

/** The kubeconfig, as a file, as an extension's pod mounts it; the token's file holds this one, and its server is here. */
async function enteringWith(token: string): Promise<string> {
  const [generic] = await seed.client.list(Secret, { namespace, labelSelector: "name=generic-token-kubeconfig" });
  const here = await shoot.kubeconfig(generic?.metadata.name ?? "");
  const file = /tokenFile: (\S+)/.exec(here)?.[1] ?? "";
  expect(file).toBe("/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig/token");
  return await fileOf("kubeconfig", here.replace(file, await fileOf("token", token)));
}

const ofManager = (which: (object: KubeObject) => boolean) =>
  components["resource-manager"].objects(context).filter(which);
const beside = ({ kind }: KubeObject) => kind === "ServiceAccount" || kind === "RoleBinding";
const configuration = ({ kind }: KubeObject) => kind === "ConfigMap";

/** A kubeconfig for the seed with the rights of the resource manager's own account. */
async function withOwnRights(): Promise<string> {
  const [account] = ofManager(({ kind }) => kind === "ServiceAccount");
  const token = await requestToken(seed.client, account ?? expect.fail("it has no account"), 3600);
  const { server, cluster } = parseKubeconfig(seed.kubeconfig);
  const ca = textOf(String(cluster["certificate-authority-data"]));
  return renderKubeconfig({ server, ca, token });
}

async function fileOf(name: string, text: string): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, text, { mode: 0o600 });
  return file;
}

const textOf = (base64: string | undefined): string => Buffer.from(base64 ?? "", "base64").toString();
