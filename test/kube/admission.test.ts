import { expect } from "vitest";
import { makeServingCertificate, webhookConfigurations } from "../../src/admission/index.ts";
import { Seed, Shoot, type ControllerRegistration, type KubeObject } from "../../src/api/index.ts";
import { Namespace, refTo, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { admissionTest as test, refusalOf, type AdmissionLab } from "../support/admission-lab.ts";
import { eventually } from "../support/eventually.ts";
import { exampleObjects } from "../support/examples.ts";

const core = "core.gardener.cloud/v1beta1";
const confirmation = "confirmation.gardener.cloud/deletion";
const force = "confirmation.gardener.cloud/force-deletion";

let lab: AdmissionLab;
let client: KubeClient;

test.beforeAll(async ({ admissionLab }) => {
  lab = admissionLab;
  client = lab.client;
  await client.apply(profileWith("more"));
});

test("the example Shoot is accepted", async () => {
  const [example] = (await exampleObjects()).filter(({ kind }) => kind === "Shoot");
  if (!example) throw new Error("there is no example of a Shoot");
  await expect(
    client.apply({ ...example, metadata: { ...example.metadata, labels: { a: "b" } } }),
  ).resolves.toBeDefined();
});

test("what a Shoot leaves open is filled in from its CloudProfile and its Seed", async () => {
  const created = await client.create<Shoot>({
    ...shoot("defaults"),
    spec: {
      ...spec(),
      cloudProfile: { kind: "CloudProfile", name: "more" },
      dns: undefined,
      kubernetes: { version: "1.34" },
      provider: { type: "local", workers: [{ name: "w", minimum: 1, maximum: 1, machine: { type: "local" } }] },
    },
  });
  expect(created.spec.kubernetes.version).toBe("1.34.4");
  expect(created.spec.kubernetes.kubeProxy).toEqual({ enabled: true, mode: "IPTables" });
  expect(created.spec.provider.workers?.[0]?.machine.image).toEqual({ name: "local", version: "1.1.0" });
  expect(created.spec.dns?.domain).toBe("defaults.dev.perennial.test");
  expect(created.metadata.annotations?.["gardener.cloud/created-by"]).toBe("admin");
});

test("a Shoot whose name is generated gets its domain and all defaults at once", async () => {
  const { namespace } = shoot("x").metadata;
  const unnamed = { ...shoot("x"), metadata: { namespace, generateName: "gen-" }, spec: { ...spec(), dns: undefined } };
  const created = await client.create<Shoot>(unnamed as never, { dryRun: true });
  expect(created.metadata.name).toMatch(/^gen-[a-z0-9]{5}$/);
  expect(created.spec.dns?.domain).toBe(`${created.metadata.name}.dev.perennial.test`);
});

test("a Shoot without a version of Kubernetes gets the latest that is no preview", async () => {
  const { kubernetes: _, ...versionless } = spec("versionless");
  const cloudProfile = { name: "more" };
  const created = await client.create<KubeObject>({ ...shoot("versionless"), spec: { ...versionless, cloudProfile } });
  expect(created["spec"]).toMatchObject({ kubernetes: { version: "1.36.0" }, cloudProfile: { kind: "CloudProfile" } });
});

test.each<[string, Partial<Shoot["spec"]>, string]>([
  ["region", { region: "nowhere" }, "spec.region: nowhere is not offered by CloudProfile local: choose one of local"],
  ["version of Kubernetes", { kubernetes: { version: "1.33.1" } }, "spec.kubernetes.version: 1.33.1 is not offered"],
  ["machine type", worker({ machine: { type: "huge" } }), "workers[0].machine.type: huge is not offered"],
  ["machine image", worker({ machine: { type: "local", image: { name: "windows" } } }), "windows is not offered"],
  ["zone", worker({ zones: ["z"] }), "workers[0].zones: z is not offered"],
  ["size", worker({ minimum: 3, maximum: 1 }), "workers[0].maximum: must be at least 3"],
  ["rolling update", worker({ maxSurge: 0, maxUnavailable: 0 }), "must not both be 0"],
  ["CloudProfile", { cloudProfile: { kind: "CloudProfile", name: "none" } }, "there is no CloudProfile none"],
  ["Seed", { seedName: "none" }, "spec.seedName: there is no Seed none"],
  ["binding", { credentialsBindingName: "none" }, "there is no CredentialsBinding none in namespace garden-dev"],
  [
    "resource",
    { resources: [resourceNamed("none")] },
    "spec.resources[0].resourceRef: there is no Secret garden-dev/none",
  ],
  ["domain", { dns: { domain: "a.local.dev.perennial.test" } }, "is below default domain perennial.test"],
  ["pods network", networks({ pods: "10.226.8.0/24" }), "10.226.8.0/24 overlaps with 10.226.0.0/16 of Seed seed-1"],
  ["services network", networks({ services: "10.180.1.0/24" }), "overlaps with 10.180.0.0/16 of spec.networking.pods"],
  ["network", networks({ pods: "10.0.0.0" }), 'spec.networking.pods: "10.0.0.0" is not a network in CIDR notation'],
])("a Shoot with an impossible %s is refused, with the field and the remedy", async (_, change, message) => {
  await expect(client.create({ ...shoot("impossible"), spec: { ...spec(), ...change } })).rejects.toThrow(message);
});

test("a refusal names all that is wrong at once", async () => {
  const wrong = client.create({
    ...shoot("impossible"),
    spec: { ...spec(), region: "x", kubernetes: { version: "9.9.9" } },
  });
  await expect(wrong).rejects.toThrow(/spec\.region.*spec\.kubernetes\.version/s);
  await expect(wrong).rejects.toMatchObject({ status: 422, retryable: false });
});

test("a Shoot's name leaves room for what is made from it", async () => {
  await expect(client.create({ ...shoot("a--b"), spec: spec() })).rejects.toThrow("two hyphens in a row");
  await expect(client.create({ ...shoot("a".repeat(19)), spec: spec() })).rejects.toThrow("at most 18 characters");
});

test("Kubernetes is neither downgraded nor updated by two minor versions at once", async () => {
  const at = (name: string, version: string) => ({
    ...shoot(name),
    spec: { ...spec(name), cloudProfile: { kind: "CloudProfile", name: "more" }, kubernetes: { version } },
  });
  await client.apply(at("versions", "1.34.4"));
  await expect(client.apply(at("versions", "1.33.1"))).rejects.toThrow("cannot be downgraded");
  await expect(client.apply(at("versions", "1.36.0"))).rejects.toThrow("update to 1.35 first");
  await expect(client.apply(at("versions", "1.35.0"))).resolves.toBeDefined();
  await expect(client.apply(at("expired", "1.32.0"))).rejects.toThrow("1.32.0 is not offered");
});

test("a Shoot is deleted only after its deletion was confirmed", async () => {
  await client.apply({ ...shoot("confirm"), spec: spec("confirm") });
  await expect(client.remove(ref("confirm"))).rejects.toThrow(`${confirmation}=true`);
  await client.patch(ref("confirm"), { metadata: { annotations: { [confirmation]: "true" } } });
  await client.remove(ref("confirm"));
  expect(await client.read(ref("confirm"))).toBeUndefined();
});

test("the spec of a Shoot that is being deleted is frozen, its finalizers are not", async () => {
  const { metadata, ...rest } = shoot("frozen");
  const annotations = { [confirmation]: "true" };
  await client.apply({
    ...rest,
    metadata: { ...metadata, annotations, finalizers: ["gardener"] },
    spec: spec("frozen"),
  });
  await client.remove(ref("frozen"));
  await expect(client.patch(ref("frozen"), { spec: { purpose: "testing" } })).rejects.toThrow(
    "spec: cannot be changed once the Shoot is being deleted, except for what can hold the deletion up: spec.kubernetes",
  );
  const mended = { kubernetes: { kubeAPIServer: { serviceAccountConfig: { issuer: "mended" } } } };
  await client.patch(ref("frozen"), { spec: mended });
  const version = { kubernetes: { version: "1.34.3" } };
  await expect(client.patch(ref("frozen"), { spec: version })).rejects.toThrow("once the Shoot is being deleted");
  await client.patch(ref("frozen"), { metadata: { finalizers: [] } });
  expect(await client.read(ref("frozen"))).toBeUndefined();
});

test("a Shoot cannot be asked for what no flow does, also while it is being deleted", async () => {
  const { metadata, ...rest } = shoot("asked");
  const annotations = { [confirmation]: "true" };
  await client.apply({
    ...rest,
    metadata: { ...metadata, annotations, finalizers: ["gardener"] },
    spec: spec("asked"),
  });
  const ask = (value: string) =>
    client.patch(ref("asked"), { metadata: { annotations: { "gardener.cloud/operation": value } } });
  const refusal = '"explode" is not supported: choose one of reconcile, retry';
  await expect(ask("explode")).rejects.toThrow(refusal);
  await ask("reconcile");
  await client.remove(ref("asked"));
  await expect(ask("explode")).rejects.toThrow(refusal);
  await ask("retry");
  await client.patch(ref("asked"), { metadata: { finalizers: [] } });
});

test("a forced deletion needs a deletion and an error that justifies it, and is not taken back", async () => {
  const { metadata, ...rest } = shoot("forced");
  const annotations = { [confirmation]: "true" };
  await client.apply({
    ...rest,
    metadata: { ...metadata, annotations, finalizers: ["gardener"] },
    spec: spec("forced"),
  });
  const forced = () => client.patch(ref("forced"), { metadata: { annotations: { [force]: "true" } } });
  await expect(forced()).rejects.toThrow("delete it first");
  await client.remove(ref("forced"));
  await expect(forced()).rejects.toThrow(
    "or once it has gone on for 60 minutes and status.lastErrors says what it fails at",
  );
  const lastErrors = [{ description: "no", codes: ["ERR_INFRA_UNAUTHORIZED"] }];
  await client.patch(ref("forced"), { status: { lastErrors } }, { subresource: "status" });
  await forced();
  await expect(client.patch(ref("forced"), { metadata: { annotations: { [force]: null } } })).rejects.toThrow(
    "cannot be removed once it is set",
  );
  await client.patch(ref("forced"), { metadata: { finalizers: [] } });
});

test.each([
  ["Migrate", "Succeeded", true],
  ["Restore", "Error", true],
  ["Restore", "Succeeded", false],
  ["Reconcile", "Processing", false],
])("a Shoot of which %s is %s is frozen: %s", async (type, state, frozen) => {
  const name = `${type}-${state}`.toLowerCase().slice(0, 18);
  await client.apply({ ...shoot(name), spec: spec(name) });
  await setStatus(name, { seedName: "seed-1", lastOperation: operation(type, state) });
  const change = client.patch(ref(name), {
    metadata: { annotations: { [confirmation]: "true" } },
    spec: { purpose: "testing" },
  });
  if (!frozen) return expect(change).resolves.toBeDefined();
  await expect(change).rejects.toThrow("spec: cannot be changed while the Shoot moves to Seed seed-1");
  await client.patch(ref(name), { metadata: { annotations: { [confirmation]: "true" } } });
  await expect(client.remove(ref(name))).rejects.toThrow("cannot be deleted while it moves");
});

test("only a user who may update shoots/binding says on which Seed a Shoot runs", async () => {
  const { seedName: _, ...unbound } = spec("binding");
  await expect(lab.alice.create({ ...shoot("binding"), spec: spec("binding") })).rejects.toThrow(
    "spec.seedName: may be set only by users who can update shoots/binding",
  );
  await lab.alice.create({ ...shoot("binding"), spec: unbound });
  await expect(lab.alice.patch(ref("binding"), { spec: { seedName: "seed-1" } })).rejects.toMatchObject({
    status: 403,
  });
  await client.patch(ref("binding"), { spec: { seedName: "seed-1" } });
  await expect(lab.alice.patch(ref("binding"), { spec: { purpose: "testing" } })).resolves.toBeDefined();
  await expect(client.patch(ref("binding"), { spec: { seedName: "seed-2", purpose: "production" } })).rejects.toThrow(
    "a change of seedName must be the only change",
  );
  await expect(client.patch(ref("binding"), { spec: { seedName: null } })).rejects.toThrow("cannot be removed");
  await client.patch(ref("binding"), { spec: { seedName: "seed-2" } });
});

test("hibernation waits for the Shoot to be created and for what stands in its way", async () => {
  await client.apply({ ...shoot("sleepy"), spec: spec("sleepy") });
  const hibernate = () => client.patch(ref("sleepy"), { spec: { hibernation: { enabled: true } } });
  await setStatus("sleepy", { lastOperation: operation("Create", "Processing") });
  await expect(hibernate()).rejects.toThrow("before the Shoot has been created");
  const now = new Date().toISOString();
  const constraint = { type: "HibernationPossible", status: "False", reason: "Webhook", lastTransitionTime: now };
  const constraints = [{ ...constraint, lastUpdateTime: now, message: "a webhook would block pods" }];
  await setStatus("sleepy", { lastOperation: operation("Reconcile", "Succeeded"), constraints });
  await expect(hibernate()).rejects.toThrow("a webhook would block pods");
  await setStatus("sleepy", { constraints: [{ ...constraints[0], status: "True" }] });
  await expect(hibernate()).resolves.toBeDefined();
});

test("a new Shoot gets no Seed that its CloudProfile leaves out, that is full, or that cannot keep backups", async () => {
  const profile = profileWith("choosy");
  const seedSelector = { matchLabels: { env: "prod" } };
  await client.apply({ ...profile, spec: { ...(profile["spec"] as object), seedSelector } });
  const example = (await exampleObjects()).find(({ kind }) => kind === "Seed") as Seed;
  const backup = { provider: "local", region: "local" };
  await client.apply({ ...example, metadata: { name: "seed-full" }, spec: { ...example.spec, backup } });
  const seedRef = refTo(Seed, { name: "seed-full" });
  const time = new Date().toISOString();
  const condition = (status: string) => ({
    ...{ type: "BackupBucketsReady", status, reason: "BackupBucketsError", message: "no such key" },
    ...{ lastTransitionTime: time, lastUpdateTime: time },
  });
  const setSeed = (shoots: string, bucket: string) =>
    client.patch(
      seedRef,
      { status: { allocatable: { shoots }, conditions: [condition(bucket)] } },
      { subresource: "status" },
    );
  await setSeed("0", "False");
  const cloudProfile = { kind: "CloudProfile", name: "choosy" };
  const request = { ...shoot("lonely"), spec: { ...spec("lonely"), cloudProfile, seedName: "seed-full" } };
  const refusal = await refusalOf(client.create(request));
  expect(refusal).toContain(
    "spec.seedName: CloudProfile choosy asks for label env=prod (spec.seedSelector.matchLabels)",
  );
  expect(refusal).toContain("spec.seedName: Seed seed-full takes 0 Shoots (status.allocatable) and has 0");
  expect(refusal).toContain("spec.seedName: Seed seed-full cannot keep backups now (BackupBucketsReady is False)");
  await setSeed("1", "Progressing");
  await client.patch(seedRef, { metadata: { labels: { env: "prod" } } });
  await client.create(request);
  await expect(client.create({ ...request, ...shoot("late-one"), spec: { ...request.spec, dns: {} } })).rejects.toThrow(
    "takes 1 Shoot (status.allocatable) and has 1",
  );
});

test("what a Seed says of the tunnel is true or false, also when nothing else of it changes", async () => {
  const say = (tunnel: string | null) =>
    client.patch(refTo(Seed, { name: "seed-1" }), { metadata: { annotations: { "perennial.dev/tunnel": tunnel } } });
  await expect(say("off")).rejects.toThrow("choose one of true, false");
  await say("false");
  await say(null);
});

test("a Seed is not deleted while a Shoot is on it", async () => {
  await expect(client.remove(refTo(Seed, { name: "seed-1" }))).rejects.toThrow(
    /is the Seed of .*garden-dev\/local.*: move or delete them first/,
  );
  const free = (await exampleObjects()).find(({ kind }) => kind === "Seed") as Seed;
  const freeRef = refTo(Seed, { name: "seed-free" });
  await client.apply({ ...free, metadata: { name: "seed-free" } });
  const shootRef = refTo(Shoot, { namespace: "garden-dev", name: "local" });
  const holdOn = (seeds: readonly string[]) => client.patch(shootRef, { status: { seeds } }, { subresource: "status" });
  await holdOn(["seed-1", "seed-free"]);
  await expect(client.remove(freeRef)).rejects.toThrow(
    /still holds what garden-dev\/local left there: .*take its name out of their status.seeds/,
  );
  await holdOn(["seed-1"]);
  await client.remove(freeRef);
});

test.each([
  ["with the labels of a project's", "garden-full", { "gardener.cloud/role": "project" }],
  ["without labels", "full", {}],
])("a namespace %s stays while a Shoot is in it", async (_case, name, labels) => {
  const namespaceRef = refTo(Namespace, { name });
  await client.create<KubeObject>({ ...typeMeta(Namespace), metadata: { name, labels } });
  const { credentialsBindingName: _binding, networking: _, ...rest } = spec(name);
  const workerless = { ...rest, provider: { type: "local" } };
  await client.create<Shoot>({ ...shoot("stays"), spec: workerless, metadata: { name: "stays", namespace: name } });
  await expect(client.remove(namespaceRef)).rejects.toThrow(
    `cannot delete Namespace ${name}: metadata.name: the namespace has Shoots, which are deleted first: stays`,
  );
  expect((await client.read(namespaceRef))?.metadata.deletionTimestamp).toBeUndefined();
  const heldRef = refTo(Shoot, { namespace: name, name: "stays" });
  await client.patch(heldRef, { metadata: { annotations: { [confirmation]: "true" } } });
  await client.remove(heldRef);
  await client.remove(namespaceRef);
});

test("a kind and type has one primary registration, whatever other types of its kind there are", async () => {
  await client.apply(
    registration("first", [
      { kind: "Extension", type: "a" },
      { kind: "Extension", type: "b" },
    ]),
  );
  await expect(client.apply(registration("second", [{ kind: "Extension", type: "a" }]))).rejects.toThrow(
    "spec.resources[0].primary: ControllerRegistration first is primary for Extension of type a",
  );
  await client.apply(registration("third", [{ kind: "Extension", type: "a", primary: false }]));
  await client.apply(registration("fourth", [{ kind: "Extension", type: "c" }]));
});

test("a registration is refused while its deployment does not exist", async () => {
  const broken = registration("fifth", [], { deploymentRefs: [{ name: "none" }] });
  await expect(client.apply(broken)).rejects.toThrow("there is no ControllerDeployment none: create it first");
});

test.each([
  ["names no chart", {}, "providerConfig names no chart"],
  ["has an empty reference", { ociRepository: { ref: null } }, "providerConfig.ociRepository.ref cannot be read"],
])("a deployment that %s is refused, wherever it stands", async (_, providerConfig, message) => {
  const inline = registration("sixth", [], { type: "helm", providerConfig });
  const { apiVersion } = inline;
  const deployment = { apiVersion, kind: "ControllerDeployment", metadata: { name: "sixth" }, type: "helm" };
  for (const object of [inline, { ...deployment, providerConfig }])
    await expect(client.apply(object)).rejects.toThrow(message);
  await client.apply({ ...deployment, providerConfig: { chart: "Y2hhcnQ=" } });
});

test("the certificate can be renewed while the server runs", async () => {
  const { caBundle, ...tls } = await makeServingCertificate(["127.0.0.1"]);
  lab.server.renew(tls);
  const configurations = webhookConfigurations({ caBundle, url: `https://127.0.0.1:${lab.port}` });
  for (const configuration of configurations) await client.apply(configuration);
  await eventually(async () => {
    const refusal = await refusalOf(client.create({ ...shoot("late"), spec: { ...spec(), region: "x" } }));
    return refusal !== false && refusal.includes("spec.region");
  });
});

test("statuses and finalizers can be written while the server is down, specs cannot", async () => {
  await client.apply({ ...shoot("orphan"), spec: spec("orphan") });
  await lab.server.stop();
  try {
    await setStatus("orphan", { lastOperation: operation("Reconcile", "Succeeded") });
    await client.patch(ref("orphan"), { metadata: { finalizers: ["gardener"] } });
    const change = client.patch(ref("orphan"), { spec: { purpose: "testing" } });
    await expect(change).rejects.toMatchObject({ retryable: true });
  } finally {
    await lab.server.start();
  }
});

function spec(domain = "impossible"): Shoot["spec"] {
  return {
    cloudProfile: { kind: "CloudProfile", name: "local" },
    credentialsBindingName: "local",
    region: "local",
    seedName: "seed-1",
    dns: { domain: `${domain}.example.com` },
    kubernetes: { version: "1.34.4" },
    networking: { type: "local", pods: "10.180.0.0/16", services: "10.190.0.0/16", nodes: "172.30.0.0/16" },
    provider: { type: "local", workers: [pool()] },
  };
}

type Pool = NonNullable<Shoot["spec"]["provider"]["workers"]>[number];

function pool(): Pool {
  const image = { name: "local", version: "1.0.0" };
  return { name: "worker", minimum: 1, maximum: 1, machine: { type: "local", image } };
}

function worker(change: Partial<Pool>): Partial<Shoot["spec"]> {
  return { provider: { type: "local", workers: [{ ...pool(), ...change }] } };
}

function networks(change: Shoot["spec"]["networking"]): Partial<Shoot["spec"]> {
  return { networking: { ...spec().networking, ...change } };
}

function resourceNamed(name: string) {
  return { name: "a", resourceRef: { apiVersion: "v1", kind: "Secret", name } };
}

function shoot(name: string) {
  return { apiVersion: core, kind: "Shoot", metadata: { name, namespace: "garden-dev" } } as const;
}

function ref(name: string) {
  return refTo(Shoot, { name, namespace: "garden-dev" });
}

function operation(type: string, state: string) {
  return { type, state, progress: 50, description: "", lastUpdateTime: new Date().toISOString() };
}

async function setStatus(name: string, status: object): Promise<void> {
  await client.patch(ref(name), { status }, { subresource: "status" });
}

function registration(name: string, resources: object[], deployment?: object): KubeObject {
  const spec = { resources, ...(deployment && { deployment }) } as ControllerRegistration["spec"];
  return { apiVersion: core, kind: "ControllerRegistration", metadata: { name }, spec };
}

function profileWith(name: string): KubeObject {
  const version = (version: string) => ({ version, cri: [{ name: "containerd" }] });
  return {
    apiVersion: core,
    kind: "CloudProfile",
    metadata: { name },
    spec: {
      type: "local",
      kubernetes: {
        versions: [
          ...["1.33.1", "1.34.2", "1.34.4", "1.35.0", "1.36.0"].map((version) => ({ version })),
          { version: "1.37.0", classification: "preview" },
          { version: "1.32.0", expirationDate: "2020-01-01T00:00:00Z" },
        ],
      },
      machineImages: [{ name: "local", versions: [version("1.0.0"), version("1.1.0")] }],
      machineTypes: [{ name: "local", cpu: "1", gpu: "0", memory: "2Gi" }],
      regions: [{ name: "local" }],
    },
  };
}
