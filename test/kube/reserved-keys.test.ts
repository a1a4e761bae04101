import { describe, expect } from "vitest";
import { userKeys } from "../../src/admission/reserved-keys.ts";
import {
  BackupEntry,
  CredentialsBinding,
  DomainReservation,
  NamespacedCloudProfile,
  Quota,
  SecretBinding,
  Shoot,
  ShootBastion,
  ShootState,
  type KubeObject,
} from "../../src/api/index.ts";
import { refOf, refTo, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { admissionTest as test } from "../support/admission-lab.ts";
import { eventually } from "../support/eventually.ts";
import { exampleObjects } from "../support/examples.ts";

const namespace = "garden-dev";
const creator = "gardener.cloud/created-by";
const reserved = "keys that begin with perennial.dev/ are written by Perennial's processes";

let admin: KubeClient;
let alice: KubeClient;

test.beforeAll(async ({ admissionLab }) => {
  ({ client: admin, alice } = admissionLab);
  for (const object of everything) await admin.apply(object);
  await eventually(() => alice.create(reservation("granted.example.org"), { dryRun: true })); // an API server goes by rights a moment after they were given
});

describe("a user writes no annotation, label or finalizer of ours onto", () => {
  test.each([
    ["a Secret", { apiVersion: "v1", kind: "Secret" }],
    ["a ConfigMap", { apiVersion: "v1", kind: "ConfigMap" }],
    ["a SecretBinding", { ...typeMeta(SecretBinding), secretRef: { name: "local" }, provider: { type: "local" } }],
    [
      "a CredentialsBinding",
      { ...typeMeta(CredentialsBinding), credentialsRef: { name: "local" }, provider: { type: "local" } },
    ],
    [
      "a Quota",
      {
        ...typeMeta(Quota),
        spec: { scope: { apiVersion: "core.gardener.cloud/v1beta1", kind: "Project" }, metrics: {} },
      },
    ],
    [
      "a NamespacedCloudProfile",
      { ...typeMeta(NamespacedCloudProfile), spec: { parent: { kind: "CloudProfile", name: "local" } } },
    ],
    ["a BackupEntry", { ...typeMeta(BackupEntry), spec: { bucketName: "b" } }],
    ["a ShootState", { ...typeMeta(ShootState), spec: {} }],
    ["a DomainReservation", reservation("kept.example.org")],
    ["a Bastion", bastion()],
  ] as [string, Unnamed][])("%s", async (_, object) => {
    const metadata = { ...odd, ...object.metadata };
    for (const mark of marks) {
      const marked = { ...object, metadata: { ...metadata, ...mark } };
      await expect(alice.create(marked, { dryRun: true }), JSON.stringify(mark)).rejects.toThrow(reserved);
    }
    await expect(alice.create({ ...object, metadata }, { dryRun: true })).resolves.toBeDefined();
  });

  test("a Shoot", async () => {
    for (const mark of marks)
      await expect(alice.create(await workerless("odd", {}, mark), { dryRun: true })).rejects.toThrow(reserved);
    await expect(alice.create(await workerless("odd"), { dryRun: true })).resolves.toBeDefined();
  });
});

test("a key of ours is neither changed nor removed by users, and does not keep them from changing the rest", async () => {
  const ours = { labels: { [marked]: "ours" }, annotations: { [marked]: "ours" }, finalizers: [marked] };
  await admin.create(await workerless("kept", {}, ours));
  const ref = refTo(Shoot, { namespace, name: "kept" });
  for (const metadata of [
    { labels: { [marked]: "theirs" } },
    { labels: { [marked]: null } },
    { annotations: { [marked]: "theirs" } },
    { annotations: null },
    { finalizers: [] },
  ])
    await expect(alice.patch(ref, { metadata }), JSON.stringify(metadata)).rejects.toThrow(reserved);
  await alice.patch(ref, { metadata: { labels: { a: "b" }, annotations: { a: "b" }, finalizers: [marked, "a.b/c"] } });
  await admin.patch(ref, { metadata: { finalizers: null } });
});

test("the keys by which users ask for something are theirs to write, on the kinds that they are for", async () => {
  await alice.create(await workerless("asks"));
  const ref = refTo(Shoot, { namespace, name: "asks" });
  const others = userKeys["shoots"]?.filter((key) => !/(cancel-migration|force-takeover)$/.test(key)) ?? []; // admission-migration.test.ts
  expect(others).toHaveLength(4);
  const annotations = Object.fromEntries(others.map((key) => [key, "true"]));
  await alice.patch(ref, { metadata: { annotations } });
  const lent = { apiVersion: "v1", kind: "Secret", metadata: { name: "lent", namespace } };
  await alice.create({
    ...lent,
    metadata: { ...lent.metadata, labels: { "perennial.dev/garden-credentials": "true" } },
  });
  await expect(
    alice.patch(refOf(lent), { metadata: { annotations: { "perennial.dev/kubeconfig-revocation": "1" } } }),
  ).rejects.toThrow(`${reserved}: leave them as they are; users may write perennial.dev/garden-credentials`);
});

test("who may update reservedkeys of a namespace writes them there", async () => {
  for (const object of trusted) await admin.apply(object);
  const metadata = { annotations: { [marked]: "written" } };
  await eventually(() => alice.create(secretBinding("trusted", "garden-lent", metadata)));
  await expect(alice.create(secretBinding("trusted", namespace, metadata))).rejects.toThrow(reserved);
});

test.each([
  ["with its name", { name: "signed" }],
  ["with a name that the API server completes", { generateName: "gen-" }],
])("who created a Shoot is who asked for it, whatever the request says, %s", async (_, names) => {
  const { metadata, ...shoot } = await workerless(Object.keys(names)[0]?.toLowerCase() ?? "");
  const { name: __, ...rest } = metadata;
  const forged = { ...shoot, metadata: { ...rest, ...names, annotations: { [creator]: "root", a: "b" } } };
  const created = await alice.create<Shoot>(forged as never);
  expect(created.metadata.annotations).toEqual({ [creator]: "alice", a: "b" });
  for (const annotations of [{ [creator]: "root" }, { [creator]: null }])
    for (const user of [alice, admin])
      await expect(user.patch(refOf(created), { metadata: { annotations } })).rejects.toThrow(
        "metadata.annotations[gardener.cloud/created-by]: names who created the object, and cannot be changed",
      );
});

test.each([{ name: "b" }, { generateName: "b-" }])(
  "a Bastion with metadata %j is told where its Shoot is and who created it, whatever the request says",
  async (names) => {
    const forged = {
      ...bastion({ seedName: "seed-2", providerType: "other" }),
      metadata: { ...names, namespace, annotations: { [creator]: "root" } },
    };
    const created = await alice.create<ShootBastion>(forged as never);
    expect(created.spec).toMatchObject({ seedName: "seed-1", providerType: "local" });
    expect(created.metadata.annotations).toEqual({ [creator]: "alice" });
    await expect(alice.patch(refOf(created), { metadata: { annotations: { [creator]: "root" } } })).rejects.toThrow(
      "cannot be changed",
    );
  },
);

/** An object whose metadata may be left to the test. */
type Unnamed = Omit<KubeObject, "metadata"> & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata?: Partial<KubeObject["metadata"]>;
};

const odd = { name: "odd", namespace };
const marked = "perennial.dev/any";
const marks = [{ annotations: { [marked]: "x" } }, { labels: { [marked]: "x" } }, { finalizers: [marked] }];

function reservation(domain: string): KubeObject {
  const spec = { domain, shootRef: { namespace, name: "odd" } };
  return { ...typeMeta(DomainReservation), metadata: { name: domain }, spec };
}

function bastion(more: object = {}): Unnamed {
  const ingress = [{ ipBlock: { cidr: "1.2.3.4/32" } }];
  const spec = { shootRef: { name: "local" }, sshPublicKey: "ssh-rsa AAAA", ingress, ...more };
  return { ...typeMeta(ShootBastion), spec };
}

function secretBinding(name: string, at: string, metadata: object): KubeObject {
  const secretRef = { name: "local", namespace };
  return {
    ...typeMeta(SecretBinding),
    metadata: { name, namespace: at, ...metadata },
    ...{ secretRef, provider: { type: "local" } },
  };
}

async function workerless(name: string, more: object = {}, metadata: object = {}): Promise<Shoot> {
  const example = await exampleShoot();
  const { credentialsBindingName: _, seedName: __, networking: ___, ...spec } = example.spec;
  const { workers: ____, ...provider } = spec.provider;
  const dns = { domain: `${name}.example.com` };
  return { ...example, metadata: { name, namespace, ...metadata }, spec: { ...spec, dns, provider, ...more } };
}

const exampleShoot = async () => (await exampleObjects()).find(({ kind }) => kind === "Shoot") as Shoot;

const rbac = "rbac.authorization.k8s.io";
const user = [{ apiGroup: rbac, kind: "User", name: "alice" }];
const writes = { verbs: ["create", "patch", "get"] };

/** Alice may write every kind, which projects' users need not. */
const everything: KubeObject[] = [
  {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRole",
    metadata: { name: "everything" },
    rules: [
      { apiGroups: [""], resources: ["secrets", "configmaps"], ...writes },
      ...["core", "security", "operations"].map((group) => ({
        apiGroups: [`${group}.gardener.cloud`],
        resources: ["*"],
        ...writes,
      })),
      { apiGroups: ["perennial.dev"], resources: ["domainreservations"], ...writes },
    ],
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: "everything" },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "everything" },
    subjects: user,
  },
];

const trusted: KubeObject[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "garden-lent" } },
  {
    apiVersion: `${rbac}/v1`,
    kind: "RoleBinding",
    metadata: { name: "trusted", namespace: "garden-lent" },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "perennial:reserved-keys" },
    subjects: user,
  },
];
