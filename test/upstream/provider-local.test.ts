import { chmod, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rolledOut } from "../../src/activities/waits/readiness.ts";
import { whyNotReady } from "../../src/api/registration/installation.ts";
import { installationNamespace } from "../../src/api/names.ts";
import {
  BackupBucket,
  ControllerDeployment,
  ControllerInstallation,
  ControllerRegistration,
  ControlPlane,
  DNSRecord,
  Extension,
  ExtensionBackupBucket,
  Infrastructure,
  ManagedResource,
  Seed,
} from "../../src/api/index.ts";
import { verifyExtension } from "../../src/conformance/verify.ts";
import { Deployment, Namespace, refTo, Secret, ServiceAccount, type KubeClient } from "../../src/kube/index.ts";
import { kubeconfigFile } from "../../src/local/cluster/clusters.ts";
import { down } from "../../src/local/environment/down.ts";
import { upstreamZone } from "../../src/local/process/dns.ts";
import { queryRecords } from "../../src/provider-local/dns/name-server.ts";
import { findBinary } from "../support/binary.ts";
import { createShoot, type TestShoot } from "../support/e2e-shoots.ts";
import { eventually } from "../support/eventually.ts";
import { localEnvironment, type LocalEnvironment, type SeedName } from "../support/local-environment.ts";
import { openShootCluster } from "../support/shoot-cluster.ts";
import { findSeedRemains, findShootRemains } from "../support/shoot-remains.ts";
import { loadSleepingImage } from "../support/sleeping-image.ts";
import {
  bucketsFolder,
  credentials,
  infrastructureKubeconfig,
  prepareGarden,
  upstreamName,
  writeUpstreamRegistration,
} from "../support/upstream-provider.ts";
import { upstreamSubjects } from "../support/upstream-subjects.ts";
import { expectVerdicts } from "../support/upstream-verdicts.ts";
import { seconds } from "../support/patience.ts";

/**
 * Upstream's provider-local with its own chart, installed by registration, in pods of real seeds, at the service of Seeds and
 * a Shoot: the buckets of the Seeds are its own; of the Shoot, Infrastructure, ControlPlane, the DNSRecord of a domain of its
 * own, and Extensions. All else is the built-in provider's.
 */
const kept = process.env["PERENNIAL_E2E"];
const name = kept ?? "upstream";
let local: LocalEnvironment;
let folder: string;
let shoot: TestShoot;

beforeAll(async () => {
  if (kept === undefined) await down({ name }); // what an interrupted run has left
  folder = await mkdtemp(join(tmpdir(), "perennial-upstream-"));
  local = await localEnvironment(name, { upstream: true });
  await prepareGarden(local);
}, seconds(600));

afterAll(async () => {
  await local?.close();
  if (kept === undefined) await down({ name });
  await rm(folder, { recursive: true, force: true });
}, seconds(120));

test("registered with its own chart, it is installed on the seeds that need it, and serves there", async () => {
  const file = await writeUpstreamRegistration(local, folder);
  expect(await local.perennial("extension", "install", file)).toContain(`ControllerRegistration ${upstreamName}`);
  await eventually(async () => {
    const installations = await findInstallations();
    expect(installations.map(({ spec }) => spec.seedRef?.name).sort()).toEqual(["seed-1", "seed-2"]);
    for (const installation of installations) expect(whyNotReady(installation)).toBeUndefined();
  }, 180_000);
  for (const seed of seedNames) {
    const pods = await local.seeds[seed].read(Deployment, await deploymentIn(seed));
    expect(statesOf(pods?.status?.conditions)).toMatchObject({ Available: "True" });
  }
});

test("the Seeds' buckets are folders that it makes", async () => {
  await eventually(async () => {
    for (const seed of seedNames) expect(await bucketIn(seed)).toMatchObject(made("Create"));
  }, 60_000);
  const names = await Promise.all(seedNames.map(bucketOf));
  expect(await readdir(bucketsFolder(local.environment))).toEqual(names.toSorted());
  await eventually(async () => {
    for (const { status } of await local.gardenClient.list(Seed))
      expect(statesOf(status?.conditions)).toMatchObject({ BackupBucketsReady: "True" });
  });
});

test("asked again with other credentials, it puts the folder of a bucket in order", async () => {
  const folder = join(bucketsFolder(local.environment), await bucketOf("seed-1"));
  await chmod(folder, 0o700);
  await local.gardenClient.patch(refTo(Secret, { namespace: "garden", name: "backup" }), {
    data: { changed: Buffer.from("by its owner").toString("base64") },
  });
  await local.gardenClient.patch(refTo(Seed, { name: "seed-1" }), { metadata: { annotations: { look: "again" } } });
  await eventually(async () => expect(await bucketIn("seed-1")).toMatchObject(made("Reconcile")), 30_000);
  expect((await stat(folder)).mode & 0o777).toBe(0o775);
});

test(
  "a Shoot gets infrastructure, control plane, DNS record and Extensions from it",
  async () => {
    shoot = await createShoot(local, { name: "theirs", dnsType: "local", dnsZone: upstreamZone, extensions });
    await loadSleepingImage(local, shoot, folder);
    await shoot.settles("Succeeded", "Create", 600_000);
    await answersFor(local.seedClient, "Create");
    expect(await local.seedClient.read(refTo(Namespace, { name: `infra-${shoot.technicalID}` }))).toBeDefined();
  },
  seconds(960),
);

test("the Shoot's own domain leads to its API server by the record that it writes", async () => {
  const [own = "", internal = ""] = shoot.hosts;
  expect(own).toBe("api.theirs.local.gardener.cloud");
  const addresses = await addressesOf(internal);
  expect(addresses).toHaveLength(1);
  expect(await addressesOf(own)).toEqual(addresses);
});

test("its Extensions put their parts beside the control plane and into the Shoot", async () => {
  expect(await local.seedClient.read(partInSeed())).toBeDefined();
  const { account, deployment } = await partsInShoot();
  expect(account).toBeDefined();
  expect(statesOf(deployment?.status?.conditions)).toMatchObject({ Available: "True" });
});

test("what it puts beside the control plane and into the Shoot is applied, healthy and rolled out", async () => {
  const resources = await local.seedClient.list(ManagedResource, { namespace: shoot.technicalID });
  expect(resources.map(({ metadata }) => metadata.name).sort()).toEqual([
    ...["configuration-seed", "seed", "shoot", "shoot-webhooks", "storageclasses"].map(
      (part) => `extension-controlplane-${part}`,
    ),
    ...extensions,
  ]);
  for (const { metadata, status } of resources)
    expect(statesOf(status?.conditions), metadata.name).toEqual({
      ResourcesApplied: "True",
      ResourcesHealthy: "True",
      ResourcesProgressing: "False",
    });
  const manager = refTo(Deployment, { namespace: shoot.technicalID, name: "cloud-controller-manager" });
  expect(statesOf((await local.seedClient.read(manager))?.status?.conditions)).toMatchObject({ Available: "True" });
});

test(
  "its webhook has changed the control plane that we deploy, and a reconcile leaves the change alone",
  async () => {
    const scheduler = refTo(Deployment, { namespace: shoot.technicalID, name: "kube-scheduler" });
    const before = await local.seedClient.read(scheduler);
    expect(before?.spec).toMatchObject({ template: { metadata: { labels: { "injected-by": "provider-local" } } } });
    await shoot.annotate({ "gardener.cloud/operation": "reconcile" });
    await shoot.settles("Succeeded", "Reconcile", 300_000);
    expect((await local.seedClient.read(scheduler))?.metadata.generation).toBe(before?.metadata.generation);
  },
  seconds(330),
);

test(
  "an error of its controller is the Shoot's, and is over with its cause",
  async () => {
    const broken = Buffer.from("no kubeconfig").toString("base64");
    await local.gardenClient.patch(credentials, { data: { kubeconfig: broken } });
    await shoot.annotate({
      "gardener.cloud/operation": "reconcile",
      "shoot.gardener.cloud/tasks": "deployInfrastructure",
    });
    // An error of an Infrastructure's controller fails the step when it has lasted for three minutes.
    await eventually(async () => {
      expect(await shoot.lastErrors()).toContainEqual(
        expect.objectContaining({
          taskID: "infrastructure",
          description: expect.stringContaining("could not create client from provider secret"),
        }),
      );
    }, 300_000);
    await local.gardenClient.patch(credentials, {
      data: { kubeconfig: await infrastructureKubeconfig(local.environment) },
    });
    await shoot.annotate({
      "gardener.cloud/operation": "reconcile",
      "shoot.gardener.cloud/tasks": "deployInfrastructure",
    });
    await shoot.settles("Succeeded", "Reconcile", 300_000);
    expect(await shoot.lastErrors()).toEqual([]);
  },
  seconds(660),
);

test(
  "a Shoot moves: it lets go of its objects in one seed, and takes them up in the other",
  async () => {
    const before = await partsInShoot();
    const [own = "", internal = ""] = shoot.hosts;
    const oldAddresses = await addressesOf(own);
    await local.perennial("shoot", "migrate", "garden-dev/theirs", "--to", "seed-2", "-y");
    await shoot.settles("Succeeded", "Restore", 600_000);
    await answersFor(local.seeds["seed-2"], "Restore");
    await eventually(async () => expect(await findSeedRemains(local, shoot, "seed-1")).toEqual([]), 120_000);
    expect(await local.seedClient.read(refTo(Namespace, { name: `infra-${shoot.technicalID}` }))).toBeDefined();
    expect(await addressesOf(own)).not.toEqual(oldAddresses);
    expect(await addressesOf(own)).toEqual(await addressesOf(internal));
    expect(await local.seeds["seed-2"].read(partInSeed())).toBeDefined();
    const after = await partsInShoot();
    expect(after.account?.metadata.uid).toBe(before.account?.metadata.uid);
    expect(after.deployment?.metadata.uid).toBe(before.deployment?.metadata.uid);
  },
  seconds(780),
);

test("the snapshots of its etcd are in the buckets of both Seeds", async () => {
  for (const seed of seedNames) {
    const entries = join(bucketsFolder(local.environment), await bucketOf(seed));
    const [entry = "", ...others] = await readdir(entries);
    expect([entry, ...others]).toEqual([`${shoot.technicalID}--${shoot.ref.uid}`]);
    expect(await readdir(join(entries, entry))).toContainEqual(expect.stringMatching(/\.db$/));
  }
});

test(
  "a Shoot is deleted, and nothing is left of it",
  async () => {
    await shoot.remove();
    await shoot.gone(600_000);
    await eventually(async () => expect(await findShootRemains(local, shoot)).toEqual([]), 60_000);
    expect(await local.seedClient.read(refTo(Namespace, { name: `infra-${shoot.technicalID}` }))).toBeUndefined();
  },
  seconds(720),
);

test(
  "its BackupEntry controller keeps the contract in a seed in which the built-in one stands still",
  async () => {
    const deployment = await local.gardenClient.read(ControllerDeployment, { name: upstreamName });
    const { disableControllers = [] } = (deployment?.helm?.values ?? {}) as { disableControllers?: readonly string[] };
    const left = disableControllers.filter((name) => name !== "backupentry");
    expect(left).toHaveLength(disableControllers.length - 1);
    await local.gardenClient.patch(refTo(ControllerDeployment, { name: upstreamName }), {
      helm: { values: { disableControllers: left } },
    });
    await eventually(async () => {
      const pods = await local.seedClient.read(Deployment, await deploymentIn("seed-1"));
      expect(JSON.stringify(pods?.spec)).toContain(`--disable-controllers=${left.join()}"`);
      expect(pods && rolledOut(pods)).toMatchObject({ reached: true });
    }, 180_000);
    await local.pause("provider-local-seed-1");
    try {
      const report = await verifyExtension({
        client: local.seedClient,
        subject: { kind: "BackupEntry", type: "local", restart: replacePods },
        pace: { timeout: 60_000, settle: 3_000 },
        log: local.log,
        signal: new AbortController().signal,
      });
      const known = upstreamSubjects.find(({ kind }) => kind === "BackupEntry");
      expectVerdicts(report, known ?? expect.fail("nothing is known of BackupEntry"));
    } finally {
      await local.resume("provider-local-seed-1");
    }
  },
  seconds(900),
);

test(
  "registered no more, it stays until the Seeds are deleted, and takes their buckets away",
  async () => {
    const namespaces = (await findInstallations()).map(({ metadata }) => installationNamespace(metadata.name));
    await local.gardenClient.remove(refTo(ControllerRegistration, { name: upstreamName }));
    for (const name of seedNames) await local.gardenClient.remove(refTo(Seed, { name }));
    await eventually(async () => {
      expect(await local.gardenClient.list(BackupBucket)).toEqual([]);
      expect(await findInstallations()).toEqual([]);
      expect(await local.gardenClient.read(ControllerRegistration, { name: upstreamName })).toBeUndefined();
    }, 300_000);
    expect(await readdir(bucketsFolder(local.environment))).toEqual([]);
    for (const seed of Object.values(local.seeds)) {
      expect(await seed.list(ExtensionBackupBucket)).toEqual([]);
      for (const namespace of namespaces)
        expect(await seed.read(refTo(Namespace, { name: namespace }))).toBeUndefined();
    }
  },
  seconds(360),
);

const seedNames: readonly SeedName[] = ["seed-1", "seed-2"];

/** One for each time in a Shoot's life at which an Extension may act. */
const extensions = ["local-ext-seed", "local-ext-shoot", "local-ext-shoot-after-worker"];

const findInstallations = async (): Promise<readonly ControllerInstallation[]> =>
  (await local.gardenClient.list(ControllerInstallation)).filter(
    ({ spec }) => spec.registrationRef.name === upstreamName,
  );

/** The name of a Seed's bucket: the Seed's uid. */
async function bucketOf(seed: SeedName): Promise<string> {
  return (await local.gardenClient.read(Seed, { name: seed }))?.metadata.uid ?? expect.fail(`${seed} is gone`);
}

const bucketIn = async (seed: SeedName): Promise<ExtensionBackupBucket | undefined> =>
  await local.seeds[seed].read(refTo(ExtensionBackupBucket, { name: await bucketOf(seed) }));

/** What upstream's controller says of a bucket; only theirs comes with credentials. */
const made = (type: "Create" | "Reconcile") => ({
  status: {
    lastOperation: { type, state: "Succeeded", description: "Successfully reconciled backupbucket" },
    generatedSecretRef: { namespace: "garden" },
  },
});

/** What the environment's DNS server answers, which the controllers' pods ask, too. */
const addressesOf = async (name: string): Promise<readonly string[]> =>
  await queryRecords({ address: local.environment.gateway, key: { file: "" } }, { name, type: "A" });

const partInSeed = () => refTo(ServiceAccount, { namespace: shoot.technicalID, name: "local-ext-seed" });

async function partsInShoot() {
  const cluster = await openShootCluster(local, shoot);
  const namespace = "kube-system";
  try {
    return {
      account: await cluster.read(ServiceAccount, { namespace, name: "local-ext-shoot" }),
      deployment: await cluster.read(Deployment, { namespace, name: "local-ext-shoot-after-worker" }),
    };
  } finally {
    await cluster.close();
  }
}

/** Where its Deployment is in a seed. */
async function deploymentIn(seed: SeedName) {
  const found = (await findInstallations()).find(({ spec }) => spec.seedRef?.name === seed);
  const { name } = found?.metadata ?? expect.fail(`it is not installed on ${seed}`);
  return { namespace: installationNamespace(name), name: "gardener-extension-provider-local" };
}

/** Kills the controllers in the first seed without notice; resolves when others are ready. */
async function replacePods(): Promise<void> {
  const { namespace, name } = await deploymentIn("seed-1");
  const place = ["--kubeconfig", kubeconfigFile(local.environment, "seed-1"), "--namespace", namespace];
  const kubectl = await findBinary("kubectl");
  const selector = `app.kubernetes.io/name=${name}`;
  await execa(kubectl, [...place, "delete", "pod", "--selector", selector, "--grace-period=0", "--force"]);
  await execa(kubectl, [...place, "rollout", "status", "deployment", name, "--timeout", "120s"]);
}

/**
 * What upstream's controllers say of the Shoot's objects: words of theirs, which ours do not use. What they report of a
 * Restore wakes them while they are asked for it, and may have them reconcile once more; what is not restored says Create.
 */
async function answersFor(seed: KubeClient, type: "Create" | "Restore"): Promise<void> {
  const { technicalID: namespace, name } = shoot;
  const objects = await Promise.all([
    seed.read(refTo(Infrastructure, { namespace, name })),
    seed.read(refTo(ControlPlane, { namespace, name })),
    seed.read(refTo(DNSRecord, { namespace, name: `${name}-external` })),
    ...extensions.map((extension) => seed.read(refTo(Extension, { namespace, name: extension }))),
  ]);
  const said = type === "Restore" ? (expect.stringMatching(/^(Restore|Reconcile)$/) as string) : type;
  for (const object of objects)
    expect(object?.status?.lastOperation).toMatchObject({ type: said, state: "Succeeded", description: successfully });
}

const successfully = expect.stringMatching(
  /^Successfully (reconciled|restored) (infrastructure|ControlPlane|DNSRecord|Extension( resource)?)$/i,
) as string;

const statesOf = (
  conditions: readonly { readonly type: string; readonly status: string }[] = [],
): Record<string, string> => Object.fromEntries(conditions.map(({ type, status }) => [type, status]));
