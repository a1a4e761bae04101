import { readFile } from "node:fs/promises";
import { afterAll, describe, expect } from "vitest";
import { backupEntryName } from "../../src/api/extensions/backup-entry.ts";
import {
  BackupBucket,
  BackupEntry,
  ControllerDeployment,
  ControllerInstallation,
  CredentialsBinding,
  SecretBinding,
  Seed,
  ShootBastion,
  type KubeObject,
} from "../../src/api/index.ts";
import { shootStatus } from "../../src/api/shoot/status.ts";
import type { GrantName } from "../../src/controllers/seed-access/objects.ts";
import {
  refOf,
  refTo,
  Secret,
  typeMeta,
  type KubeClient,
  type MergePatch,
  type ObjectRef,
} from "../../src/kube/index.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import {
  configMap,
  CORE,
  createSeedAccessLab,
  forbidden,
  namespace,
  secret,
  shootRef,
  soon,
  state,
  type SeedAccessLab,
} from "../support/seed-access-lab.ts";

let lab: SeedAccessLab;
let admin: KubeClient;
let seed1: KubeClient;
let seed2: KubeClient;

test.beforeAll(async ({ cluster }) => {
  lab = await createSeedAccessLab(cluster);
  ({ admin, seed1, seed2 } = lab);
  await lab.place("mine", "seed-1");
  await lab.place("theirs", "seed-2");
  lab.start();
  await soon(() => seed1.read(shootRef("mine")));
  await soon(() => seed2.read(shootRef("theirs")));
  for (const seed of ["seed-1", "seed-2"]) {
    const client = seed === "seed-1" ? seed1 : seed2;
    await soon(() => client.read(BackupBucket, { name: lab.bucketOf(seed) }));
    await soon(() => client.read(Secret, { namespace: "garden", name: `bucket-${lab.bucketOf(seed)}-generated` }));
  }
});
afterAll(() => lab.stop());

test("a seed cannot name another Seed, another's bucket or an earlier one in its Shoot's BackupEntry", async () => {
  const shoot = await seed1.read(shootRef("mine"));
  const entry = lab.entryOf("mine", shoot?.metadata.uid ?? "", "seed-1");
  await forbidden(seed1.apply({ ...entry, spec: { ...entry.spec, seedName: "seed-2" } }));
  await forbidden(seed1.apply({ ...entry, spec: { ...entry.spec, bucketName: lab.bucketOf("seed-2") } }));
  for (const annotations of [
    { "perennial.dev/previous-bucket": lab.bucketOf("seed-2") },
    { "perennial.dev/shoot-gone-since": "2026-01-01T10:00:00Z" },
  ])
    await forbidden(seed1.apply({ ...entry, metadata: { ...entry.metadata, annotations } }));
});

test("a seed cannot have its Shoot's BackupEntry taken for that of a Shoot that is gone", async () => {
  const { uid = "" } = (await seed1.read(shootRef("mine")))?.metadata ?? {};
  const entry = lab.entryOf("mine", uid, "seed-1");
  const { metadata: seed } = (await admin.read(refTo(Seed, { name: "seed-1" }))) ?? {};
  const owner = { apiVersion: "core.gardener.cloud/v1beta1", kind: "Shoot", name: "mine" };
  const ofNothing = "11111111-2222-3333-4444-555555555555"; // garbage collection deletes what such an owner has
  for (const one of [
    { ...owner, uid: ofNothing },
    { ...owner, kind: "Seed", name: "seed-1", uid: ofNothing },
    { ...owner, kind: "Seed", name: "seed-1", uid: seed?.uid ?? "" },
    { ...owner, kind: "BackupBucket", name: lab.bucketOf("seed-1"), uid: ofNothing },
  ])
    await forbidden(seed1.patch(refOf(entry), { metadata: { ownerReferences: [one] } }));
  await seed1.patch(refOf(entry), { metadata: { ownerReferences: [{ ...owner, uid }] } });
  for (const one of [
    { ...owner, name: "gone", uid },
    { ...owner, kind: "Seed", name: "seed-1", uid },
    { ...owner, apiVersion: "core.gardener.cloud/v1alpha1", name: "gone", uid },
    { ...owner, apiVersion: "v1", uid },
  ])
    await forbidden(seed1.patch(refOf(entry), { metadata: { ownerReferences: [one] } }));
});

/** Attempts of seed-1 to write the facts from which a grant follows, by field. */
const facts: Record<GrantName, Readonly<Record<string, () => Promise<unknown>>>> = {
  shoot: {
    "Shoot spec.seedName": () => seed1.patch(shootRef("mine"), { spec: { seedName: "seed-2" } }),
    "Shoot spec.resources": () => seed1.patch(shootRef("mine"), { spec: { resources: [] } }),
    "Shoot spec.dns": () => seed1.patch(shootRef("mine"), { spec: { dns: { providers: [] } } }),
    "Shoot spec.credentialsBindingName": () =>
      seed1.patch(shootRef("mine"), { spec: { credentialsBindingName: "other" } }),
    "Shoot status.technicalID": () => seed1.patch(...statusOf("mine", { technicalID: "shoot--dev--theirs" })),
    "Shoot status.leadership": () => seed1.patch(...statusOf("mine", { leadership: { epoch: 9 } })),
    "Shoot status.seedName": () => seed1.patch(...statusOf("mine", { seedName: "seed-2" })),
    "CredentialsBinding credentialsRef": () =>
      seed1.patch(refTo(CredentialsBinding, { namespace, name: "local" }), { credentialsRef: { name: "other" } }),
    "SecretBinding secretRef": () =>
      seed1.patch(refTo(SecretBinding, { namespace, name: "local" }), { secretRef: { name: "other" } }),
  },
  "coming-shoot": {
    "another's Shoot spec.seedName": () => seed1.patch(shootRef("theirs"), { spec: { seedName: "seed-1" } }),
  },
  "leaving-shoot": {
    "Shoot status.leadership.previousSeed": () =>
      seed1.patch(...statusOf("mine", { leadership: { previousSeed: "seed-1" } })),
    "Shoot status.lastOperation": () => seed1.patch(...statusOf("mine", { lastOperation: { type: "Restore" } })),
    "Shoot annotations": () => seed1.patch(shootRef("mine"), { metadata: { annotations: approval } }),
  },
  "left-shoot": {
    "Shoot status.seeds": () => seed1.patch(...statusOf("mine", { seeds: ["seed-1", "seed-2"] })),
    "another's Shoot status.seeds": () => seed1.patch(...statusOf("theirs", { seeds: ["seed-1"] })),
  },
  seed: {
    "Seed spec": () => seed1.patch(refTo(Seed, { name: "seed-1" }), { spec: { backup: { provider: "x" } } }),
    "Seed metadata": () => seed1.patch(refTo(Seed, { name: "seed-1" }), { metadata: { labels: { a: "b" } } }),
    "another BackupBucket's spec.seedName": () =>
      seed1.patch(refTo(BackupBucket, { name: lab.bucketOf("seed-2") }), { spec: { seedName: "seed-1" } }),
  },
  "backup-bucket": {
    "BackupBucket spec.seedName": () =>
      seed1.apply({
        ...typeMeta(BackupBucket),
        metadata: { name: lab.bucketOf("seed-1") },
        spec: { provider: { type: "local", region: "x" }, seedName: "seed-2" },
      }),
    "a BackupBucket of any name": () =>
      seed1.apply({
        ...typeMeta(BackupBucket),
        metadata: { name: "any" },
        spec: { provider: { type: "local", region: "x" }, seedName: "seed-1" },
      }),
  },
  "backup-entry": {
    "another's BackupEntry spec.seedName": async () => {
      const { uid = "" } = (await admin.read(shootRef("theirs")))?.metadata ?? {};
      await seed1.apply(lab.entryOf("theirs", uid, "seed-1"));
    },
  },
  bastion: {
    "a Bastion with spec.seedName": () =>
      seed1.create({
        ...{ ...typeMeta(ShootBastion), metadata: { name: "any", namespace } },
        spec: { shootRef: { name: "theirs" }, seedName: "seed-1", providerType: "local", ingress: [] },
      }),
  },
  installation: {
    "a ControllerInstallation with spec.seedRef": () =>
      seed1.create({
        ...{ ...typeMeta(ControllerInstallation), metadata: { name: "any" } },
        spec: { registrationRef: { name: "any" }, seedRef: { name: "seed-1" } },
      }),
    "ControllerDeployment helm": () =>
      seed1.patch(refTo(ControllerDeployment, { name: "any" }), { helm: { ociRepository: {} } }),
  },
};
const approval = { "perennial.dev/force-takeover": "{}" };
const statusOf = (name: string, status: MergePatch): Parameters<KubeClient["patch"]> => [
  shootRef(name),
  { status },
  { subresource: "status" },
];

test.each(
  Object.entries(facts).flatMap(([grant, fields]) =>
    Object.entries(fields).map(([field, attempt]) => ({ grant, field, attempt })),
  ),
)("a seed cannot write what its grant follows from: $grant, $field", async ({ attempt }) => {
  const refused = [403, 422]; // by a role or a policy, or because nobody may change the field
  await expect(attempt()).rejects.toSatisfy((error) => refused.includes((error as { status: number }).status));
});

test("a seed writes of a Shoot's status what no grant follows from, and a new field is held to be none of it", async () => {
  const its = ["conditions", "constraints", "networking", "advertisedAddresses", "credentials", "managesResources"];
  const policy = await readFile(new URL("../../deploy/garden/seed-restriction.yaml", import.meta.url), "utf8");
  const open = Object.keys(shootStatus.shape).filter(
    (field) => !policy.includes(`oldObject.?status.?${field} == object.?status.?${field}`),
  );
  expect(open.sort()).toEqual(its.sort());
});

describe("a seed cannot set on what it writes", () => {
  const generated = () => secret(`bucket-${lab.bucketOf("seed-1")}-generated`, "garden");
  const withMetadata = (object: KubeObject, metadata: Partial<KubeObject["metadata"]>): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, ...metadata },
  });
  const owner = (kind: string, name: string) => ({ apiVersion: CORE, kind, name, uid: "1" });

  test.each<readonly [string, () => KubeObject]>([
    [
      "the label of the leadership domain",
      () => withMetadata(generated(), { labels: { "gardener.cloud/role": "leadership-domain" } }),
    ],
    [
      "the label of credentials of Clusters",
      () => withMetadata(secret("mine.kubeconfig"), { labels: { "perennial.dev/garden-credentials": "true" } }),
    ],
    [
      "the label of another Shoot",
      () => withMetadata(configMap("mine.ca-cluster"), { labels: { "shoot.gardener.cloud/name": "theirs" } }),
    ],
    ["a finalizer", () => withMetadata(secret("mine.kubeconfig"), { finalizers: ["example.org/kept"] })],
    ["another's finalizer", () => withMetadata(state("mine"), { finalizers: ["example.org/kept"] })],
    [
      "another's Shoot as its owner",
      () => withMetadata(secret("mine.kubeconfig"), { ownerReferences: [owner("Shoot", "theirs")] }),
    ],
    ["another Seed as its owner", () => withMetadata(generated(), { ownerReferences: [owner("Seed", "seed-2")] })],
    ["what keeps the next seed from replacing it", () => ({ ...secret("mine.ssh-keypair"), immutable: true })],
  ])("%s", async (_, write) => {
    await forbidden(seed1.apply(write()));
  });

  test("but what the worker sets", async () => {
    const { uid = "" } = (await seed1.read(shootRef("mine")))?.metadata ?? {};
    const labels = { "shoot.gardener.cloud/name": "mine", "gardener.cloud/role": "ca-cluster" };
    const ownerReferences = [{ ...owner("Shoot", "mine"), uid }];
    await seed1.apply(withMetadata(configMap("mine.ca-cluster"), { labels, ownerReferences }));
    await seed1.apply(generated());
  });
});

describe("whose state it is, and of which epoch,", () => {
  const mark = async (
    client: KubeClient,
    what: "ShootState" | "BackupEntry",
    annotations: Readonly<Record<string, string | null>>,
    name = "mine",
  ) => {
    const { uid = "" } = (await admin.read(shootRef(name)))?.metadata ?? {};
    const ref: ObjectRef = what === "ShootState" ? refOf(state(name)) : refOf(lab.entryOf(name, uid, "seed-1"));
    const ofShoot = what === "ShootState" ? { "shoot.gardener.cloud/uid": uid } : {};
    return client.patch(ref, { metadata: { annotations: { ...ofShoot, ...annotations } } });
  };
  const own = { "perennial.dev/epoch": "1" };

  test.each([
    ["no number", { "perennial.dev/epoch": "abc" }],
    ["the largest number that an API server can read", { "perennial.dev/epoch": "9223372036854775807" }],
    ["an epoch that the Shoot has not reached", { "perennial.dev/epoch": "2" }],
    ["an epoch that is written in another way", { "perennial.dev/epoch": "01" }],
    ["the last word of the next epoch", { "perennial.dev/state-final": "2" }],
    ["the last word of the next epoch, with an epoch of its own", { ...own, "perennial.dev/state-final": "2" }],
    ["another Shoot of its own", { ...own, "shoot.gardener.cloud/uid": "an earlier one's" }],
  ])("a seed cannot write: %s", async (_, annotations) => {
    await forbidden(mark(seed1, "ShootState", annotations));
    if (!("shoot.gardener.cloud/uid" in annotations)) await forbidden(mark(seed1, "BackupEntry", annotations));
  });

  test("a seed cannot make a part of a state that it may not mark so", async () => {
    const { uid = "" } = (await admin.read(shootRef("mine")))?.metadata ?? {};
    const part = (epoch: string) => ({
      ...state("mine--0", "mine"),
      metadata: {
        ...state("mine--0", "mine").metadata,
        annotations: { "perennial.dev/epoch": epoch, "shoot.gardener.cloud/uid": uid },
      },
    });
    await forbidden(seed1.create(part("2")));
    await seed1.create(part("1"));
  });

  test("a seed writes in the epoch that is its own, and right after a flip", async () => {
    await lab.place("handed", "seed-1");
    await soon(() => mark(seed1, "ShootState", { ...own, "perennial.dev/state-final": "1" }, "handed"));
    await soon(() => mark(seed1, "BackupEntry", own, "handed"));
    await forbidden(mark(seed1, "ShootState", { "shoot.gardener.cloud/uid": null }, "handed"));
    await lab.lead("handed", "seed-2", 2, { previousSeed: "seed-1", type: "Restore", state: "Processing" });
    await admin.patch(shootRef("handed"), { spec: { seedName: "seed-2" } });
    const next = { "perennial.dev/epoch": "2", "perennial.dev/state-final": null };
    await mark(seed1, "ShootState", { "perennial.dev/state-final": null }, "handed"); // it has led, and may say its last
    await mark(seed1, "ShootState", { "perennial.dev/state-final": "1" }, "handed");
    await forbidden(mark(seed1, "ShootState", next, "handed"));
    await forbidden(mark(seed1, "ShootState", { "perennial.dev/state-final": "2" }, "handed"));
    await soon(() => mark(seed2, "ShootState", next, "handed"));
    await soon(() => mark(seed2, "BackupEntry", { "perennial.dev/epoch": "2" }, "handed"));
    await forbidden(mark(seed1, "ShootState", { "perennial.dev/state-final": "2" }, "handed"));
    await lab.lead("handed", "seed-2", 2); // it has arrived
    await soon(() => forbidden(seed2.read(BackupBucket, { name: lab.bucketOf("seed-1") })));
  });
});

describe("the buckets of other seeds", () => {
  const seeds = ["seed-1", "seed-2", "seed-3"] as const;
  const credentialsOf = (seed: string) => refTo(Secret, { namespace: "garden", name: `credentials-${seed}` });
  const bucket = (seedName: string): KubeObject => ({
    ...typeMeta(BackupBucket),
    metadata: { name: lab.bucketOf(seedName) },
    spec: {
      provider: { type: "local", region: "x" },
      seedName,
      credentialsRef: { apiVersion: "v1", kind: "Secret", name: `credentials-${seedName}`, namespace: "garden" },
    },
  });
  /** The Seeds of which this one reads bucket and credentials. */
  const readBy = async (client: KubeClient): Promise<string[]> => {
    const read: string[] = [];
    for (const seed of seeds) {
      const attempts = [client.read(BackupBucket, { name: lab.bucketOf(seed) }), client.read(credentialsOf(seed))];
      const allowed = (await Promise.allSettled(attempts)).filter(({ status }) => status === "fulfilled");
      if (allowed.length > 0) read.push(`${seed}: ${allowed.length}`);
    }
    return read;
  };
  const own = ["seed-2: 1"]; // The credentials of its bucket are those that its Seed names; here, others.

  test.beforeAll(async () => {
    for (const seed of seeds) {
      await admin.apply(bucket(seed));
      await admin.apply(secret(`credentials-${seed}`, "garden"));
    }
    await nameCredentials("seed-1", "credentials-seed-1");
  });
  const sayGenerated = (generatedSecretRef: { name: string; namespace: string } | null) =>
    admin.patch(refOf(bucket("seed-1")), { status: { generatedSecretRef } }, { subresource: "status" });
  const nameCredentials = (seed: string, name: string) =>
    admin.patch(refTo(Seed, { name: seed }), { spec: { backup: { credentialsRef: { name } } } });

  test("are read while a Shoot comes from there, and are not for naming them in its BackupEntry", async () => {
    // Its Seed may have named it when the bucket was written, and names it no more; the bucket still does.
    await sayGenerated({ name: "leadership", namespace: "garden" });
    await lab.place("carried", "seed-1");
    await soon(() => seed1.read(shootRef("carried")));
    expect(await readBy(seed2)).toEqual(own);
    await admin.patch(shootRef("carried"), { status: { seeds: ["seed-1", "seed-2"] } }, { subresource: "status" });
    await admin.patch(shootRef("carried"), { spec: { seedName: "seed-2" } });
    const whileItMoves = ["seed-1: 2", ...own];
    await soon(async () => expect(await readBy(seed2)).toEqual(whileItMoves));
    await seed2.read(Secret, { namespace: "garden", name: `bucket-${lab.bucketOf("seed-1")}-generated` });
    await forbidden(seed2.read(refTo(Secret, { namespace: "garden", name: "leadership" })));
    await nameCredentials("seed-1", "others"); // from then on its bucket is read with these
    await soon(async () => expect(await readBy(seed2)).toEqual(["seed-1: 1", ...own]));
    await nameCredentials("seed-1", "credentials-seed-1");
    await soon(async () => expect(await readBy(seed2)).toEqual(whileItMoves));
    const { uid = "" } = (await seed2.read(shootRef("carried")))?.metadata ?? {};
    const entry = lab.entryOf("carried", uid, "seed-2");
    const naming = (bucketName: string) => seed2.apply({ ...entry, spec: { ...entry.spec, bucketName } });
    await forbidden(naming(lab.bucketOf("seed-2"))); // it does not lead yet
    await lab.lead("carried", "seed-2", 2, { previousSeed: "seed-1", type: "Restore", state: "Processing" });
    await soon(() => naming(lab.bucketOf("seed-2")));
    await forbidden(naming(lab.bucketOf("seed-3")));
    await forbidden(seed1.apply(lab.entryOf("carried", uid, "seed-1"))); // it leads no more
    // Whatever an entry names, if one is ever written around the policies: rights do not follow it.
    const annotations = { "perennial.dev/previous-bucket": lab.bucketOf("seed-3") };
    await admin.apply({
      ...entry,
      metadata: { ...entry.metadata, annotations },
      spec: { ...entry.spec, bucketName: lab.bucketOf("seed-3") },
    });
    await lab.place("follows", "seed-2"); // what comes after shows that the entry was looked at
    await soon(() => seed2.read(shootRef("follows")));
    expect(await readBy(seed2)).toEqual(whileItMoves);
    await lab.lead("carried", "seed-2", 2, { previousSeed: "seed-1", type: "Restore", state: "Succeeded" });
    await soon(async () => expect(await readBy(seed2)).toEqual(own));
    await sayGenerated(null);
  });

  test("are not read by naming their credentials, or any other Secret, as one's own", async () => {
    const mine = bucket("seed-1");
    const naming = (name: string) =>
      seed1.apply({
        ...mine,
        spec: {
          ...(mine["spec"] as object),
          credentialsRef: { apiVersion: "v1", kind: "Secret", name, namespace: "garden" },
        },
      });
    for (const name of ["credentials-seed-3", "leadership"]) {
      await forbidden(naming(name));
      const status = { generatedSecretRef: { name, namespace: "garden" } };
      await forbidden(seed1.patch(refOf(mine), { status }, { subresource: "status" }));
    }
    const generated = `bucket-${lab.bucketOf("seed-1")}-generated`;
    await naming(generated);
    const status = { generatedSecretRef: { name: generated, namespace: "garden" } };
    await seed1.patch(refOf(mine), { status }, { subresource: "status" });
    await seed1.patch(refOf(mine), { status: { generatedSecretRef: null } }, { subresource: "status" });
  });
});

test("a BackupEntry is the leader's as long as its Shoot is there, and then its own seed's", async () => {
  await lab.place("kept", "seed-2");
  const { uid = "" } = (await admin.read(shootRef("kept")))?.metadata ?? {};
  const entry = refTo(BackupEntry, { namespace, name: backupEntryName("shoot--dev--kept", uid) });
  // As a seed could have written it that led once.
  await admin.patch(entry, { spec: { seedName: "seed-1", bucketName: lab.bucketOf("seed-1") } });
  await soon(() => seed2.read(entry));
  await lab.place("after-kept", "seed-2"); // what comes after shows that the entry was looked at
  await soon(() => seed2.read(shootRef("after-kept")));
  await forbidden(seed1.read(entry));
  await admin.remove(shootRef("kept"));
  await soon(() => seed1.read(entry));
  await soon(() => forbidden(seed2.read(entry)));
});
