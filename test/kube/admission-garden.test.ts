import { afterAll, describe, expect } from "vitest";
import {
  CONFIRM_DELETION_ANNOTATION,
  NamespacedCloudProfile,
  SecretBinding,
  Seed,
  Shoot,
  type CloudProfile,
  type KubeObject,
  type ShootBastion,
} from "../../src/api/index.ts";
import { createNamespacedCloudProfileController } from "../../src/controllers/namespaced-cloud-profile.ts";
import { refOf, refTo, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { admissionTest as test } from "../support/admission-lab.ts";
import { eventually } from "../support/eventually.ts";
import { exampleObjects } from "../support/examples.ts";

const core = "core.gardener.cloud/v1beta1";
const namespace = "garden-dev";
const ref = (name: string) => refTo(Shoot, { namespace, name });

let client: KubeClient;
let example: Shoot;
let profiles: ReturnType<typeof createNamespacedCloudProfileController>;

test.beforeAll(async ({ admissionLab }) => {
  ({ client } = admissionLab);
  example = (await exampleObjects()).find(({ kind }) => kind === "Shoot") as Shoot;
  profiles = createNamespacedCloudProfileController({
    gardenClient: client,
    log: createLogger({ name: "test", level: "silent" }),
  });
  profiles.start();
  await client.apply(await profile("own", ownOffer));
});
afterAll(() => profiles.stop());

/** A Shoot like the example, of another name, with this spec and, of its pool, this. */
const shootWith = (name: string, change: Partial<Shoot["spec"]> = {}, pool: object = {}): Shoot => {
  const { spec } = example;
  const workers = (spec.provider.workers ?? []).map((one) => ({ ...one, ...pool }));
  const provider = { ...spec.provider, workers };
  return { ...example, metadata: { name, namespace }, spec: { ...spec, dns: undefined, provider, ...change } };
};
const create = (...shoot: Parameters<typeof shootWith>) => client.create<Shoot>(shootWith(...shoot));
const ofOwn = { cloudProfile: { kind: "CloudProfile", name: "own" } };
const specOf = async (name: string) => (await client.read(ref(name)))?.spec;

async function profile(name: string, change: Partial<CloudProfile["spec"]>): Promise<CloudProfile> {
  const found = (await exampleObjects()).find(({ kind }) => kind === "CloudProfile") as CloudProfile;
  return { ...found, metadata: { name }, spec: { ...found.spec, ...change } };
}

const ownOffer: Partial<CloudProfile["spec"]> = {
  kubernetes: {
    versions: [
      { version: "1.35.0", classification: "deprecated" },
      { version: "1.34.4" },
      { version: "1.33.1" },
      { version: "1.32.0", classification: "expired" },
    ],
  },
  machineTypes: [
    { name: "local", cpu: 2, memory: "2Gi" },
    { name: "stored", cpu: 1, memory: "1Gi", storage: { class: "standard", type: "disk", minSize: "10Gi" } },
  ],
  volumeTypes: [
    { name: "slow", class: "standard", minSize: "5Gi" },
    { name: "old", class: "standard", usable: false },
  ],
  regions: [
    {
      name: "local",
      zones: [{ name: "a", unavailableMachineTypes: ["stored"], unavailableVolumeTypes: ["slow"] }, { name: "b" }],
      accessRestrictions: [{ name: "eu" }],
    },
  ],
  limits: { maxNodesTotal: 5 },
};

test.for<[string, Partial<Shoot["spec"]>, object, string]>([
  [
    "a volume type that is not offered",
    {},
    { volume: { type: "fast", size: "9Gi" } },
    "volume.type: fast is not offered",
  ],
  ["a volume type that is not usable", {}, { volume: { type: "old", size: "9Gi" } }, "volume.type: old is not offered"],
  ["a volume that is too small", {}, { volume: { type: "slow", size: "4Gi" } }, "volume.size: must be at least 5Gi"],
  [
    "a data volume that is too small",
    {},
    { dataVolumes: [{ name: "d", type: "slow", size: "4Gi" }] },
    "dataVolumes[0].size: must be at least 5Gi",
  ],
  [
    "a disk too small for its machine",
    {},
    { machine: { type: "stored" }, volume: { size: "9Gi" } },
    "must be at least 10Gi",
  ],
  [
    "a machine that its zone has not",
    {},
    { machine: { type: "stored" }, zones: ["a"] },
    "stored is not there in zone a",
  ],
  [
    "a volume that its zone has not",
    {},
    { volume: { type: "slow", size: "9Gi" }, zones: ["a"] },
    "slow is not there in zone a",
  ],
  ["too many machines", {}, { minimum: 1, maximum: 6 }, "maximum: must be at most 5, the maxNodesTotal"],
  ["an access restriction of another region", { accessRestrictions: [{ name: "us" }] }, {}, "us is not offered"],
  ["an expired version", { kubernetes: { version: "1.32.0" } }, {}, "1.32.0 is not offered"],
  ["a kubelet that is not offered", {}, { kubernetes: { version: "1.34.1" } }, "1.34.1 is not offered"],
])("a Shoot with %s is refused", async ([, change, pool, message]) => {
  await expect(create("refused", { ...ofOwn, ...change }, pool)).rejects.toThrow(message);
});

test("a Shoot may leave out what its CloudProfile knows: versions of Kubernetes are the newest that is supported", async () => {
  const { kubernetes: _, ...spec } = shootWith("open", ofOwn).spec;
  await client.create<KubeObject>({ ...shootWith("open"), spec: { ...spec, kubernetes: null } });
  expect((await specOf("open"))?.kubernetes.version).toBe("1.34.4");
  await create("partial", { ...ofOwn, kubernetes: { version: "1.34" } }, { kubernetes: { version: "1.33" } });
  const { kubernetes, provider } = (await specOf("partial")) ?? {};
  expect([kubernetes?.version, provider?.workers?.[0]?.kubernetes?.version]).toEqual(["1.34.4", "1.33.1"]);
  const older = { spec: { provider: { workers: [{ ...provider?.workers?.[0], kubernetes: { version: "1.32.0" } }] } } };
  await expect(client.patch(ref("partial"), older)).rejects.toThrow("kubelets cannot be downgraded");
});

test("a Shoot that gets its Seed later gets then what the Seed suggests", async () => {
  const seed = (await exampleObjects()).find(({ kind }) => kind === "Seed") as Seed;
  const shootDefaults = { pods: "10.99.0.0/16", services: "10.98.0.0/16" };
  const networks = { ...seed.spec.networks, shootDefaults };
  await client.apply({ ...seed, metadata: { name: "seed-suggesting" }, spec: { ...seed.spec, networks } });
  await create("later", { seedName: undefined, networking: { type: "local" } });
  expect((await specOf("later"))?.networking).not.toHaveProperty("pods");
  await client.patch(ref("later"), { spec: { seedName: "seed-suggesting" } });
  expect(await specOf("later")).toMatchObject({
    networking: { type: "local", ...shootDefaults },
    dns: { domain: "later.dev.perennial.test" },
  });
  await expect(create("never", { networking: { type: "local" } })).rejects.toThrow("spec.networking.pods: must be set");
});

test("the Shoots of a Quota use no more than it has, through whichever binding", async () => {
  await client.apply({
    ...{ apiVersion: core, kind: "Quota", metadata: { name: "trial", namespace } },
    spec: { scope: { apiVersion: core, kind: "Project" }, metrics: { cpu: 4 }, clusterLifetimeDays: 7 },
  });
  const quotas = [{ name: "trial", namespace }];
  await client.apply({
    ...{ apiVersion: "security.gardener.cloud/v1alpha1", kind: "CredentialsBinding", quotas },
    metadata: { name: "limited", namespace },
    provider: { type: "local" },
    credentialsRef: { apiVersion: "v1", kind: "Secret", name: "local", namespace },
  });
  await client.apply({
    ...{ apiVersion: core, kind: "SecretBinding", metadata: { name: "limited", namespace }, quotas },
    ...{ provider: { type: "local" }, secretRef: { name: "local", namespace } },
  });
  const limited = { ...ofOwn, credentialsBindingName: "limited" };
  await create("limited-1", limited, { maximum: 2 });
  const other = { ...ofOwn, credentialsBindingName: undefined, secretBindingName: "limited" };
  await expect(create("limited-2", other, { maximum: 1 })).rejects.toThrow(
    "spec.provider.workers: need 2 cpu, and Quota garden-dev/trial has 4 of which 4 are taken",
  );
  const pool = (await specOf("limited-1"))?.provider.workers?.[0];
  const sized = (maximum: number) =>
    client.patch(ref("limited-1"), { spec: { provider: { workers: [{ ...pool, maximum }] } } });
  await expect(sized(3)).rejects.toThrow("need 6 cpu");
  await sized(1);
  await create("limited-2", other, { maximum: 1 });
  const live = (time: string) =>
    client.patch(ref("limited-1"), {
      metadata: { annotations: { "shoot.gardener.cloud/expiration-timestamp": time } },
    });
  await expect(live(new Date(Date.now() + 8 * 24 * 3_600_000).toISOString())).rejects.toThrow("must be within 7 days");
  await live(new Date(Date.now() + 6 * 24 * 3_600_000).toISOString());
  await expect(
    client.apply({ ...quota("odd"), spec: { scope: { kind: "Project" }, metrics: { pods: 1 } } }),
  ).rejects.toThrow("may limit cpu, gpu");
});

const quota = (name: string) => ({ apiVersion: core, kind: "Quota", metadata: { name, namespace } });

test("a project's Shoots tolerate what the project lets them, and what it gives them", async () => {
  const project = (await exampleObjects()).find(({ kind }) => kind === "Project") as KubeObject;
  const tolerations = { defaults: [{ key: "given" }], whitelist: [{ key: "given" }, { key: "let", value: "yes" }] };
  await client.apply({ ...project, spec: { ...(project["spec"] as object), tolerations } });
  const tolerating = (key: string, value?: string) => ({
    tolerations: [{ key, ...(value !== undefined && { value }) }],
  });
  await expect(create("tolerant", tolerating("other"))).rejects.toThrow("may not tolerate other");
  await expect(create("tolerant", tolerating("let", "no"))).rejects.toThrow("may not tolerate let");
  await create("tolerant", tolerating("let", "yes"));
  expect((await specOf("tolerant"))?.tolerations).toEqual([{ key: "let", value: "yes" }, { key: "given" }]);
  await client.apply({ ...project, spec: { ...(project["spec"] as object), tolerations: { whitelist: [] } } });
  await client.patch(ref("tolerant"), { spec: { purpose: "testing" } }); // what it had stays
});

test("a CloudProfile takes nothing back that a Shoot has, and takes back what none has", async () => {
  await client.apply(await profile("used", ownOffer));
  await create("user", { cloudProfile: { kind: "CloudProfile", name: "used" } });
  const offering = (change: Partial<CloudProfile["spec"]>) => async () =>
    client.apply(await profile("used", { ...ownOffer, ...change }));
  await expect(offering({ kubernetes: { versions: [{ version: "1.33.1" }] } })()).rejects.toThrow(
    "1.34.4 cannot be removed from CloudProfile used: it is in use by Shoot garden-dev/user",
  );
  await expect(offering({ machineImages: [] })()).rejects.toThrow("spec.machineImages: local 1.0.0 cannot be removed");
  await offering({ kubernetes: { versions: [{ version: "1.34.4" }] } })();
  await expect(offering({ kubernetes: { versions: [{ version: "1.34" }] } })()).rejects.toThrow(
    "must be a full version",
  );
});

test("a project's own profile offers more than its parent, to Shoots of the project", async () => {
  const metadata = { name: "ours", namespace };
  const parent = { kind: "CloudProfile", name: "own" };
  const huge = { name: "huge", cpu: 8, memory: "8Gi" };
  const own = (spec: object) => ({
    apiVersion: core,
    kind: "NamespacedCloudProfile",
    metadata,
    spec: { parent, ...spec },
  });
  await expect(client.create(own({ parent: { kind: "CloudProfile", name: "none" } }))).rejects.toThrow(
    "spec.parent.name: there is no CloudProfile none",
  );
  await expect(
    client.create(own({ kubernetes: { versions: [{ version: "1.99.0", expirationDate: "2030-01-01T00:00:00Z" }] } })),
  ).rejects.toThrow("1.99.0 is not offered by the parent CloudProfile");
  await client.apply(own({ machineTypes: [huge] }));
  const status = async () => (await client.read(refTo(NamespacedCloudProfile, metadata)))?.status?.cloudProfileSpec;
  await eventually(async () =>
    expect((await status())?.machineTypes.map(({ name }) => name)).toEqual(["local", "stored", "huge"]),
  );
  const cloudProfile = { kind: "NamespacedCloudProfile", name: "ours" };
  const pool = { machine: { type: "huge" } };
  await create("huge", { cloudProfile }, pool);
  expect((await specOf("huge"))?.provider.workers?.[0]?.machine.image?.name).toBe("local");
  await expect(create("elsewhere", ofOwn, pool)).rejects.toThrow("huge is not offered by CloudProfile own");
  await expect(client.apply(own({ machineTypes: [] }))).rejects.toThrow("huge cannot be removed");
  await expect(
    client.apply(own({ machineTypes: [huge], parent: { kind: "CloudProfile", name: "local" } })),
  ).rejects.toThrow("cannot be changed");
  await client.apply(await profile("own", { ...ownOffer, limits: { maxNodesTotal: 6 } }));
  await eventually(async () => expect((await status())?.limits?.maxNodesTotal).toBe(6));
});

test("a profile that is being deleted takes no new Shoot, and keeps those that it has", async () => {
  const finalizers = ["test.example.org/stays"];
  const { spec } = await profile("leaving", {});
  const own = {
    ...{ apiVersion: core, kind: "NamespacedCloudProfile", metadata: { name: "leaving", namespace, finalizers } },
    spec: { parent: { kind: "CloudProfile", name: "own" } },
  };
  const whole = { apiVersion: core, kind: "CloudProfile", metadata: { name: "leaving", finalizers }, spec };
  for (const [index, object] of [whole, own].entries()) {
    const cloudProfile = { kind: object.kind, name: "leaving" };
    const early = `early-${index}`;
    await client.apply(object);
    await eventually(() => create(early, { cloudProfile }));
    await client.remove(refOf(object));
    await expect(create("late", { cloudProfile })).rejects.toThrow(
      `spec.cloudProfile: ${object.kind} leaving is being deleted: choose another`,
    );
    await client.patch(ref(early), { spec: { purpose: "testing" } });
    await client.apply({ ...object, metadata: { ...object.metadata, finalizers: [] } });
  }
});

test("a Project that is being deleted takes no new Shoot, and keeps those that it has", async () => {
  const project = {
    ...{ apiVersion: core, kind: "Project", spec: { namespace } },
    metadata: {
      name: "dev",
      finalizers: ["test.example.org/stays"],
      annotations: { [CONFIRM_DELETION_ANNOTATION]: "true" },
    },
  };
  const before = await client.read(refOf(project));
  await client.apply(project);
  await create("in-time");
  await client.remove(refOf(project));
  try {
    await expect(create("too-late")).rejects.toThrow(
      "metadata.namespace: Project dev is being deleted: choose another",
    );
    await client.patch(ref("in-time"), { spec: { purpose: "testing" } });
  } finally {
    await client.patch(refOf(project), { metadata: { finalizers: null } });
    if (before) await client.apply({ ...project, ...before, metadata: { name: "dev" } });
  }
});

test("a Bastion is told where its Shoot is, and goes with it", async () => {
  const bastion = (name: string, shoot: string, change: object = {}): ShootBastion => ({
    ...{ apiVersion: "operations.gardener.cloud/v1alpha1", kind: "Bastion", metadata: { name, namespace } },
    spec: {
      shootRef: { name: shoot },
      sshPublicKey: "ssh-rsa AAAA someone@example.com",
      ingress: [{ ipBlock: { cidr: "1.2.3.4/32" } }],
      ...change,
    },
  });
  await create("reached");
  await create("nowhere", { seedName: undefined });
  const { metadata, spec } = await client.create(bastion("b", "reached"));
  expect(spec).toMatchObject({ seedName: "seed-1", providerType: "local" });
  expect(metadata.annotations?.["gardener.cloud/created-by"]).toBe("admin");
  expect(metadata.ownerReferences).toMatchObject([{ kind: "Shoot", name: "reached" }]);
  await expect(client.create(bastion("c", "none"))).rejects.toThrow("there is no Shoot garden-dev/none");
  await expect(client.create(bastion("c", "nowhere"))).rejects.toThrow("the Shoot has no Seed yet");
  const everywhere = { ingress: [{ ipBlock: { cidr: "everywhere" } }] };
  await expect(client.create(bastion("c", "reached", everywhere))).rejects.toThrow("is not a network in CIDR notation");
  await expect(
    client.patch(refOf(bastion("b", "reached")), { spec: { sshPublicKey: "ssh-rsa BBBB" } }),
  ).rejects.toThrow("cannot be changed");
});

test("a Seed keeps what its Shoots need", async () => {
  const seed = (await exampleObjects()).find(({ kind }) => kind === "Seed") as Seed;
  await create("hosted", { dns: { domain: "hosted.dev.perennial.test" } });
  const changed = (spec: object) => client.patch(refTo(Seed, { name: "seed-1" }), { spec });
  await expect(changed({ dns: { internal: { domain: "other.test" } } })).rejects.toThrow(
    "spec.dns.internal.domain: cannot change",
  );
  await expect(changed({ dns: { defaults: [] } })).rejects.toThrow(
    "spec.dns.defaults: perennial.test cannot be removed: it is the domain of",
  );
  await client.apply({ ...seed, metadata: { name: "seed-empty" } });
  await client.patch(refTo(Seed, { name: "seed-empty" }), { spec: { dns: { defaults: [] } } });
});

describe("finalizers stay as long as they are needed:", () => {
  const letGo = { metadata: { finalizers: [] } };

  test("a Shoot's until its deletion has succeeded", async () => {
    const { metadata, ...rest } = shootWith("held");
    await client.create<Shoot>({ ...rest, metadata: { ...metadata, finalizers: ["gardener"] } });
    const say = (type: string, state: string) => {
      const lastOperation = { type, state, progress: 1, description: "", lastUpdateTime: new Date().toISOString() };
      const status = { technicalID: "shoot--dev--held", lastOperation };
      return client.patch(ref("held"), { status }, { subresource: "status" });
    };
    await say("Reconcile", "Succeeded");
    await expect(client.patch(ref("held"), letGo)).rejects.toThrow("before the Shoot's deletion has succeeded");
    await say("Delete", "Processing");
    await expect(client.patch(ref("held"), letGo)).rejects.toThrow("before the Shoot's deletion has succeeded");
    await say("Delete", "Succeeded");
    await client.patch(ref("held"), letGo);
  });

  test("a binding's while a Shoot names it", async () => {
    const binding = refTo(SecretBinding, { namespace, name: "held" });
    await client.apply({
      ...{
        apiVersion: core,
        kind: "SecretBinding",
        provider: { type: "local" },
        secretRef: { name: "local", namespace },
      },
      metadata: { name: "held", namespace, finalizers: ["gardener"] },
    });
    await create("holder", { credentialsBindingName: undefined, secretBindingName: "held" });
    await expect(client.patch(binding, letGo)).rejects.toThrow("while Shoot holder needs the binding");
    await client.remove(ref("holder"), {}).catch(() => undefined);
    await client.patch(ref("holder"), {
      metadata: { annotations: { "confirmation.gardener.cloud/deletion": "true" } },
    });
    await client.remove(ref("holder"));
    await client.patch(binding, letGo);
  });
});

test("a SecretBinding gives way to a CredentialsBinding of the same Secret only", async () => {
  await client.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "another", namespace } });
  const bind = (name: string, secret: string) =>
    client.apply({
      ...{ apiVersion: "security.gardener.cloud/v1alpha1", kind: "CredentialsBinding", metadata: { name, namespace } },
      provider: { type: "local" },
      credentialsRef: { apiVersion: "v1", kind: "Secret", name: secret, namespace },
    });
  await bind("same", "local");
  await bind("other", "another");
  await client.apply({
    ...{ apiVersion: core, kind: "SecretBinding", metadata: { name: "older", namespace } },
    ...{ provider: { type: "local" }, secretRef: { name: "local", namespace } },
  });
  await create("migrating", { credentialsBindingName: undefined, secretBindingName: "older" });
  const change = (spec: object) => client.patch(ref("migrating"), { spec });
  await expect(change({ secretBindingName: "limited" })).rejects.toThrow("set credentialsBindingName in its place");
  await expect(change({ secretBindingName: null, credentialsBindingName: "other" })).rejects.toThrow(
    "must name the Secret that the SecretBinding named before",
  );
  await change({ secretBindingName: null, credentialsBindingName: "same" });
  await expect(change({ credentialsBindingName: null })).rejects.toThrow("cannot be removed");
});

test("the primary DNS provider of a Shoot stays what it is", async () => {
  const providers = (...types: string[]) => ({
    domain: "primary.example.com",
    providers: types.map((type) => ({ type, primary: true })),
  });
  await expect(create("primary", { dns: providers("a", "b") })).rejects.toThrow("must not be set twice");
  await create("primary", { dns: providers("a") });
  await expect(client.patch(ref("primary"), { spec: { dns: providers("b") } })).rejects.toThrow(
    "cannot change the type",
  );
  await expect(client.patch(ref("primary"), { spec: { dns: providers() } })).rejects.toThrow("cannot lose its primary");
});

test("a new Shoot needs extensions that are registered, once others of their kind are", async () => {
  const registration = { apiVersion: core, kind: "ControllerRegistration", metadata: { name: "calico" } };
  await create("unregistered");
  await client.apply({ ...registration, spec: { resources: [{ kind: "Network", type: "calico" }] } });
  await expect(create("registered")).rejects.toThrow("no ControllerRegistration is in charge of Network of type local");
  await client.patch(ref("unregistered"), { spec: { purpose: "testing" } });
  await client.remove(refOf(registration));
});

test("a Shoot bears the types of its extensions as labels, by which their webhooks select it", async () => {
  const registration = { apiVersion: core, kind: "ControllerRegistration", metadata: { name: "everywhere" } };
  const resources = ["audit", "mesh"].map((type) => ({ kind: "Extension", type, autoEnable: ["shoot"] }));
  await client.apply({ ...registration, spec: { resources } });
  const labels = { team: "a", "networking.extensions.gardener.cloud/other": "true" };
  const shoot = shootWith("labelled", { extensions: [{ type: "mesh", disabled: true }] });
  await client.create<Shoot>({ ...shoot, metadata: { ...shoot.metadata, labels } });
  const served = {
    team: "a",
    "provider.extensions.gardener.cloud/local": "true",
    "networking.extensions.gardener.cloud/local": "true",
    "operatingsystemconfig.extensions.gardener.cloud/local": "true",
    "extensions.extensions.gardener.cloud/audit": "true",
  };
  const labelsOf = async () => (await client.read(ref("labelled")))?.metadata.labels;
  expect(await labelsOf()).toEqual(served);
  await client.remove(refOf(registration));
  await client.patch(ref("labelled"), { spec: { extensions: [{ type: "mesh" }] } });
  const { "extensions.extensions.gardener.cloud/audit": _, ...others } = served;
  expect(await labelsOf()).toEqual({ ...others, "extensions.extensions.gardener.cloud/mesh": "true" });
});

test("an installation names what is there", async () => {
  const installation = { apiVersion: core, kind: "ControllerInstallation", metadata: { name: "one" } };
  const spec = { registrationRef: { name: "none" }, seedRef: { name: "none" }, deploymentRef: { name: "none" } };
  const request = client.create({ ...installation, spec });
  await expect(request).rejects.toThrow("spec.registrationRef.name: there is no ControllerRegistration none");
  await expect(request).rejects.toThrow("spec.seedRef.name: there is no Seed none");
  await expect(request).rejects.toThrow("spec.deploymentRef.name: there is no ControllerDeployment none");
});

test("an ExposureClass keeps its handler and where it is", async () => {
  const exposure = { apiVersion: core, kind: "ExposureClass", metadata: { name: "internet" } };
  const scheduling = { seedSelector: { matchLabels: { a: "b" } } };
  await client.apply({ ...exposure, handler: "internet-config", scheduling });
  await expect(client.patch(refOf(exposure), { handler: "other" })).rejects.toThrow("cannot be changed");
  await expect(client.patch(refOf(exposure), { scheduling: null })).rejects.toThrow("scheduling cannot be changed");
});

test("a Shoot of an ExposureClass gets what the class asks of Seeds, and an unknown class is refused", async () => {
  const exposure = { apiVersion: core, kind: "ExposureClass", metadata: { name: "inner" }, handler: "dmz" };
  await client.apply({ ...exposure, scheduling: { seedSelector: { matchLabels: { network: "inner" } } } });
  const open = { seedName: undefined };
  await expect(create("exposed", { ...open, exposureClassName: "none" })).rejects.toThrow(
    "spec.exposureClassName: there is no ExposureClass none",
  );
  await create("exposed", { ...open, exposureClassName: "inner" });
  expect((await specOf("exposed"))?.seedSelector?.matchLabels).toEqual({ network: "inner" });
  const { seedName } = example.spec;
  await expect(client.patch(ref("exposed"), { spec: { seedName } })).rejects.toThrow(
    `asks for label network=inner, which Seed ${seedName} does not have`,
  );
});
