import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect } from "vitest";
import { stringify } from "yaml";
import type { KubeObject } from "../../../src/api/schema/meta.ts";
import { readConfiguration } from "../../../src/gardenadm/configuration/configuration.ts";
import { BackupBucket } from "../../../src/api/core/backup-bucket.ts";
import { Shoot } from "../../../src/api/shoot/shoot.ts";
import { ShootState } from "../../../src/api/shoot/state.ts";
import { refOf, refTo, Secret, typeMeta } from "../../../src/kube/index.ts";
import { parseYaml } from "../../../src/parsing.ts";
import { test } from "../../support/cluster-test.ts";
import type { ControlPlane } from "../../support/control-plane.ts";
import { gardenOf, selfHostedShoot } from "../../support/discovered-garden.ts";
import { runGardenadm, type Surroundings } from "../../unit/gardenadm/lab.ts";

const program = join(import.meta.dirname, "../../../bin/gardenadm");

let cluster: ControlPlane;
let directory: string;
let folder: string;
let manifest: string;

test.beforeAll(({ cluster: shared }) => {
  cluster = shared;
});
test.beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "gardenadm-discover-"));
  folder = join(directory, "config");
  manifest = join(directory, "shoot.yaml");
  await writeFile(manifest, stringify(selfHostedShoot()));
  for (const object of gardenOf()) await cluster.client.apply(object);
});
test.afterEach(async () => {
  await rm(directory, { recursive: true });
  const root = { namespace: "garden", name: "root" };
  for (const ref of [refTo(Shoot, root), refTo(ShootState, root)]) await cluster.client.remove(ref);
});

const needed = [
  "cloudprofile-local.yaml",
  "configmap-tuning.yaml",
  "controllerdeployment-everywhere.yaml",
  "controllerdeployment-provider-local.yaml",
  "controllerregistration-everywhere.yaml",
  "controllerregistration-infrastructure.yaml",
  "controllerregistration-logging.yaml",
  "controllerregistration-provider-local.yaml",
  "credentialsbinding-infra.yaml",
  "project-garden.yaml",
  "secret-ca.yaml",
  "secret-extra.yaml",
  "secret-infra.yaml",
  "secret-pull.yaml",
  "shoot-root.yaml",
];

test("a new Shoot gets a file for each object that it needs, and for no other", async () => {
  const { exit, out, err } = await discover();
  expect({ exit, err }).toEqual({
    exit: 0,
    err: `\n${folder} has what Shoot garden/root needs: 15 objects (15 added, 0 changed, 0 unchanged, 0 of your own)\nNext: gardenadm init -d ${folder}\n`,
  });
  expect(out.trimEnd().split("\n")).toHaveLength(15);
  expect(out).toContain("added            secret-infra.yaml (Secret garden/infra)\n");
  expect((await readdir(folder)).sort()).toEqual(needed);
});

test("what is written is only its owner's, free of what the API server sets, and what init reads", async () => {
  await discover();
  for (const file of needed) {
    expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
    const { metadata, ...object } = await objectIn(file);
    const kept = Object.keys(metadata).filter((key) => !["name", "namespace", "labels", "annotations"].includes(key));
    expect({ file, kept, status: object["status"] }).toEqual({ file, kept: [] });
  }
  const { objects, shoot, project, cloudProfile } = await readConfiguration(folder);
  expect(objects).toHaveLength(15);
  expect([shoot, project, cloudProfile].map(({ metadata }) => metadata.name)).toEqual(["root", "garden", "local"]);
  expect(objects.find(({ kind }) => kind === "Secret")).toHaveProperty("data");
});

test("where networks and machines are the operator's, the extensions for them are not needed", async () => {
  const { exit } = await discover("--managed-infrastructure=false");
  expect(exit).toBe(0);
  const left = needed.filter((file) => file !== "controllerregistration-infrastructure.yaml");
  expect((await readdir(folder)).sort()).toEqual(left);
});

describe("given again, discover", () => {
  test("changes no file where nothing has changed", async () => {
    await discover();
    const before = await writtenAt();
    const { exit, out, err } = await discover();
    expect({ exit, words: new Set(out.match(/^\S+/gm)) }).toEqual({ exit: 0, words: new Set(["unchanged"]) });
    expect(err).toContain("15 objects (0 added, 0 changed, 15 unchanged, 0 of your own)");
    expect(await writtenAt()).toEqual(before);
  });

  test("says which fields have changed, writes these files, and shows no credential", async () => {
    await discover();
    const before = await writtenAt();
    const secret = { infra: Buffer.from("much-too-new").toString("base64") };
    await cluster.client.apply({ ...(await named("Secret", "infra")), data: secret });
    await cluster.client.apply({
      ...(await named("Project", "garden")),
      spec: { namespace: "garden", purpose: "more" },
    });
    const { out } = await discover();
    const changed = out.split("\n").filter((line) => !line.startsWith("unchanged"));
    expect(changed).toEqual([
      "changed          project-garden.yaml (Project garden):",
      '  spec.purpose: nothing -> "more"',
      "changed          secret-infra.yaml (Secret garden/infra):",
      "  data.infra",
      "",
    ]);
    expect((await objectIn("secret-infra.yaml"))["data"]).toEqual(secret);
    const now = await writtenAt();
    expect(needed.filter((file) => now[file] !== before[file])).toEqual(["project-garden.yaml", "secret-infra.yaml"]);
  });

  test("says what is no longer needed, and leaves it where it is", async () => {
    await discover();
    const { exit, out } = await discover("--managed-infrastructure=false");
    expect(exit).toBe(0);
    expect(out).toContain(
      "no longer needed controllerregistration-infrastructure.yaml (ControllerRegistration infrastructure): remove it, unless something else needs it\n",
    );
    expect((await readdir(folder)).sort()).toEqual(needed);
  });

  test("writes an object where it was moved to below the folder", async () => {
    await discover();
    const file = "kept/here.yaml";
    await write(file, await readFile(join(folder, "project-garden.yaml"), "utf8"));
    await rm(join(folder, "project-garden.yaml"));
    const { out } = await discover();
    expect(out).toContain(`unchanged        ${file} (Project garden)\n`);
    expect(await readdir(folder)).not.toContain("project-garden.yaml");
  });
});

describe("what the operator has written", () => {
  test("counts more than the garden, is not written a second time, and its difference is said", async () => {
    const own = { ...(await named("Secret", "infra")), data: { infra: "b3du" } };
    const text = [own, await named("CredentialsBinding", "infra")].map((one) => stringify(one)).join("---\n");
    await write("mine/both.yml", text);
    const { exit, out } = await discover();
    expect(exit).toBe(0);
    expect(out).toContain(
      "your own         mine/both.yml (Secret garden/infra) is not as in the garden, and stays:\n  data.infra\n",
    );
    expect(out).toContain("your own         mine/both.yml (CredentialsBinding garden/infra)\n");
    expect(await readdir(folder)).not.toContain("secret-infra.yaml");
    expect(await readFile(join(folder, "mine/both.yml"), "utf8")).toBe(text);
    expect((await readConfiguration(folder)).objects).toHaveLength(15);
  });

  test("is enough where the garden has none, and decides what else is needed", async () => {
    const { apiVersion } = await named("CredentialsBinding", "infra");
    const binding = { apiVersion, kind: "CredentialsBinding", metadata: { namespace: "garden", name: "mine" } };
    const credentialsRef = { apiVersion: "v1", kind: "Secret", namespace: "garden", name: "pull" };
    await write("binding.yaml", stringify({ ...binding, provider: { type: "local" }, credentialsRef }));
    await writeShoot((shoot) => ({ ...shoot, spec: { ...shoot.spec, credentialsBindingName: "mine" } }));
    const { exit } = await discover();
    expect(exit).toBe(0);
    const files = await readdir(folder);
    expect(files).toContain("secret-pull.yaml");
    expect(files).not.toContain("secret-infra.yaml");
  });

  test("is not overwritten where it has the name of a file that would be written", async () => {
    const other = stringify({ ...(await named("Secret", "infra")), metadata: { namespace: "garden", name: "other" } });
    await write("secret-infra.yaml", other);
    const { exit, out } = await discover();
    expect(exit).toBe(0);
    expect(out).toContain("added            secret-garden_infra.yaml (Secret garden/infra)\n");
    expect(await readFile(join(folder, "secret-infra.yaml"), "utf8")).toBe(other);
  });

  test("is the manifest, where that is in the folder, which is the one that is written to", async () => {
    await write("shoot.yaml", stringify(selfHostedShoot()));
    const { exit, out } = await runGardenadm(["discover", join(folder, "shoot.yaml")], kubeconfig());
    expect(exit).toBe(0);
    expect(out).toContain("your own         shoot.yaml (Shoot garden/root)\n");
    expect((await readdir(folder)).sort()).toEqual(
      [...needed.filter((file) => file !== "shoot-root.yaml"), "shoot.yaml"].sort(),
    );
  });

  test("is refused in a manifest elsewhere, where it would be forgotten", async () => {
    await writeFile(
      manifest,
      [selfHostedShoot(), await named("Secret", "infra")].map((one) => stringify(one)).join("---\n"),
    );
    expect(await discover()).toEqual({
      exit: 2,
      out: "",
      err: `error: cannot use the manifest: ${manifest}: Secret garden/infra: stands beside the Shoot, and the file is not in ${folder}: move it there\n`,
    });
    await expectNothingWritten();
  });
});

test("a Shoot of the garden comes with its uid, its state, its backups and the key to them", async () => {
  const { uid = "" } = (await cluster.client.create(selfHostedShoot())).metadata;
  const core = { apiVersion: "core.gardener.cloud/v1beta1" } as const;
  const inGarden = { namespace: "garden" };
  await cluster.client.apply({ ...core, kind: "ShootState", metadata: { ...inGarden, name: "root" }, spec: {} });
  const spec = { bucketName: "bucket" };
  for (const name of [`shoot--garden--root--${uid}`, `source-shoot--garden--root--${uid}`, "shoot--garden--root--old"])
    await cluster.client.apply({ ...core, kind: "BackupEntry", metadata: { ...inGarden, name }, spec });
  const credentialsRef = { apiVersion: "v1", kind: "Secret", ...inGarden, name: "bucket" };
  await cluster.client.apply({
    ...{ ...core, kind: "BackupBucket", metadata: { name: "bucket" } },
    spec: { provider: { type: "store", region: "local" }, credentialsRef },
  });
  for (const name of ["bucket-bucket-generated", "of-another"])
    await cluster.client.apply({ ...typeMeta(Secret), metadata: { ...inGarden, name } });
  const generate = (name: string) =>
    cluster.client.patch(
      refTo(BackupBucket, { name: "bucket" }),
      { status: { generatedSecretRef: { ...inGarden, name } } },
      { subresource: "status" },
    );
  await generate("of-another"); // by a seed: no Secret of the garden but the bucket's own is its to choose
  const words = ["discover", "--name", "root", "--namespace", "garden", "-d", folder];
  const { exit, err } = await runGardenadm(words, kubeconfig());
  expect({ exit, notes: err.match(/note: .*/g) }).toEqual({ exit: 0, notes: null });
  const backup = [
    "backupbucket-bucket.yaml",
    `backupentry-shoot--garden--root--${uid}.yaml`,
    "controllerregistration-store.yaml",
    "secret-bucket.yaml",
    "shootstate-root.yaml",
  ];
  expect((await readdir(folder)).sort()).toEqual([...needed, ...backup].sort());
  expect((await readConfiguration(folder)).shoot.metadata.uid).toBe(uid);
  await generate("bucket-bucket-generated");
  expect((await runGardenadm(words, kubeconfig())).exit).toBe(0);
  expect(await readdir(folder)).toContain("secret-bucket-bucket-generated.yaml");
});

test("a Shoot that exists keeps its uid also where its manifest is given, and their difference is said", async () => {
  const { uid = "" } = (await cluster.client.create(selfHostedShoot())).metadata;
  await writeShoot((shoot) => ({ ...shoot, spec: { ...shoot.spec, purpose: "testing" } }));
  const { err } = await discover();
  expect(err).toContain("note: Shoot garden/root: the manifest's is not as in the garden, in spec.purpose\n");
  expect(err).toContain("note: Shoot garden/root: has no ShootState in the garden: left out\n");
  expect((await readConfiguration(folder)).shoot).toMatchObject({ metadata: { uid }, spec: { purpose: "testing" } });
});

test("a project's own profile comes with the CloudProfile that it extends", async () => {
  await cluster.client.apply({
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "NamespacedCloudProfile",
    metadata: { namespace: "garden", name: "own" },
    spec: {
      parent: { kind: "CloudProfile", name: "local" },
      machineTypes: [{ name: "big", cpu: "8", gpu: "0", memory: "8Gi" }],
    },
  });
  const cloudProfile = { kind: "NamespacedCloudProfile", name: "own" };
  await writeShoot((shoot) => ({ ...shoot, spec: { ...shoot.spec, cloudProfile } }));
  expect(await discover()).toMatchObject({ exit: 0 });
  const files = await readdir(folder);
  expect(files).toEqual(expect.arrayContaining(["cloudprofile-local.yaml", "namespacedcloudprofile-own.yaml"]));
  const { machineTypes } = (await readConfiguration(folder)).cloudProfile.spec;
  expect(machineTypes.map(({ name }) => name)).toEqual(["local", "big"]);
});

test("two objects of one name get their namespaces into the names of their files", async () => {
  await cluster.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "elsewhere" } });
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { namespace: "elsewhere", name: "infra" } };
  await cluster.client.apply({ ...secret, data: {} });
  await cluster.client.apply({
    ...{ apiVersion: "core.gardener.cloud/v1beta1", kind: "SecretBinding" },
    metadata: { namespace: "garden", name: "infra" },
    provider: { type: "local" },
    secretRef: secret.metadata,
  });
  await writeShoot(({ spec: { credentialsBindingName: _, ...spec }, ...shoot }) => ({
    ...shoot,
    spec: { ...spec, secretBindingName: "infra", resources: [resourceNamed("Secret", "infra")] },
  }));
  expect(await discover()).toMatchObject({ exit: 0 });
  const secrets = (await readdir(folder)).filter((file) => /^secret-.*infra/.test(file));
  expect(secrets.sort()).toEqual(["secret-elsewhere_infra.yaml", "secret-garden_infra.yaml"]);
  expect((await readConfiguration(folder)).objects.length).toBeGreaterThan(10);
});

describe("an object that is not there", () => {
  test.each([
    [["CloudProfile", "local"], "Shoot garden/root: spec.cloudProfile: asks for CloudProfile local"],
    [["Project", "garden"], "Shoot garden/root: metadata.namespace: asks for Project garden"],
    [
      ["CredentialsBinding", "infra"],
      "Shoot garden/root: spec.credentialsBindingName: asks for CredentialsBinding garden/infra",
    ],
    [["Secret", "infra"], "CredentialsBinding garden/infra: credentialsRef: asks for Secret garden/infra"],
    [
      ["ControllerDeployment", "provider-local"],
      "ControllerRegistration provider-local: spec.deployment.deploymentRefs[0].name: asks for ControllerDeployment provider-local",
    ],
    [
      ["Secret", "pull"],
      "ControllerDeployment provider-local: helm.ociRepository.pullSecretRef: asks for Secret garden/pull",
    ],
    [
      ["Secret", "ca"],
      "ControllerDeployment provider-local: helm.ociRepository.caBundleSecretRef: asks for Secret garden/ca",
    ],
  ])(
    "and without which nothing comes of the Shoot ends the command before a file is written: %j",
    async (key, words) => {
      await cluster.client.remove(refOf(await named(key[0] ?? "", key[1] ?? "")));
      expect(await discover()).toEqual({
        exit: 1,
        out: "",
        err: `error: cannot discover Shoot garden/root: ${words}, which is not in the garden: create it there, or write it into the folder\n`,
      });
      await expectNothingWritten();
    },
  );

  test("and that the Shoot can do without is left out, and that is said", async () => {
    await cluster.client.remove(refOf(await named("ConfigMap", "tuning")));
    await cluster.client.remove(refOf(await named("ControllerRegistration", "logging")));
    const { exit, err } = await discover();
    expect({ exit, notes: err.match(/note: .*/g)?.sort() }).toEqual({
      exit: 0,
      notes: [
        "note: Shoot garden/root: needs Extension logging, which no ControllerRegistration is in charge of",
        "note: Shoot garden/root: spec.resources[1].resourceRef asks for ConfigMap garden/tuning, which is not in the garden: left out",
      ],
    });
    expect(await readdir(folder)).not.toContain("configmap-tuning.yaml");
    expect((await readConfiguration(folder)).objects).toHaveLength(13);
  });

  test("is also a Shoot of the garden, which has an exit code of its own", async () => {
    const words = ["discover", "--name", "none", "--namespace", "garden", "-d", folder];
    const { exit, err } = await runGardenadm(words, kubeconfig());
    expect({ exit, err }).toEqual({
      exit: 3,
      err: "error: Shoot garden/none is not in the garden: say another --name and --namespace, or name the file with its manifest\n",
    });
  });
});

test("a Shoot that init would refuse is refused with its sentence, and nothing is written", async () => {
  await writeShoot((shoot) => ({
    ...shoot,
    spec: { ...shoot.spec, provider: { type: "local", workers: [] } },
  }));
  const { exit, out, err } = await discover();
  expect({ exit, out }).toEqual({ exit: 2, out: "" });
  expect(err).toContain(
    "shoot-root.yaml: Shoot garden/root: spec.provider.workers: has no pool for the control plane: add controlPlane: {} to exactly one",
  );
  await expectNothingWritten();
});

test("credentials that are no Secret are refused with the remedy", async () => {
  const binding = await named("CredentialsBinding", "infra");
  await cluster.client.remove(refOf(binding));
  const credentialsRef = {
    ...{ apiVersion: "security.gardener.cloud/v1alpha1", kind: "WorkloadIdentity" },
    ...{ namespace: "garden", name: "robot" },
  };
  await cluster.client.apply({ ...binding, credentialsRef });
  const { exit, err } = await discover();
  expect({ exit, err }).toEqual({
    exit: 1,
    err: "error: cannot discover Shoot garden/root: CredentialsBinding garden/infra: credentialsRef: asks for WorkloadIdentity garden/robot, which has no place in a configuration: write a Secret\n",
  });
  await cluster.client.remove(refOf(binding));
});

test("what the API server refuses is one sentence, and nothing is written", async () => {
  const file = join(directory, "alice.yaml");
  await writeFile(file, cluster.kubeconfigOf("alice"));
  const { exit, out, err } = await discover("-k", file);
  expect({ exit, out, lines: err.split("\n").length }).toEqual({ exit: 1, out: "", lines: 2 });
  expect(err).toMatch(/^error: cannot read Shoot garden\/root: .*alice/);
  await expectNothingWritten();
});

test("a garden that does not answer has an exit code of its own", async () => {
  const file = join(directory, "dead.yaml");
  await writeFile(file, cluster.kubeconfig.replace(/127\.0\.0\.1:\d+/, "127.0.0.1:1"));
  const { exit, err } = await discover("-k", file);
  expect({ exit, lines: err.split("\n").length }).toEqual({ exit: 4, lines: 2 });
});

test("a killed command leaves no half file, and the same command goes on", async () => {
  const many = Array.from({ length: 60 }, (_, number) => `many-${number}`);
  for (const name of many)
    await cluster.client.apply({
      ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "garden", name } },
      data: { text: "x".repeat(20_000) },
    });
  await writeShoot((shoot) => ({
    ...shoot,
    spec: { ...shoot.spec, resources: many.map((name) => resourceNamed("ConfigMap", name)) },
  }));
  const child = spawn(program, ["discover", manifest, "-d", folder, "-k", cluster.kubeconfigFile], { stdio: "ignore" });
  const ended = once(child, "exit");
  while ((await yamlFiles()).length < 5) await delay(1);
  child.kill("SIGKILL");
  await ended;
  const left = await yamlFiles();
  expect(left.length).toBeLessThan(70);
  for (const file of left) expect(await objectIn(file)).toHaveProperty("metadata.name");
  expect(await discover()).toMatchObject({ exit: 0 });
  expect((await readConfiguration(folder)).objects).toHaveLength(needed.length - 2 + many.length);
  expect((await readdir(folder)).filter((file) => file.startsWith("."))).toEqual([]);
});

async function discover(...words: readonly string[]) {
  return await runGardenadm(["discover", manifest, "-d", folder, ...words], kubeconfig());
}

const kubeconfig = (): Surroundings => ({ variables: { KUBECONFIG: cluster.kubeconfigFile } });

async function writeShoot(change: (shoot: Shoot) => unknown): Promise<void> {
  await writeFile(manifest, stringify(change(selfHostedShoot())));
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), text);
}

/** An object of the garden as it was made. */
async function named(kind: string, name: string): Promise<KubeObject> {
  const found = gardenOf().find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return await Promise.resolve(found);
}

async function objectIn(file: string): Promise<KubeObject> {
  return parseYaml(await readFile(join(folder, file), "utf8"), file) as KubeObject;
}

const yamlFiles = async (): Promise<string[]> =>
  (await readdir(folder).catch(() => [])).filter((file) => file.endsWith(".yaml"));

async function writtenAt(): Promise<Record<string, number>> {
  const files = await yamlFiles();
  const times = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).ino));
  return Object.fromEntries(files.map((file, index) => [file, times[index] ?? 0]));
}

async function expectNothingWritten(): Promise<void> {
  await expect(readdir(folder)).rejects.toThrow("ENOENT");
}

const resourceNamed = (kind: string, name: string) => ({ name, resourceRef: { apiVersion: "v1", kind, name } });
