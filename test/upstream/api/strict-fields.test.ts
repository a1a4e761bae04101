import { expect } from "vitest";
import { syncCluster } from "../../../src/activities/control-plane/cluster.ts";
import { createExtensions } from "../../../src/activities/extensions/extensions.ts";
import { createExtensionMoves } from "../../../src/activities/extensions/moves.ts";
import { carryingLeadership } from "../../../src/activities/leadership/carried-leadership.ts";
import { fenced } from "../../../src/activities/leadership/fenced-client.ts";
import { defaultLifecycle } from "../../../src/api/extensions/lifecycle.ts";
import { appliedKinds, contractOf, type AppliedKind, type ExtensionObject } from "../../../src/api/extensions/kinds.ts";
import { leadershipOf } from "../../../src/api/extensions/leadership.ts";
import { ExtensionBackupBucket, Seed, type KubeObject } from "../../../src/api/index.ts";
import {
  backupEntryObject,
  containerRuntimeObjects,
  controlPlaneObject,
  dnsRecordObject,
  extensionObjects,
  infrastructureObject,
  networkObject,
  operatingSystemConfigs,
  poolsOf,
  workerObject,
} from "../../../src/components/index.ts";
import { CustomResourceDefinition, refOf, refTo, type KubeClient } from "../../../src/kube/index.ts";
import { applyCrds } from "../../../src/local/cluster/manifests.ts";
import { createBackupBucketKeeper } from "../../../src/worker/backup/bucket.ts";
import { ownClusterTest } from "../../support/cluster-test.ts";
import { exampleContext, exampleShoot } from "../../support/control-plane-context.ts";
import { applyGardenersCrds } from "../../support/gardener-definitions.ts";
import { notedWaits } from "../../support/noted-waits.ts";
import { shootRun } from "../../support/shoot-run.ts";

/** A seed in which a gardenlet has put its own definitions: they keep no field that they do not name. */
const test = ownClusterTest();
const example = exampleContext();
const providerConfig = { apiVersion: "example.com/v1", kind: "Config" };
const containerRuntimes = [{ type: "gvisor", providerConfig }];
const pools = poolsOf(example).map((pool) => ({ ...pool, cri: { name: "containerd", containerRuntimes } }));
const context = exampleContext({
  shoot: exampleShoot({
    provider: { ...example.shoot.spec.provider, workers: pools },
    extensions: [{ type: "lakom", providerConfig }],
  }),
  extensions: [{ type: "lakom", ...defaultLifecycle }],
  seed: {
    ...example.seed,
    metadata: { ...example.seed.metadata, uid: "5eed0000-0000-4000-8000-000000000001" },
    spec: { ...example.seed.spec, backup: { provider: "aws", region: "eu-central-1" } },
  },
});
const run = shootRun({ technicalID: context.namespace, leadershipRecord: "leader.example.com", epoch: 2 });
let admin: KubeClient;

test.beforeAll(async ({ cluster }) => {
  admin = cluster.client;
  await applyGardenersCrds(admin);
  await applyCrds(admin, "garden");
  await admin.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: context.namespace } });
});

const userData = { worker: { name: "osc-result-worker", key: "cloud_config" } };
const written: readonly KubeObject[] = [
  infrastructureObject(context),
  controlPlaneObject(context, { vpc: "made" }),
  networkObject(context),
  workerObject(context, { userData, infrastructureProviderStatus: { vpc: "made" } }),
  dnsRecordObject(context, "internal", { type: "aws-route53", zone: "z" }),
  backupEntryObject(context, { made: true }),
  ...poolsOf(context).flatMap((pool) => operatingSystemConfigs(context, pool)),
  ...extensionObjects(context),
  ...containerRuntimeObjects(context),
];

test.for(written)("Gardener's definitions take all that flows write of $kind", async (object) => {
  const seedClient = carryingLeadership(fenced(admin, run));
  const extensions = createExtensions({ gardenClient: admin, seedClient, waits: notedWaits });
  const kind = kindOf(object.kind);
  await extensions.applyObject(run, object, kind, notedWaits.group("step", 1));
  const found = (await admin.read(refOf(object))) as Parameters<typeof leadershipOf>[0] | undefined;
  expect(found && leadershipOf(found)).toMatchObject({ record: "leader.example.com", epoch: 2 });
  expect(found?.spec).not.toHaveProperty("leadership");
});

test("every kind that flows write is among these", () => {
  expect(new Set(written.map(({ kind }) => kind))).toEqual(new Set(appliedKinds));
});

/** Merge patches drop in silence what a definition does not have: what was given has to be there afterwards. */
const moving = written.filter(({ kind }) => contractOf(kindOf(kind)).stateful);

test.for(moving)("Gardener's definitions keep the state that flows give back to $kind", async (object) => {
  const kind = kindOf(object.kind);
  const again: KubeObject = { ...object, metadata: { ...object.metadata, name: `restored-${object.metadata.name}` } };
  const given = {
    state: { of: kind, parts: [{ id: 1 }] },
    resources: [{ name: "key", resourceRef: { apiVersion: "v1", kind: "Secret", name: "key" } }],
  };
  const seedClient = fenced(admin, run);
  const { restore } = createExtensionMoves({
    seedClient,
    waits: notedWaits,
    wanted: async () => [again],
    kept: async () => given,
    machines: async () => undefined,
    protect: async () => undefined,
  });
  await restore(run, kind, "step");
  const { status, metadata } = ((await admin.read(refOf(again))) ?? expect.fail("it is not made")) as ExtensionObject;
  expect(status).toMatchObject(given);
  expect(metadata.annotations?.["gardener.cloud/operation"]).toBe("restore");
});

test("Gardener's definitions take all that a seed's worker writes of BackupBucket", async () => {
  const credentialsRef = { apiVersion: "v1", kind: "Secret", name: "backup", namespace: "garden" };
  await admin.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "garden" } });
  await admin.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "backup", namespace: "garden" } });
  const { name } = context.seed.metadata;
  const backup = { provider: "aws", region: "eu-central-1", providerConfig, credentialsRef };
  await admin.apply({ ...context.seed, metadata: { name }, spec: { ...context.seed.spec, backup } });
  const { metadata } = (await admin.read(refTo(Seed, { name }))) ?? expect.fail("no Seed");
  await createBackupBucketKeeper({ gardenClient: admin, seedClient: admin, seedName: name }).reconcile({ name });
  const bucket = await admin.read(ExtensionBackupBucket, { name: metadata.uid ?? "" });
  expect(bucket?.spec).toMatchObject({ type: "aws", region: "eu-central-1", providerConfig });
});

test("Gardener's definitions take all that is written of Cluster", async () => {
  await syncCluster(fenced(admin, run), run, context);
});

test("a gardenlet's definitions are left as they are", async () => {
  const before = await admin.list(CustomResourceDefinition);
  await applyCrds(admin, "seed");
  for (const { metadata } of before)
    expect(
      (await admin.read(CustomResourceDefinition, { name: metadata.name }))?.metadata.generation,
      metadata.name,
    ).toBe(metadata.generation);
  const { metadata } = (await admin.read(CustomResourceDefinition, { name: missing })) ?? expect.fail("it is not made");
  expect(metadata.name).toBe(missing); // what was not there is
});

const missing = "managedresources.resources.gardener.cloud";

function kindOf(name: string): AppliedKind {
  return appliedKinds.find((kind) => kind === name) ?? expect.fail(`no flow writes ${name}`);
}
