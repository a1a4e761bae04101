import {
  createAdmissionServer,
  makeServingCertificate,
  webhookConfigurations,
  type WebhookServer,
} from "../../src/admission/index.ts";
import { EPOCH_ANNOTATION } from "../../src/api/annotations.ts";
import { CREATED_BY_ANNOTATION, SecretBinding, type KubeObject, type Shoot } from "../../src/api/index.ts";
import { createKubeClient, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { readManifest } from "../../src/manifests.ts";
import { createLogger } from "../../src/log.ts";
import { extendingTest, ownClusterTest } from "./cluster-test.ts";
import type { ControlPlane } from "./control-plane.ts";
import { eventually } from "./eventually.ts";
import { exampleObjects } from "./examples.ts";
import { freePorts } from "./free-ports.ts";

/** A garden whose API server asks our admission server. */
export interface AdmissionLab {
  /** May do anything. */
  readonly client: KubeClient;
  /** May do anything with Shoots but bind them to Seeds, anything with bindings, and read Secrets and Quotas in namespace garden-dev only. */
  readonly alice: KubeClient;
  /** The path of a kubeconfig whose user may do anything. */
  readonly kubeconfig: string;
  readonly server: WebhookServer;
  readonly port: number;
}

/** Tests with an admission lab on the shared cluster, which forgets it after the file. */
export const admissionTest = extendingTest.extend("admissionLab", { scope: "file" }, fileLab);

/** Tests whose file has an admission lab to itself: to change the kinds that it judges. */
export const ownAdmissionTest = ownClusterTest({ crds: true }).extend("admissionLab", { scope: "file" }, fileLab);

async function fileLab(
  { cluster }: { readonly cluster: ControlPlane },
  { onCleanup }: { onCleanup(stop: () => Promise<void>): void },
): Promise<AdmissionLab> {
  const { stop, ...lab } = await startAdmissionLab(cluster);
  onCleanup(stop);
  return lab;
}

/** Brings the objects of deploy/examples and a second Seed; resolves when the API server asks every webhook for Shoots. */
async function startAdmissionLab(garden: ControlPlane): Promise<AdmissionLab & { stop(): Promise<void> }> {
  const { client } = garden;
  for (const example of await exampleObjects()) {
    await client.apply(example);
    const seed = { ...example, metadata: { ...example.metadata, name: "seed-2" } };
    if (example.kind === "Seed") await client.apply(seed);
  }
  for (const object of permissions) await client.apply(object);
  const { caBundle, ...tls } = await makeServingCertificate(["127.0.0.1"]);
  const log = createLogger({ name: "admission", level: "silent" });
  const [port = 0] = await freePorts(1);
  const server = createAdmissionServer({ client, log, host: "127.0.0.1", port, tls, minors: triedMinors });
  await server.start();
  for (const object of webhookConfigurations({ caBundle, url: `https://127.0.0.1:${port}` }))
    await client.apply(object);
  for (const object of await readManifest("garden/reserved-keys.yaml")) await client.apply(object);
  await webhooksAsked(client);
  const alice = createKubeClient({ kubeconfig: garden.kubeconfigOf("alice") });
  await policyInForce(alice);
  return {
    ...{ client, alice, kubeconfig: garden.kubeconfigFile, server, port },
    async stop() {
      await alice.close();
      await server.stop();
    },
  };
}

/** Rules on versions take several of them, whichever a build works with. */
const triedMinors = { oldest: 32, newest: 37 };

/** What the API server says against a request; false when it grants it. */
export async function refusalOf(request: Promise<unknown>): Promise<string | false> {
  return request.then(
    () => false,
    (error: unknown) => String(error),
  );
}

/** An API server learns of webhooks one by one, a moment later. Asked without writing: what passes too early must not stay. */
async function webhooksAsked(client: KubeClient): Promise<void> {
  const example = (await exampleObjects()).find(({ kind }) => kind === "Shoot") as Shoot;
  const metadata = { name: "asked", namespace: example.metadata.namespace };
  const create = (spec: Partial<Shoot["spec"]>) => {
    const dns = { domain: "asked.example.com" };
    return client.create<Shoot>({ ...example, metadata, spec: { ...example.spec, dns, ...spec } }, { dryRun: true });
  };
  await eventually(async () => {
    const { annotations = {} } = (await create({})).metadata;
    return CREATED_BY_ANNOTATION in annotations;
  });
  await eventually(async () => String(await refusalOf(create({ region: "nowhere" }))).includes("spec.region"));
}

/** An API server goes by a policy a moment after it was written. */
async function policyInForce(user: KubeClient): Promise<void> {
  const annotations = { [EPOCH_ANNOTATION]: "1" };
  const metadata = { name: "asked", namespace: "garden-dev", annotations };
  const binding = { ...typeMeta(SecretBinding), metadata, secretRef: { name: "local" }, provider: { type: "local" } };
  await eventually(async () =>
    String(await refusalOf(user.create(binding, { dryRun: true }))).includes(EPOCH_ANNOTATION),
  );
}

const alice = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" }];

const rbac = "rbac.authorization.k8s.io/v1";

const permissions: KubeObject[] = [
  {
    apiVersion: rbac,
    kind: "ClusterRole",
    metadata: { name: "shoots" },
    rules: [
      { apiGroups: ["core.gardener.cloud"], resources: ["shoots", "secretbindings"], verbs: ["*"] },
      { apiGroups: ["security.gardener.cloud"], resources: ["credentialsbindings"], verbs: ["*"] },
    ],
  },
  {
    apiVersion: rbac,
    kind: "ClusterRoleBinding",
    metadata: { name: "shoots" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "shoots" },
    subjects: alice,
  },
  {
    apiVersion: rbac,
    kind: "Role",
    metadata: { name: "secrets", namespace: "garden-dev" },
    rules: [
      { apiGroups: [""], resources: ["secrets"], verbs: ["get"] },
      { apiGroups: ["core.gardener.cloud"], resources: ["quotas"], verbs: ["get"] },
    ],
  },
  {
    apiVersion: rbac,
    kind: "RoleBinding",
    metadata: { name: "secrets", namespace: "garden-dev" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "secrets" },
    subjects: alice,
  },
];
