import { afterAll, describe, expect } from "vitest";
import { EXPIRATION_ANNOTATION } from "../../src/api/annotations.ts";
import type { CloudProfile } from "../../src/api/index.ts";
import { CredentialsBinding, NamespacedCloudProfile, Project, Quota, Shoot } from "../../src/api/index.ts";
import { createNamespacedCloudProfileController } from "../../src/controllers/namespaced-cloud-profile.ts";
import { refTo, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { admissionTest as test } from "../support/admission-lab.ts";
import { eventually } from "../support/eventually.ts";
import { exampleObjects } from "../support/examples.ts";

const core = "core.gardener.cloud/v1beta1";
const namespace = "garden-dev";
const named = (name: string) => ({ name, namespace });
const ref = (name: string) => refTo(Shoot, named(name));

let client: KubeClient;
let alice: KubeClient;
let example: Shoot;
let profile: CloudProfile;
let profiles: ReturnType<typeof createNamespacedCloudProfileController>;

test.beforeAll(async ({ admissionLab }) => {
  ({ client, alice } = admissionLab);
  const examples = await exampleObjects();
  example = examples.find(({ kind }) => kind === "Shoot") as Shoot;
  const found = examples.find(({ kind }) => kind === "CloudProfile") as CloudProfile;
  const machineTypes = [{ name: "local", cpu: 2, memory: "2Gi" }];
  const volumeTypes = [{ name: "slow", class: "standard" }];
  profile = { ...found, metadata: { name: "own" }, spec: { ...found.spec, machineTypes, volumeTypes } };
  profiles = createNamespacedCloudProfileController({
    gardenClient: client,
    log: createLogger({ name: "test", level: "silent" }),
  });
  profiles.start();
  await client.apply(profile);
});
afterAll(() => profiles.stop());

const ofOwn = { cloudProfile: { kind: "CloudProfile", name: "own" } };
const specOf = async (name: string) => (await client.read(ref(name)))?.spec;

/** Creates a Shoot like the example, of another name, with this spec and, of its pool, this. */
async function create(name: string, change: Partial<Shoot["spec"]>, pool: object): Promise<Shoot> {
  const { spec } = example;
  const workers = (spec.provider.workers ?? []).map((one) => ({ ...one, ...pool }));
  const provider = { ...spec.provider, workers };
  return client.create<Shoot>({
    ...{ ...example, metadata: named(name) },
    spec: { ...spec, dns: undefined, provider, ...change },
  });
}

describe("a Quota is not got round", () => {
  const limit = async (name: string, metrics: object) => {
    await client.apply({
      ...typeMeta(Quota),
      metadata: named(name),
      spec: { scope: { apiVersion: core, kind: "Project" }, metrics },
    });
    await client.apply({
      ...{ ...typeMeta(CredentialsBinding), metadata: named(name), provider: { type: "local" } },
      quotas: [named(name)],
      credentialsRef: { apiVersion: "v1", kind: "Secret", ...named("local") },
    });
    return { ...ofOwn, credentialsBindingName: name };
  };
  const grow = async (name: string, maximum: number) => {
    const [pool] = (await specOf(name))?.provider.workers ?? [];
    await client.patch(ref(name), { spec: { provider: { workers: [{ ...pool, maximum }] } } });
  };

  test.for([
    ["data volumes", { dataVolumes: [{ name: "data", type: "slow", size: "20Gi" }], volume: undefined }],
    ["a volume of no type", { volume: { size: "20Gi" } }],
  ] as const)("by %s", async ([what, pool]) => {
    const name = `disk-${what.length}`;
    const limited = await limit(name, { "storage.standard": "30Gi" });
    await expect(create(name, limited, { ...pool, maximum: 2 })).rejects.toThrow(
      `need 40Gi storage.standard, and Quota garden-dev/${name} has 30Gi`,
    );
    await create(name, limited, { ...pool, maximum: 1 });
    await expect(grow(name, 2)).rejects.toThrow("need 40Gi storage.standard");
  });

  test("by a profile of the project's own that says less of a machine", async () => {
    const limited = await limit("sized", { cpu: 2 });
    await client.apply({
      ...{ ...typeMeta(NamespacedCloudProfile), metadata: named("smaller") },
      spec: {
        parent: { kind: "CloudProfile", name: "own" },
        machineTypes: ["local", "new"].map((name) => ({ name, cpu: 0, memory: "2Gi" })),
      },
    });
    const offered = { ...limited, cloudProfile: { kind: "NamespacedCloudProfile", name: "smaller" } };
    const tooMuch = "need 4 cpu, and Quota garden-dev/sized has 2";
    await eventually(() => expect(create("sized", offered, { maximum: 2 })).rejects.toThrow(tooMuch));
    await expect(create("sized", offered, { machine: { type: "new" } })).rejects.toThrow(
      "new is a type of the project's own, whose size no Quota knows: choose one of CloudProfile own",
    );
    await create("sized", offered, { maximum: 1 });
    await expect(create("sized-2", offered, { maximum: 1 })).rejects.toThrow("has 2 of which 2 are taken");
  });

  test("by a change to a profile that does not know the machines", async () => {
    const limited = await limit("moved", { cpu: 2 });
    const machineTypes = [{ name: "other", cpu: 2, memory: "2Gi" }];
    await client.apply({ ...profile, metadata: { name: "other" }, spec: { ...profile.spec, machineTypes } });
    for (const [name, parent] of [
      ["extending", "own"],
      ["others", "other"],
    ] as const)
      await client.apply({
        ...{ ...typeMeta(NamespacedCloudProfile), metadata: named(name) },
        spec: { parent: { kind: "CloudProfile", name: parent } },
      });
    await create("moved", limited, { maximum: 1 });
    const change = (kind: string, name: string) =>
      client.patch(ref("moved"), { spec: { cloudProfile: { kind, name } } });
    const stays =
      "spec.cloudProfile: cannot change from CloudProfile own to other: choose own, or a NamespacedCloudProfile that extends it";
    await eventually(() => expect(change("CloudProfile", "other")).rejects.toThrow(stays));
    await eventually(() => expect(change("NamespacedCloudProfile", "others")).rejects.toThrow(stays));
    await eventually(() => change("NamespacedCloudProfile", "extending"));
    await expect(change("NamespacedCloudProfile", "others")).rejects.toThrow(stays);
    await change("CloudProfile", "own");
    await expect(create("moved-2", limited, { maximum: 1 })).rejects.toThrow("has 2 of which 2 are taken");
  });

  test("by a change of credentials to those that it limits", async () => {
    const free = await limit("free", {});
    const limited = await limit("bound", { cpu: 2 });
    const days = { [EXPIRATION_ANNOTATION]: "2199-01-01T00:00:00Z" };
    await create("bound", free, { maximum: 2 });
    await client.patch(ref("bound"), { metadata: { annotations: days } });
    const rebind = () =>
      client.patch(ref("bound"), { spec: { credentialsBindingName: limited.credentialsBindingName } });
    await expect(rebind()).rejects.toThrow("need 4 cpu, and Quota garden-dev/bound has 2");
    await grow("bound", 1);
    await client.patch(refTo(Quota, named("bound")), { spec: { clusterLifetimeDays: 7 } });
    await eventually(() => expect(rebind()).rejects.toThrow("must be within 7 days from now, which a Quota sets"));
    await client.patch(ref("bound"), { metadata: { annotations: { [EXPIRATION_ANNOTATION]: null } } });
    await rebind();
    await expect(grow("bound", 2)).rejects.toThrow("need 4 cpu, and Quota garden-dev/bound has 2");
  });
});

test("a project's own profile raises no limit of its parent, unless its author may do that", async () => {
  const limiting = {
    ...profile,
    metadata: { name: "limiting" },
    spec: { ...profile.spec, limits: { maxNodesTotal: 6 } },
  };
  await client.apply(limiting);
  const own = (maxNodesTotal: number) => ({
    ...{ ...typeMeta(NamespacedCloudProfile), metadata: named("raised") },
    spec: { parent: { kind: "CloudProfile", name: "limiting" }, limits: { maxNodesTotal } },
  });
  await mayDo("namespacedcloudprofiles", "get", "create", "patch");
  await eventually(() => alice.apply(own(5)));
  await expect(alice.apply(own(7))).rejects.toThrow(
    "spec.limits.maxNodesTotal: must be at most 6, the limit of CloudProfile limiting",
  );
  await client.apply(own(9));
  await alice.apply(own(8));
  await expect(alice.apply(own(10))).rejects.toThrow("must be at most 6");
});

test.for([
  ["kubernetes", { versions: [{ version: "1.34.4", expirationDate: "2031-01-01T00:00:00Z" }] }],
  ["machineImages", [{ name: "own", versions: [{ version: "1.0.0", cri: [{ name: "containerd" }] }] }]],
  ["providerConfig", { apiVersion: "local.provider.extensions.gardener.cloud/v1alpha1", kind: "CloudProfileConfig" }],
] as const)("%s takes a right of its own to be changed", async ([field, value]) => {
  await mayDo("namespacedcloudprofiles", "get", "create", "patch");
  const name = `guarded-${field.toLowerCase()}`;
  const own = { ...typeMeta(NamespacedCloudProfile), metadata: named(name) };
  const spec = { parent: { kind: "CloudProfile", name: "own" } };
  await eventually(() => alice.apply({ ...own, spec }));
  const verb = `modify-spec-${field.toLowerCase()}`;
  const change = () => alice.apply({ ...own, spec: { ...spec, [field]: value } });
  await expect(change()).rejects.toThrow(`spec.${field}: cannot be changed without the right to ${verb}`);
  await mayDo("namespacedcloudprofiles", "get", "create", "patch", verb);
  await eventually(change);
  await mayDo("namespacedcloudprofiles", "get", "create", "patch");
  await eventually(() => expect(alice.apply({ ...own, spec })).rejects.toThrow(verb));
});

test("spec.tolerations.whitelist of a Project takes a right of its own to be changed", async () => {
  await mayDo("projects", "get", "patch");
  const dev = refTo(Project, { name: "dev" });
  const change = (spec: object) => alice.patch(dev, { spec });
  await eventually(() => change({ description: "written by alice" }));
  const tolerations = { whitelist: [{ key: "seed.gardener.cloud/protected" }] };
  await expect(change({ tolerations })).rejects.toThrow(
    "spec.tolerations.whitelist: cannot be changed without the right to modify-spec-tolerations-whitelist of projects",
  );
  await change({ tolerations: { defaults: [] } });
  await mayDo("projects", "get", "patch", "modify-spec-tolerations-whitelist");
  await eventually(() => change({ tolerations }));
});

/** Gives alice these rights to a resource, and no others. */
async function mayDo(resource: string, ...verbs: readonly string[]): Promise<void> {
  const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name: `alice-${resource}` } };
  const [apiGroup, subjects] = ["rbac.authorization.k8s.io", [{ kind: "User", name: "alice" }]];
  const rules = [{ apiGroups: ["core.gardener.cloud"], resources: [resource], verbs }];
  await client.apply({ ...rbac, kind: "ClusterRole", rules });
  const roleRef = { apiGroup, kind: "ClusterRole", name: rbac.metadata.name };
  await client.apply({ ...rbac, kind: "ClusterRoleBinding", roleRef, subjects });
}
