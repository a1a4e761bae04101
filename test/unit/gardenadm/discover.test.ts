import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { ControllerRegistration } from "../../../src/api/core/controller-registration.ts";
import { registeredOf } from "../../../src/api/registration/registered.ts";
import type { KubeObject } from "../../../src/api/schema/meta.ts";
import type { Shoot } from "../../../src/api/shoot/shoot.ts";
import { contradictions, differingFields } from "../../../src/gardenadm/discover/difference.ts";
import { planFiles } from "../../../src/gardenadm/discover/plan.ts";
import { referencesOfShoot } from "../../../src/api/shoot/references.ts";
import { neededPairs, neededRegistrations, unofferedPairs } from "../../../src/gardenadm/configuration/demand.ts";
import { withoutServerFields } from "../../../src/gardenadm/discover/stored-object.ts";
import { gardenOf, selfHostedShoot } from "../../support/discovered-garden.ts";
import { runGardenadm } from "./lab.ts";

const registrations = gardenOf()
  .filter(({ kind }) => kind === "ControllerRegistration")
  .map((object) => registeredOf(ControllerRegistration.parse(object)));

const managedInfrastructure = true;

type Pool = NonNullable<Shoot["spec"]["provider"]["workers"]>[number];

/** The Shoot with this in its pool of the control plane. */
function withControlPlane(controlPlane: Pool["controlPlane"]): Shoot {
  const shoot = selfHostedShoot();
  const [first, ...others] = shoot.spec.provider.workers ?? [];
  const workers = [...(first ? [{ ...first, controlPlane }] : []), ...others];
  return { ...shoot, spec: { ...shoot.spec, provider: { ...shoot.spec.provider, workers } } };
}

function withDns(shoot: Shoot): Shoot {
  const providers = [{ type: "route", primary: true, secretName: "route" }];
  return { ...shoot, spec: { ...shoot.spec, dns: { domain: "root.example.com", providers } } };
}

const pairsOf = (demand: Parameters<typeof neededPairs>[0]) =>
  neededPairs(demand).map(({ kind, type }) => `${kind}/${type}`);

describe("what a Shoot needs controllers for", () => {
  test("is what its types say, and a DNS provider's", () => {
    expect(new Set(pairsOf({ shoot: withDns(selfHostedShoot()), managedInfrastructure }))).toEqual(
      new Set([
        ...["ControlPlane", "Infrastructure", "Network", "OperatingSystemConfig", "Worker"].map(
          (kind) => `${kind}/local`,
        ),
        "DNSRecord/route",
      ]),
    );
  });

  test("is neither infrastructure nor DNS where these are the operator's, unless the control plane is exposed", () => {
    const unmanaged = { managedInfrastructure: false };
    const plain = ["ControlPlane/local", "Network/local", "OperatingSystemConfig/local"];
    expect(new Set(pairsOf({ shoot: withDns(selfHostedShoot()), ...unmanaged }))).toEqual(new Set(plain));
    const exposed = withDns(withControlPlane({ exposure: { dns: {} } }));
    expect(new Set(pairsOf({ shoot: exposed, ...unmanaged }))).toEqual(new Set([...plain, "DNSRecord/route"]));
    const led = withDns(withControlPlane({ exposure: { extension: { type: "balancer" } } }));
    expect(new Set(pairsOf({ shoot: led, ...unmanaged }))).toEqual(
      new Set([...plain, "DNSRecord/route", "SelfHostedShootExposure/balancer"]),
    );
  });

  test("is the extension that exposes its control plane, by its own type or the provider's", () => {
    const pairs = (extension: { readonly type?: string }) =>
      pairsOf({ shoot: withControlPlane({ exposure: { extension } }), managedInfrastructure });
    expect(pairs({})).toContain("SelfHostedShootExposure/local");
    expect(pairs({ type: "balancer" })).toContain("SelfHostedShootExposure/balancer");
  });

  test("is the provider of its backups, also of those that it has already", () => {
    const shoot = withControlPlane({ backup: { provider: "store" } });
    const pairs = pairsOf({ shoot, managedInfrastructure, bucketType: "former" });
    expect(pairs.filter((pair) => pair.startsWith("Backup"))).toEqual([
      ...["BackupBucket/former", "BackupEntry/former", "BackupBucket/store", "BackupEntry/store"],
    ]);
  });
});

describe("the registrations that are needed", () => {
  test("are those of its types and those that are everywhere, and none that is for Seeds", () => {
    const demand = { shoot: selfHostedShoot(), managedInfrastructure };
    expect([...neededRegistrations(demand, registrations)].sort()).toEqual([
      ...["everywhere", "infrastructure", "logging", "provider-local"],
    ]);
    expect(unofferedPairs(demand, registrations)).toEqual([]);
  });

  test("are also those of Extensions that each Shoot has unless it refuses them", () => {
    const shoot = selfHostedShoot();
    const automatic = ControllerRegistration.parse({
      ...{ apiVersion: "core.gardener.cloud/v1beta1", kind: "ControllerRegistration", metadata: { name: "automatic" } },
      spec: { resources: [{ kind: "Extension", type: "automatic", autoEnable: ["shoot"] }] },
    });
    const needed = (extensions: Shoot["spec"]["extensions"]) =>
      neededRegistrations({ shoot: { spec: { ...shoot.spec, extensions } }, managedInfrastructure }, [
        registeredOf(automatic),
      ]).has("automatic");
    expect(needed([])).toBe(true);
    expect(needed([{ type: "automatic", disabled: true }])).toBe(false);
  });

  test("may be missing, and then it is known what for", () => {
    const shoot = withDns(selfHostedShoot());
    const some = registrations.filter(({ name }) => name !== "logging");
    expect(unofferedPairs({ shoot, managedInfrastructure }, some)).toEqual([
      { kind: "DNSRecord", type: "route" },
      { kind: "Extension", type: "logging" },
    ]);
  });
});

test("a Shoot names objects in many of its fields, of which credentials are required", () => {
  const shoot = withDns(
    withControlPlane({
      backup: { provider: "store", credentialsRef: { kind: "Secret", namespace: "far", name: "b" } },
    }),
  );
  const kubeAPIServer = {
    auditConfig: { auditPolicy: { configMapRef: { name: "audit" } } },
    structuredAuthentication: { configMapName: "authentication" },
    structuredAuthorization: {
      configMapName: "authorization",
      kubeconfigs: [{ authorizerName: "a", secretName: "webhook" }],
    },
    admissionPlugins: [{ name: "ImagePolicyWebhook", kubeconfigSecretName: "images" }],
  };
  const kubernetes = { ...shoot.spec.kubernetes, kubeAPIServer };
  const found = referencesOfShoot({ ...shoot, spec: { ...shoot.spec, kubernetes } });
  expect(
    found.map(({ kind, namespace, name, isRequired }) => `${kind} ${namespace}/${name}${isRequired ? "!" : ""}`),
  ).toEqual([
    ...["Secret garden/route!", "Secret far/b!", "Secret garden/extra", "ConfigMap garden/tuning"],
    ...["ConfigMap garden/audit", "ConfigMap garden/authentication", "ConfigMap garden/authorization"],
    ...["Secret garden/webhook", "Secret garden/images"],
  ]);
});

test("an object is kept without what its garden has made of it, and a Shoot with its uid", () => {
  const metadata = {
    ...{ name: "a", namespace: "garden", labels: { kept: "yes" }, uid: "1", resourceVersion: "2", generation: 3 },
    annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}", kept: "yes" },
    ...{ creationTimestamp: "2026-01-01T00:00:00Z", finalizers: ["gardener"], managedFields: [], ownerReferences: [] },
  };
  const stays = { name: "a", namespace: "garden", labels: { kept: "yes" }, annotations: { kept: "yes" } };
  const object = { apiVersion: "v1", kind: "Secret", metadata, data: {}, status: {} };
  expect(withoutServerFields(object)).toEqual({ apiVersion: "v1", kind: "Secret", metadata: stays, data: {} });
  const shoot = { apiVersion: "a/v1", kind: "Shoot", metadata, status: { uid: "first" } };
  expect(withoutServerFields(shoot).metadata).toEqual({ ...stays, uid: "first" });
});

test("fields that differ are named as deep as they can be", () => {
  const one = { a: [{ b: 1 }, { b: 2 }], "x.y": 1, same: {}, list: [1] };
  const other = { a: [{ b: 1 }, { b: 3 }], "x.y": 2, same: {}, list: [1, 2], more: true };
  expect(differingFields(one, other)).toEqual([
    { field: "a[1].b", before: 2, after: 3 },
    { field: '["x.y"]', before: 1, after: 2 },
    { field: "list", before: [1], after: [1, 2] },
    { field: "more", before: undefined, after: true },
  ]);
});

test("what a garden fills in does not stand against the operator's object, and a key that it lacks does", () => {
  const object = (kind: string, content: object): KubeObject => ({
    ...{ apiVersion: "v1", kind, metadata: { name: "a" } },
    ...content,
  });
  expect(contradictions(object("Shoot", { spec: { a: 1, b: 2 } }), object("Shoot", { spec: { a: 2 } }))).toEqual([
    { field: "spec.a", before: 1, after: 2 },
  ]);
  expect(contradictions(object("Secret", { data: { a: "" } }), object("Secret", { data: {} }))).toHaveLength(1);
});

test("a name of any length makes the name of a file, and another for each object", () => {
  const taken = ["a", "b"].map((end) => ({
    object: { apiVersion: "v1", kind: "Secret", metadata: { namespace: "garden", name: `${"x".repeat(252)}${end}` } },
  }));
  const folder = { folder: "config", written: [], discovered: [], files: new Set<string>() };
  const files = planFiles(folder, taken).map(({ file }) => file);
  expect(new Set(files).size).toBe(2);
  for (const file of files) expect(file.length).toBeLessThan(240);
});

test("no name of the operator's files is taken", () => {
  const object = { apiVersion: "v1", kind: "Secret", metadata: { namespace: "garden", name: "a" } };
  const files = new Set(["secret-a.yaml", "secret-garden_a.yaml", "secret-garden_a_2.yaml"]);
  const [change] = planFiles({ folder: "config", written: [], discovered: [], files }, [{ object }]);
  expect(change?.file).toBe("secret-garden_a_3.yaml");
});

describe("a command line that says too little or too much is refused", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "gardenadm-discover-"));
    await writeFile(join(directory, "shoot.yaml"), stringify(selfHostedShoot()));
  });
  afterEach(() => rm(directory, { recursive: true }));

  test.each([
    [[], "no Shoot: name the file with its manifest, or one of the garden with --name"],
    [["a.yaml", "--name", "a"], "there are two Shoots: leave out --name, or the manifest"],
    [["--name", "a"], "--name needs the Shoot's namespace: add --namespace"],
    [["--name", "a", "--namespace", "b"], "--name needs a folder to write to: name one with --config-dir"],
    [["/nonexistent.yaml"], "cannot use the manifest: /nonexistent.yaml: cannot be read (ENOENT)"],
    [["/"], "cannot use the manifest: / is a folder: name the file with the Shoot in it"],
  ])("%j", async (words, sentence) => {
    const { exit, out, err } = await runGardenadm(["discover", ...words]);
    expect({ exit, out }).toEqual({ exit: 2, out: "" });
    expect(err).toContain(`error: ${sentence}`);
  });

  test("where the manifest has no Shoot, or two", async () => {
    const file = join(directory, "two.yaml");
    for (const [number, text] of Object.entries([
      "",
      stringify(selfHostedShoot()),
      `${stringify(selfHostedShoot())}---\n${stringify(selfHostedShoot())}`,
    ])) {
      await writeFile(file, text);
      const { err } = await runGardenadm(["discover", file]);
      const fault = `error: cannot use the manifest: ${file}: has ${number} Shoots: it has to have exactly one\n`;
      expect(err.includes(fault)).toBe(number !== "1");
    }
  });

  test("where no kubeconfig is named, also on a node whose own leads to another cluster", async () => {
    const adminKubeconfig = join(directory, "admin.conf");
    await writeFile(adminKubeconfig, "");
    const { exit, err } = await runGardenadm(["discover", join(directory, "shoot.yaml")], {
      adminKubeconfig,
      variables: { HOME: directory },
    });
    expect({ exit, err }).toEqual({
      exit: 2,
      err: `error: no kubeconfig: $KUBECONFIG names none, and there is no ${directory}/.kube/config; name that of the garden with --kubeconfig\n`,
    });
  });

  test("where a file of the folder cannot be read", async () => {
    await writeFile(join(directory, "broken.yaml"), "{");
    const { exit, err } = await runGardenadm(["discover", join(directory, "shoot.yaml")]);
    expect(exit).toBe(2);
    expect(err).toMatch(/^error: cannot use configuration .*: broken\.yaml: the file is not YAML.*\n$/);
  });
});
