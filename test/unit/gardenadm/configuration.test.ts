import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { ConfigurationError, readConfiguration } from "../../../src/gardenadm/configuration/configuration.ts";
import { ensureUid } from "../../../src/gardenadm/cluster/control-plane.ts";
import { exampleConfiguration } from "../../support/configuration.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-configuration-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
}

/** What is said of the folder, without its name. */
async function refusal(): Promise<string[]> {
  const error: unknown = await readConfiguration(folder).then(
    () => undefined,
    (refused: unknown) => refused,
  );
  expect(error).toBeInstanceOf(ConfigurationError);
  return (error as ConfigurationError).faults.map(({ sentence }) => sentence);
}

type Changes = Readonly<Record<string, (object: Record<string, unknown>) => unknown>>;

/** The example, one file for each object, of which those of the named kinds are changed; an undefined one is left out. */
async function writeExample(changes: Changes = {}): Promise<void> {
  for (const object of exampleConfiguration()) {
    const kind = String(object["kind"]);
    const changed = changes[kind] ? changes[kind](object) : object;
    if (changed !== undefined) await write({ [`${kind}.yaml`]: stringify(changed) });
  }
}

describe("what the operator writes is read", () => {
  test("from a file for each object", async () => {
    await writeExample();
    const { shoot, project, cloudProfile, objects } = await readConfiguration(folder);
    expect([shoot, project, cloudProfile].map(({ metadata }) => metadata.name)).toEqual(["root", "garden", "local"]);
    expect(objects).toHaveLength(7);
  });

  test("from one file with all of them, and from a List in JSON, at any depth", async () => {
    const [first, ...others] = exampleConfiguration();
    await write({
      "a/b/c/all.yml": others.map((object) => stringify(object)).join("---\n"),
      "list.json": JSON.stringify({ apiVersion: "v1", kind: "List", items: [first] }),
    });
    expect((await readConfiguration(folder)).objects).toHaveLength(7);
  });

  test("without what is hidden, has another ending, is empty or is a link to a folder", async () => {
    await writeExample();
    await write({ ".git/Shoot.yaml": "{", ".swap.yaml": "{", "notes.md": "{", "empty.yaml": "# nothing\n---\n" });
    await symlink(tmpdir(), join(folder, "elsewhere.yaml"));
    expect((await readConfiguration(folder)).objects).toHaveLength(7);
  });

  test("with a Secret's texts as its data", async () => {
    await writeExample({ Secret: ({ data: _, ...secret }) => ({ ...secret, stringData: { token: "open" } }) });
    const { objects } = await readConfiguration(folder);
    const secret = objects.find(({ kind }) => kind === "Secret");
    expect(secret).toMatchObject({ data: { token: "b3Blbg==" } });
    expect(secret).not.toHaveProperty("stringData");
  });

  test("in another version that its kind is served in", async () => {
    await writeExample();
    const { objects } = await readConfiguration(folder);
    expect(objects.find(({ kind }) => kind === "ControllerDeployment")?.apiVersion).toBe("core.gardener.cloud/v1beta1");
  });
});

const set = (path: string, value: unknown) => (object: Record<string, unknown>) => {
  const copy = structuredClone(object);
  const steps = path.split(".");
  const last = steps.pop() ?? "";
  const parent = steps.reduce((at, step) => at[step] as Record<string, unknown>, copy);
  parent[last] = value;
  return copy;
};

/** Exposes the control plane by the DNS. */
const byDns = (object: Record<string, unknown>) =>
  set("spec.provider.workers.0.controlPlane", { exposure: { dns: {} } })(
    set("spec.dns.providers", [{ type: "rfc2136", secretName: "dns" }])(object),
  );

const shoot = "Shoot.yaml: Shoot garden/root";
const wrong: Readonly<Record<string, readonly [Changes, string]>> = {
  "no Shoot": [{ Shoot: () => undefined }, "no document is a Shoot of core.gardener.cloud/v1beta1: add exactly one"],
  "no namespace": [
    { Secret: set("metadata", { name: "credentials" }) },
    "Secret.yaml: Secret credentials: metadata.namespace: is missing or no name: write the namespace of its Project",
  ],
  "a namespace that is no text": [
    { Secret: set("metadata.namespace", 7) },
    "Secret.yaml: document 1 has a metadata.namespace that is no text: write the namespace of its Project",
  ],
  "a namespace where there is none": [
    { Project: set("metadata.namespace", "garden") },
    "Project.yaml: Project garden/garden: metadata.namespace: is set, and a Project is in no namespace: take it out",
  ],
  "another version": [
    { Shoot: set("apiVersion", "core.gardener.cloud/v1") },
    `${shoot}: apiVersion: is core.gardener.cloud/v1: write core.gardener.cloud/v1beta1`,
  ],
  "a kind without a place": [
    { Secret: set("kind", "Pod") },
    "kind Pod of v1 has no place in a configuration: take it out",
  ],
  "no kind": [{ Secret: set("kind", "") }, "has no kind: each document is an object"],
  "a text instead of an object": [
    { Secret: () => "open" },
    "Secret.yaml: document 1 is no object: write apiVersion, kind and metadata",
  ],
  "a name with capitals": [
    { Secret: set("metadata.name", "Credentials") },
    "metadata.name: is no name: use small letters, digits and hyphens",
  ],
  "a field of another type": [
    { Shoot: set("spec.region", 7) },
    `${shoot}: spec.region: invalid input: expected string, received number: see docs/api.md`,
  ],
  "a value that is not base64": [
    { Secret: set("data.token", "%") },
    "Secret.yaml: Secret garden/credentials: data.token: is not base64: see docs/api.md",
  ],
  "another namespace than that of self-hosted Shoots": [
    { Shoot: set("metadata.namespace", "garden-dev") },
    "metadata.namespace: must be garden for a Shoot that carries itself",
  ],
  "no pool for the control plane": [
    { Shoot: set("spec.provider.workers.0.controlPlane", undefined) },
    `${shoot}: spec.provider.workers: has no pool for the control plane: add controlPlane: {} to exactly one`,
  ],
  "two pools for the control plane": [
    { Shoot: set("spec.provider.workers.1.controlPlane", {}) },
    `${shoot}: spec.provider.workers[1].controlPlane: must not be set: pool control-plane carries the control plane`,
  ],
  "an even number of nodes for the control plane": [
    { Shoot: (object) => set("spec.provider.workers.0.minimum", 2)(set("spec.provider.workers.0.maximum", 2)(object)) },
    `${shoot}: spec.provider.workers[0].minimum: must be 1, 3, 5 or 7, not 2, for a control plane`,
  ],
  "networks that overlap": [
    { Shoot: set("spec.networking.services", "10.184.128.0/20") },
    `${shoot}: spec.networking.services: 10.184.128.0/20 overlaps with 10.184.0.0/16 of spec.networking.pods`,
  ],
  "a cluster of IPv6 alone": [
    { Shoot: set("spec.networking.ipFamilies", ["IPv6"]) },
    `${shoot}: spec.networking.ipFamilies: IPv6 is not supported: use IPv4 alone`,
  ],
  "a range for nodes of IPv6": [
    { Shoot: set("spec.networking.nodes", "fd00:12::/64") },
    `${shoot}: spec.networking.nodes: fd00:12::/64: IPv6 is not supported: use IPv4 alone`,
  ],
  "kubelets newer than their API server": [
    { Shoot: set("spec.provider.workers.1.kubernetes", { version: "1.35.0" }) },
    `${shoot}: spec.provider.workers[1].kubernetes.version: 1.35.0 must be at most three minor versions behind 1.34.4`,
  ],
  "a control plane that sleeps": [
    { Shoot: set("spec.hibernation", { enabled: true }) },
    `${shoot}: spec.hibernation.enabled: must not be true`,
  ],
  "an exposure that no extension makes": [
    { Shoot: set("spec.provider.workers.0.controlPlane", { exposure: { extension: { type: "balancer" } } }) },
    `${shoot}: spec.provider.workers[0].controlPlane.exposure: needs an extension for SelfHostedShootExposure of type balancer: add its ControllerRegistration`,
  ],
  "an exposure by the DNS without its controller": [
    { Shoot: byDns },
    `${shoot}: spec.provider.workers[0].controlPlane.exposure: needs an extension for DNSRecord of type rfc2136: add its ControllerRegistration`,
  ],
  "an exposure by the DNS without its credentials": [
    { Shoot: byDns },
    `${shoot}: spec.dns.providers: names Secret garden/dns, which is not in the folder: add it`,
  ],
  "a backup that no new machine could reach": [
    {
      Shoot: set("spec.provider.workers.0.controlPlane", {
        backup: { provider: "local", credentialsRef: { name: "credentials" } },
      }),
    },
    `${shoot}: spec.provider.workers[0].controlPlane.backup.provider: must be an object store, not local: write aws`,
  ],
  "a backup without credentials": [
    { Shoot: set("spec.provider.workers.0.controlPlane", { backup: { provider: "s3" } }) },
    `${shoot}: spec.provider.workers[0].controlPlane.backup.credentialsRef: is missing: name the Secret`,
  ],
  "a backup with credentials that are not there": [
    {
      Shoot: set("spec.provider.workers.0.controlPlane", {
        backup: { provider: "s3", credentialsRef: { name: "bucket" } },
      }),
    },
    `${shoot}: spec.provider.workers[0].controlPlane.backup.credentialsRef: names Secret garden/bucket, which is not in the folder: add it`,
  ],
  "another profile": [
    { Shoot: set("spec.cloudProfile.name", "other") },
    `${shoot}: spec.cloudProfile: names CloudProfile other: write CloudProfile local`,
  ],
  "another project": [
    { Project: set("spec.namespace", "garden-dev") },
    "Project.yaml: Project garden: spec.namespace: is garden-dev, and the Shoot is in garden: write that one",
  ],
  "a binding that is not there": [
    { Shoot: set("spec.credentialsBindingName", "mine") },
    `${shoot}: spec.credentialsBindingName: names CredentialsBinding garden/mine, which is not in the folder: add it`,
  ],
  "a Secret that is not there": [
    { Secret: () => undefined },
    "credentialsRef: names Secret garden/credentials, which is not in the folder: add it",
  ],
  "credentials that come from a garden": [
    { CredentialsBinding: set("credentialsRef.kind", "WorkloadIdentity") },
    "credentialsRef.kind: is WorkloadIdentity, whose tokens come from a garden: write a Secret",
  ],
  "a deployment that is not there": [
    { ControllerDeployment: () => undefined },
    "spec.deployment.deploymentRefs[0].name: names ControllerDeployment provider-local, which is not in the folder: add it",
  ],
};

describe("what cannot be used is refused with file, object, field and remedy", () => {
  test.each(Object.entries(wrong))("%s", async (_, [changes, sentence]) => {
    await writeExample(changes);
    expect((await refusal()).join("\n")).toContain(sentence);
  });

  test("an object that stands there twice names both files, and a second Shoot is one too many", async () => {
    await writeExample();
    const [shootObject = {}] = exampleConfiguration();
    await write({
      "again.yaml": stringify(shootObject),
      "other.yaml": stringify(set("metadata.name", "other")(shootObject)),
    });
    expect(await refusal()).toEqual([
      "again.yaml: Shoot garden/root: stands in Shoot.yaml already: keep one of the two",
      "other.yaml: Shoot garden/other: is one Shoot too many, beside Shoot garden/root: keep the one of this cluster",
    ]);
  });

  test.each([
    ["broken.yaml", "a: [", "broken.yaml: the file is not YAML: see line 1, column 5; correct it"],
    ["twice.yaml", "a: 1\na: 2", "twice.yaml: the file has two keys of one name: see line 2, column 1; correct it"],
    ["broken.json", "{", "broken.json: the file is not JSON; correct it, or take it out of the folder"],
    [
      "large.yaml",
      "#".repeat(4_000_000),
      "large.yaml: has 4000000 bytes, and an object at most 3145728: split the file",
    ],
  ])("the file %s", async (file, text, sentence) => {
    await writeExample();
    await write({ [file]: text });
    expect((await refusal()).join("\n")).toContain(sentence);
  });

  test("bytes that are no text", async () => {
    await writeExample();
    await writeFile(join(folder, "raw.yaml"), Buffer.from([0xff, 0xfe, 0x00]));
    expect(await refusal()).toEqual(["raw.yaml: is not text in UTF-8: save it as such"]);
  });

  test("a folder that is not there, and a file in its place", async () => {
    await write({ file: "" });
    await expect(readConfiguration(join(folder, "none"))).rejects.toThrow(
      "none: there is no such folder: name it with --config-dir",
    );
    await expect(readConfiguration(join(folder, "file"))).rejects.toThrow("file: is no folder");
  });

  test("control characters of a name forge no line", async () => {
    await write({ "a.yaml": 'apiVersion: v1\nkind: "Pod\\nfine"\nmetadata: {name: a}\n' });
    expect((await refusal())[0]).not.toContain("\n");
  });
});

test("a uid of a garden stays the Shoot's, once it is on the machine, and has to be one", async () => {
  const withUid = (uid: string): Changes => ({
    Shoot: (shoot) => ({ ...shoot, metadata: { ...(shoot["metadata"] as object), uid } }),
  });
  await writeExample(withUid("0e1f"));
  const file = join(folder, "state/shoot-uid");
  const { shoot } = await readConfiguration(folder);
  expect(await ensureUid(file, shoot)).toBe("0e1f");
  expect(await ensureUid(file, { ...shoot, metadata: { ...shoot.metadata, uid: "other" } })).toBe("0e1f");
  await writeExample(withUid("../etc"));
  expect(await refusal()).toEqual([
    "Shoot.yaml: Shoot garden/root: metadata.uid: is no uid: write that of the garden, or take it out",
  ]);
});

test("a project's own profile extends a CloudProfile that is there, and is what the Shoot names", async () => {
  await writeExample();
  const profile = { apiVersion: "core.gardener.cloud/v1beta1", kind: "NamespacedCloudProfile" };
  const spec = { parent: { kind: "CloudProfile", name: "absent" } };
  await write({ "own.yaml": stringify({ ...profile, metadata: { namespace: "garden", name: "own" }, spec }) });
  expect(await refusal()).toEqual([
    "Shoot.yaml: Shoot garden/root: spec.cloudProfile: names CloudProfile local: write NamespacedCloudProfile garden/own",
    "own.yaml: NamespacedCloudProfile garden/own: spec.parent.name: names CloudProfile absent, which is not in the folder: add it",
  ]);
});
