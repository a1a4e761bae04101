import { X509Certificate } from "node:crypto";
import { afterAll, expect } from "vitest";
import type { KubeObject } from "../../src/api/index.ts";
import { Worker } from "../../src/api/index.ts";
import { openGuard } from "../../src/extension/index.ts";
import { CertificateSigningRequest, createKubeClient, refTo, type KubeClient } from "../../src/kube/index.ts";
import type { MachineStatus } from "../../src/local/machine/machine.ts";
import { createLogger } from "../../src/log.ts";
import { createServingCertificates } from "../../src/provider-local/worker/serving-certificates.ts";
import type { Runner } from "../../src/provider-local/volumes.ts";
import { servingCertificateRequest, type AskedFor } from "../support/certificate-requests.ts";
import { test } from "../support/cluster-test.ts";
import { alternativeNames, craftRequest, extensionRequest, pemOf, subjectOf } from "../support/crafted-request.ts";
import { eventually } from "../support/eventually.ts";
import { hostileNames, hostileRequests, hostileTexts } from "../support/hostile-requests.ts";
import { startKubernetesSigner, type KubernetesSigner } from "../support/kubernetes-signer.ts";
import { namespace, pool } from "../support/worker-pools.ts";

/** Seed and Shoot are one API server; who asks is `system:node:node`. */
let admin: KubeClient;
let kubelet: KubeClient;
let approver: Runner;
let signer: KubernetesSigner;
const log = createLogger({ name: "test", level: "silent" });
const machine: MachineStatus = {
  name: "node",
  address: "172.30.0.7",
  providerID: "local:///node",
  running: true,
  labels: {},
  createdAt: "2026-01-01T00:00:00Z",
};
const own = { node: "node", hosts: ["node", "172.30.0.7"] };

test.beforeAll(async ({ cluster }) => {
  admin = cluster.client;
  kubelet = createKubeClient({ kubeconfig: cluster.kubeconfigOf("kubelet") });
  await admin.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  signer = await startKubernetesSigner(cluster);
  await startApprover();
});
afterAll(async () => {
  await Promise.all([approver.stop(), signer.stop()]);
  await kubelet.close();
});

async function startApprover(): Promise<void> {
  approver = createServingCertificates({
    client: admin,
    machines: { list: () => Promise.resolve([machine]) },
    shoots: { open: () => Promise.resolve(admin) },
    guard: openGuard,
    log,
  });
  approver.start();
  await approver.synced();
}

const worker = (type: string): KubeObject => ({
  apiVersion: Worker.apiVersion,
  kind: "Worker",
  metadata: { namespace, name: "j" },
  spec: {
    type,
    region: "local",
    secretRef: { name: "cloudprovider" },
    infrastructureProviderStatus: {},
    pools: [pool()],
  },
});
const ask = async (name: string, asked: AskedFor, client = kubelet) =>
  await client.create(await servingCertificateRequest(name, asked));
const statusOf = async (name: string) => (await admin.read(CertificateSigningRequest, { name }))?.status;
const conditions = async (name: string) => ((await statusOf(name))?.conditions ?? []).map(({ type }) => type);

/** Asks for a serving certificate with this text; returns the name of the request. */
async function askWith(text: string, usages = ["digital signature", "server auth"]): Promise<string> {
  const metadata = { name: `hostile-${asked++}` };
  const { spec, ...rest } = await servingCertificateRequest(metadata.name, own);
  await kubelet.create({ ...rest, spec: { ...spec, request: Buffer.from(text).toString("base64"), usages } });
  return metadata.name;
}
let asked = 0;

const subject = { commonName: "system:node:node", organizations: ["system:nodes"] };
const ownNames = alternativeNames([0x82, "node"], [0x87, Buffer.from([172, 30, 0, 7])]);
const otherNames = alternativeNames([0x82, "kubernetes.default.svc"], [0x87, Buffer.from([172, 30, 0, 8])]);
const requestFor = (names: Buffer, { commonName, organizations } = subject) =>
  craftRequest({ subject: subjectOf(commonName, organizations), attributes: [extensionRequest(names)] });

test("a kubelet gets a certificate for its own machine's name and address, and for nothing else", async () => {
  await admin.apply(worker("local"));
  await ask("another-address", { ...own, hosts: ["node", "172.30.0.8"] });
  await ask("more-names", { ...own, hosts: ["node", "kubernetes", "172.30.0.7"] });
  await ask("fewer-names", { ...own, hosts: ["172.30.0.7"] });
  await ask("another-node", { node: "other", hosts: ["other", "172.30.0.7"] });
  await ask("another-group", { ...own, organization: "system:masters" });
  await ask("another-user", own, admin);
  await ask("own", own);
  const encoded = await eventually(async () => (await statusOf("own"))?.certificate ?? false);
  const certificate = new X509Certificate(Buffer.from(encoded, "base64"));
  expect(certificate.subjectAltName).toBe("DNS:node, IP Address:172.30.0.7");
  for (const name of ["another-address", "more-names", "fewer-names", "another-node", "another-group"])
    await eventually(async () => expect(await conditions(name), name).toEqual(["Denied"]));
  expect(await conditions("another-user")).toEqual([]);
});

test("a kubelet gets no other certificate by a request that others read differently, and is told why", async () => {
  const foreign = { commonName: "system:node:other", organizations: ["system:nodes"] };
  const texts = {
    ...hostileTexts({ own: pemOf(requestFor(ownNames)), foreign: pemOf(requestFor(otherNames)) }),
    ...pemsOf(hostileRequests({ own: subject, foreign })),
    ...pemsOf(hostileNames({ own: subject }, "172.30.0.7")),
  };
  const refused = Object.entries(texts).map(async ([what, text]) => {
    const name = await askWith(text);
    const [condition] = await eventually(async () => (await statusOf(name))?.conditions ?? false);
    expect(condition, what).toMatchObject({
      type: "Denied",
      message: expect.stringMatching(/malformed|must be/) as string,
    });
  });
  await Promise.all(refused);
});

test.for([
  ["another node's", { ...subject, commonName: "system:node:other" }],
  ["a user's", { ...subject, commonName: "admin" }],
  ["one of another group", { ...subject, organizations: ["system:masters"] }],
  ["one of a second group", { ...subject, organizations: ["system:nodes", "system:masters"] }],
  ["one of no group", { ...subject, organizations: [] }],
] as const)("a kubelet gets no certificate for its own names with a subject that is %s", async ([, other]) => {
  const name = await askWith(pemOf(requestFor(ownNames, { ...other, organizations: [...other.organizations] })));
  const [condition] = await eventually(async () => (await statusOf(name))?.conditions ?? false);
  expect(condition).toMatchObject({
    type: "Denied",
    message: "the subject must be system:node:node of system:nodes, and nothing else",
  });
});

test("a kubelet gets no certificate of a client", async () => {
  const name = await askWith(pemOf(requestFor(ownNames)), ["client auth", "server auth"]);
  await eventually(async () => expect(await conditions(name)).toEqual(["Denied"]));
});

const pemsOf = (requests: Readonly<Record<string, Buffer>>): Record<string, string> =>
  Object.fromEntries(Object.entries(requests).map(([what, request]) => [what, pemOf(request)]));

test("what is asked of machines that another provider makes is left to it", async () => {
  await approver.stop(); // it might hear of the question before it hears of the Worker
  await admin.remove(refTo(Worker, { namespace, name: "j" }));
  await admin.create(worker("cloud"));
  await startApprover();
  await ask("elsewhere", own);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await conditions("elsewhere")).toEqual([]);
});
