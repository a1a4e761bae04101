import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import type { KubeObject } from "../../../src/api/index.ts";
import { defaultLifecycle } from "../../../src/api/extensions/lifecycle.ts";
import { findObjectStore } from "../../../src/api/object-stores.ts";
import {
  backupEntryObject,
  checkJob,
  components,
  containerRuntimeObjects,
  controlPlaneObject,
  copyJob,
  dnsRecordObject,
  extensionObjects,
  infrastructureObject,
  listJob,
  mainVolumeClaim,
  networkObject,
  operatingSystemConfigs,
  poolsOf,
  restoreJob,
  seedResourceManager,
  snapshotJob,
  tokenMountWebhook,
  warmUpJob,
  workerObject,
} from "../../../src/components/index.ts";
import { backedUpOnNodes } from "../../support/self-hosted-control-plane.ts";
import { exampleContext, exampleShoot } from "../../support/control-plane-context.ts";

const directory = join(import.meta.dirname, "golden");
const context = exampleContext();
const userData = { worker: { name: "osc-result-worker", key: "cloud_config" } };

/** A Shoot with what only some have: Extensions, container runtimes, a key for its machines, an identity. */
const extended = exampleContext({
  shoot: {
    ...exampleShoot({
      extensions: [{ type: "shoot-lakom-service", providerConfig: { kind: "Lakom" } }],
      provider: {
        ...context.shoot.spec.provider,
        workers: poolsOf(context).map((pool) => ({
          ...pool,
          cri: { name: "containerd", containerRuntimes: [{ type: "gvisor", providerConfig: { kind: "GVisor" } }] },
        })),
      },
    }),
    status: { clusterIdentity: "shoot--dev--example-5d8f8d8e-garden" },
  },
  extensions: [
    { type: "shoot-lakom-service", ...defaultLifecycle },
    { type: "shoot-networking-filter", ...defaultLifecycle, reconcile: "AfterWorker" },
  ],
  sshPublicKey: "c3NoLXJzYSBBQUFB",
});

const backedUpBy = (provider: string, providerConfig?: Record<string, unknown>) =>
  exampleContext({
    seed: {
      ...context.seed,
      metadata: { ...context.seed.metadata, uid: "5eed0000-0000-4000-8000-000000000001" },
      spec: {
        ...context.seed.spec,
        backup: { provider, region: "eu-central-1", ...(providerConfig && { providerConfig }) },
      },
    },
  });
const storeOf = (provider: string) => findObjectStore(provider) ?? expect.fail(`${provider} is no object store`);

const goldens: Record<string, readonly KubeObject[]> = {
  ...Object.fromEntries(Object.entries(components).map(([name, { objects }]) => [name, objects(context)])),
  "namespace-with-extensions": components.namespace.objects(extended).slice(0, 1),
  "cluster-identity": components["cluster-identity"].objects(extended),
  "operating-system-config": poolsOf(context).flatMap((pool) => operatingSystemConfigs(context, pool)),
  "backup-jobs": [
    snapshotJob(context, "final-snapshot"),
    mainVolumeClaim(context),
    restoreJob(context, "restore", { snapshot: "final-snapshot-x.db", bump: false }),
    restoreJob(context, "restore-after-loss", { snapshot: "etcd-backup-1-x.db", bump: true }),
    warmUpJob(context, "warm-up"),
    checkJob(context, "check", { snapshot: "etcd-backup-1-x.db" }),
  ],
  ...Object.fromEntries(
    ["alicloud", "aws", "azure", "gcp", "openstack", "s3"].map((provider) => [
      `snapshot-${provider}`,
      [snapshotJob(backedUpBy(provider), "final-snapshot")],
    ]),
  ),
  "backup-on-nodes": components["etcd-backup"].objects(backedUpOnNodes({ provider: "s3", region: "eu-central-1" })),
  "object-store-jobs": [
    ...components["etcd-backup"].objects(backedUpBy("aws")),
    restoreJob(backedUpBy("aws"), "restore", { snapshot: "final-snapshot-x.db", bump: false }),
    copyJob(backedUpBy("aws"), "copy", { snapshot: "final-snapshot-x.db", store: storeOf("azure") }),
    warmUpJob(backedUpBy("aws"), "warm-up"),
    listJob(backedUpBy("aws"), "list", { source: storeOf("azure") }),
    checkJob(backedUpBy("aws"), "check", { snapshot: "etcd-backup-1-x.db", source: storeOf("azure") }),
    checkJob(backedUpBy("aws"), "check-own", { snapshot: "etcd-backup-1-x.db" }),
  ],
  ...Object.fromEntries(
    (["machine-controller-manager", "cluster-autoscaler"] as const).map((name) => [
      name,
      components[name].objects(
        exampleContext({
          machines: { managerReplicas: 1, deployments: [{ name: "example-worker-z1", minimum: 1, maximum: 3 }] },
          checksums: { [name]: `sha256-of-${name}` },
        }),
      ),
    ]),
  ),
  tunnel: (["kube-apiserver-service", "kube-apiserver", "tunnel-agent"] as const).flatMap((name) =>
    components[name].objects(
      exampleContext({ tunnel: true, checksums: { "konnectivity-server": "sha256-of-konnectivity-server" } }),
    ),
  ),
  "seed-resource-manager": [
    ...seedResourceManager({ checksum: "sha256-of-gardener-resource-manager-server" }),
    tokenMountWebhook("CERTIFICATE"),
  ],
  "extension-objects": [
    infrastructureObject(context),
    infrastructureObject(extended),
    controlPlaneObject(context, { vpc: "made" }),
    networkObject(context),
    dnsRecordObject(context, "internal", { type: "rfc2136" }),
    dnsRecordObject(context, "external", { type: "rfc2136", zone: "perennial.test" }),
    backupEntryObject(backedUpBy("local"), { bucket: "made" }),
    ...extensionObjects(extended),
    ...containerRuntimeObjects(extended),
    workerObject(context, { userData, infrastructureProviderStatus: { vpc: "made" } }),
  ],
};

test.for(Object.entries(goldens))("%s makes the objects of its golden file", async ([name, objects]) => {
  const file = join(directory, `${name}.yaml`);
  const text = objects.map((object) => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 })).join("---\n");
  if (process.env["UPDATE_GOLDEN"] === "1") {
    await mkdir(directory, { recursive: true });
    await writeFile(file, text);
  }
  expect(text).toBe(await readFile(file, "utf8"));
});

test("where objects cannot be deleted, no snapshot is taken away", () => {
  const scheduled = (one: ReturnType<typeof backedUpBy>) => JSON.stringify(components["etcd-backup"].objects(one));
  expect(scheduled(backedUpBy("aws"))).toContain('"name":"expire"');
  const immutability = { retentionType: "bucket", retentionPeriod: "96h" };
  expect(scheduled(backedUpBy("aws", { immutability }))).not.toContain('"name":"expire"');
});
