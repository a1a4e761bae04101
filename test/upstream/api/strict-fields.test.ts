import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { parse } from "yaml";
import { expect } from "vitest";
import { syncCluster } from "../../../src/activities/control-plane/cluster.ts";
import { createExtensions } from "../../../src/activities/extensions/extensions.ts";
import { carryingLeadership } from "../../../src/activities/leadership/carried-leadership.ts";
import { fenced } from "../../../src/activities/leadership/fenced-client.ts";
import { appliedKinds } from "../../../src/api/extensions/kinds.ts";
import { leadershipOf } from "../../../src/api/extensions/leadership.ts";
import type { KubeObject } from "../../../src/api/index.ts";
import {
  backupEntryObject,
  controlPlaneObject,
  dnsRecordObject,
  infrastructureObject,
  networkObject,
  operatingSystemConfigs,
  poolsOf,
  workerObject,
} from "../../../src/components/index.ts";
import { CustomResourceDefinition, refOf, type KubeClient } from "../../../src/kube/index.ts";
import { versions } from "../../../src/local/binary/versions.ts";
import { applyCrds } from "../../../src/local/cluster/manifests.ts";
import { ownClusterTest } from "../../support/cluster-test.ts";
import { exampleContext } from "../../support/control-plane-context.ts";
import { eventually } from "../../support/eventually.ts";
import { notedWaits } from "../../support/noted-waits.ts";
import { shootRun } from "../../support/shoot-run.ts";

/** A seed in which a gardenlet has put its own definitions: they keep no field that they do not name. */
const test = ownClusterTest();
const example = exampleContext();
const context = exampleContext({
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
];

test.for(written)("Gardener's definitions take all that flows write of $kind", async (object) => {
  const seedClient = carryingLeadership(fenced(admin, run));
  const extensions = createExtensions({ gardenClient: admin, seedClient, waits: notedWaits });
  const kind = appliedKinds.find((one) => one === object.kind) ?? expect.fail(`no flow writes ${object.kind}`);
  await extensions.applyObject(run, object, kind, notedWaits.group("step", 1));
  const found = (await admin.read(refOf(object))) as Parameters<typeof leadershipOf>[0] | undefined;
  expect(found && leadershipOf(found)).toMatchObject({ record: "leader.example.com", epoch: 2 });
  expect(found?.spec).not.toHaveProperty("leadership");
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

/** As a gardenlet does it, under its own name. */
async function applyGardenersCrds(client: KubeClient): Promise<void> {
  const module = `github.com/gardener/gardener@v${versions.gardener}`;
  const { stdout } = await execa("go", ["mod", "download", "-json", module]);
  const folder = join((JSON.parse(stdout) as { readonly Dir: string }).Dir, "example/seed-crds");
  const files = (await readdir(folder)).filter((name) => name.startsWith("10-crd-extensions.gardener.cloud_"));
  const crds = await Promise.all(
    files.map(async (name) => parse(await readFile(join(folder, name), "utf8"), { version: "1.1" }) as KubeObject),
  );
  for (const crd of crds) await client.apply(crd, { fieldManager: "gardenlet" });
  await eventually(async () => {
    const kinds = new Set((await client.types()).map(({ kind }) => kind));
    for (const kind of ["Infrastructure", "BackupEntry", "Cluster"]) expect(kinds).toContain(kind);
  });
}
