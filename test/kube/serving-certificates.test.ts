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
import { eventually } from "../support/eventually.ts";
import { namespace, pool } from "../support/worker-pools.ts";

/** Seed and Shoot are one API server; who asks is `system:node:node`. */
let admin: KubeClient;
let kubelet: KubeClient;
let approver: Runner;
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
  await startApprover();
});
afterAll(async () => {
  await approver.stop();
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
const conditions = async (name: string) =>
  ((await admin.read(CertificateSigningRequest, { name }))?.status?.conditions ?? []).map(({ type }) => type);

test("a kubelet gets a certificate for its own machine's name and address, and for nothing else", async () => {
  await admin.apply(worker("local"));
  await ask("another-address", { ...own, hosts: ["node", "172.30.0.8"] });
  await ask("more-names", { ...own, hosts: ["node", "kubernetes", "172.30.0.7"] });
  await ask("another-node", { node: "other", hosts: ["other", "172.30.0.7"] });
  await ask("another-group", { ...own, organization: "system:masters" });
  await ask("another-user", own, admin);
  await ask("own", own);
  await eventually(async () => expect(await conditions("own")).toEqual(["Approved"]));
  for (const name of ["another-address", "more-names", "another-node", "another-group", "another-user"])
    expect(await conditions(name), name).toEqual([]);
});

test("what is asked of machines that another provider makes is left to it", async () => {
  await approver.stop(); // it might hear of the question before it hears of the Worker
  await admin.remove(refTo(Worker, { namespace, name: "j" }));
  await admin.create(worker("cloud"));
  await startApprover();
  await ask("elsewhere", own);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await conditions("elsewhere")).toEqual([]);
});
