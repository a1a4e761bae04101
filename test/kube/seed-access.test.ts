import { afterAll, describe, expect } from "vitest";
import {
  BackupEntry,
  CloudProfile,
  ControllerDeployment,
  ControllerInstallation,
  ControllerRegistration,
  Seed,
  Shoot,
  ShootBastion,
  ShootState,
  type KubeObject,
} from "../../src/api/index.ts";
import {
  ConfigMap,
  createKubeClient,
  parseKubeconfig,
  refTo,
  renderKubeconfig,
  Role,
  RoleBinding,
  Secret,
  type KubeClient,
} from "../../src/kube/index.ts";
import { createSeedBinding } from "../../src/worker/seed-binding.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import {
  configMap,
  CORE,
  createSeedAccessLab,
  forbidden,
  namespace,
  secret,
  shootRef,
  soon,
  state,
  type SeedAccessLab,
} from "../support/seed-access-lab.ts";

let lab: SeedAccessLab;
let admin: KubeClient;
let adminKubeconfig: string;
let manager: KubeClient;
let seed1: KubeClient;
let seed2: KubeClient;

test.beforeAll(async ({ cluster }) => {
  lab = await createSeedAccessLab(cluster);
  ({ admin, manager, seed1, seed2 } = lab);
  adminKubeconfig = cluster.kubeconfig;
  await lab.place("mine", "seed-1", [named("Secret", "named"), named("ConfigMap", "named")]);
  await lab.place("bare", "seed-1");
  await lab.place("theirs", "seed-2");
  lab.start();
  await soon(() => seed1.read(Shoot, { namespace, name: "mine" }));
  await soon(() => seed1.read(Shoot, { namespace, name: "bare" }));
  await soon(() => seed2.read(Shoot, { namespace, name: "theirs" }));
  // Rights come object by object: the Shoots' first, then the Seeds'.
  await soon(() => seed1.read(Secret, { namespace: "garden", name: "dns" }));
  await soon(() => seed1.read(Secret, { namespace, name: "local" }));
  await soon(() => seed1.list(Seed, { fieldSelector: "metadata.name=seed-1" }));
});
afterAll(() => lab.stop());

const named = (kind: "Secret" | "ConfigMap", name: string) => ({
  name: `${kind}-${name}`,
  resourceRef: { apiVersion: "v1", kind, name },
});

const eventOf = (shoot: string): KubeObject => ({
  apiVersion: "events.k8s.io/v1",
  kind: "Event",
  metadata: { name: `${shoot}.${Math.random().toString(16).slice(2)}`, namespace },
  regarding: { apiVersion: CORE, kind: "Shoot", name: shoot, namespace },
  ...{
    type: "Warning",
    reason: "BackupFailed",
    action: "Backup",
    note: "no room",
    eventTime: "2026-01-01T10:00:00.000000Z",
  },
  ...{ reportingController: "perennial.dev/worker-seed", reportingInstance: "test" },
});

/** The same in core's words: the policy reads both by those of events.k8s.io. */
const coreEventOf = (shoot: string, reportingComponent = "perennial.dev/worker-seed"): KubeObject => {
  const { metadata, ...event } = eventOf(shoot) as KubeObject & Record<string, unknown>;
  const { regarding, note, reportingController: _, ...rest } = event;
  return {
    ...rest,
    apiVersion: "v1",
    kind: "Event",
    metadata,
    involvedObject: regarding,
    message: note,
    reportingComponent,
  };
};

const condition = {
  type: "EveryNodeReady",
  status: "True",
  reason: "Ready",
  message: "",
  lastTransitionTime: "2026-01-01T10:00:00Z",
  lastUpdateTime: "2026-01-01T10:00:00Z",
};

describe("a seed's identity", () => {
  test("does what its Shoots need", async () => {
    await seed1.patch(shootRef("mine"), { status: { conditions: [condition] } }, { subresource: "status" });
    await seed1.apply(state("mine"));
    for (const event of [eventOf("mine"), coreEventOf("mine")]) await seed1.create(event);
    await seed1.create(state("mine--0", "mine"));
    await seed1.remove(refTo(ShootState, { namespace, name: "mine--0" }));
    for (const name of ["mine.kubeconfig", "mine.ca-cluster", "mine.ssh-keypair"]) await seed1.apply(secret(name));
    for (const name of ["mine.ca-cluster", "mine.ca-kubelet"]) await seed1.apply(configMap(name));
    const shoot = await seed1.read(shootRef("mine"));
    const entry = lab.entryOf("mine", shoot?.metadata.uid ?? "", "seed-1");
    expect(await seed1.read(BackupEntry, { namespace, name: entry.metadata.name })).toMatchObject({ spec: entry.spec });
    await seed1.apply(entry);
    expect(await seed1.list(Seed, { fieldSelector: "metadata.name=seed-1" })).toHaveLength(1);
    await seed1.patch(
      refTo(Seed, { name: "seed-1" }),
      { status: { kubernetesVersion: "v1" } },
      { subresource: "status" },
    );
    expect(await seed1.list(CloudProfile).catch(() => "no list")).toBe("no list");
    expect(await seed1.read(CloudProfile, { name: "local" })).toBeDefined();
    expect(await seed1.read(Secret, { namespace, name: "local" })).toBeDefined();
    expect(await seed1.read(Secret, { namespace: "garden", name: "dns" })).toBeDefined();
    // What the Shoot names for its extensions.
    expect(await seed1.read(Secret, { namespace, name: "named" })).toBeUndefined();
    expect(await seed1.read(ConfigMap, { namespace, name: "named" })).toBeUndefined();
  });

  // Each is what a worker's token would be stolen for.
  test.each<readonly [string, () => Promise<unknown>]>([
    ["read another seed's Shoot", () => seed1.read(shootRef("theirs"))],
    ["list Shoots", () => seed1.list(Shoot)],
    ["list Shoots of a namespace", () => seed1.list(Shoot, { namespace })],
    ["change its own Shoot's spec", () => seed1.patch(shootRef("mine"), { spec: { seedName: "seed-2" } })],
    [
      "write the status of another's Shoot",
      () => seed1.patch(shootRef("theirs"), { status: {} }, { subresource: "status" }),
    ],
    ["read the state of another's Shoot", () => seed1.read(ShootState, { namespace, name: "theirs" })],
    ["read a part of another's state", () => seed1.read(ShootState, { namespace, name: "theirs--0" })],
    ["write the state of another's Shoot", () => seed1.apply(state("theirs"))],
    ["make a state for another's Shoot", () => seed1.create(state("theirs--0", "mine"))],
    ["make a state for no Shoot of its own", () => seed1.create(state("others", "mine"))],
    ["tell users of another's Shoot", () => seed1.create(eventOf("theirs"))],
    ["tell users of another's Shoot in core's words", () => seed1.create(coreEventOf("theirs"))],
    ["tell users in the name of others, in core's words", () => seed1.create(coreEventOf("mine", "kubelet"))],
    [
      "have users told by others, as kubectl shows it",
      () => seed1.create({ ...coreEventOf("mine"), source: { component: "perennial.dev/manager" }, eventTime: null }),
    ],
    [
      "tell users at length",
      () => seed1.create({ ...coreEventOf("mine"), message: "x".repeat(1025), eventTime: null }),
    ],
    ["tell users in the name of others", () => seed1.create({ ...eventOf("mine"), reportingController: "kubelet" })],
    [
      "tell users of what is no Shoot",
      () => seed1.create({ ...eventOf("mine"), regarding: { kind: "Secret", name: "mine", namespace } }),
    ],
    ["list states", () => seed1.list(ShootState, { namespace })],
    ["read the kubeconfig of another's Shoot", () => seed1.read(Secret, { namespace, name: "theirs.kubeconfig" })],
    ["write the kubeconfig of another's Shoot", () => seed1.apply(secret("theirs.kubeconfig"))],
    ["read the key pair of another's Shoot", () => seed1.read(Secret, { namespace, name: "theirs.ssh-keypair" })],
    ["write the authority of another's Shoot", () => seed1.apply(configMap("theirs.ca-cluster"))],
    ["make a ConfigMap under any name", () => seed1.apply(configMap("any"))],
    ["read a Secret that no Shoot of its own names", () => seed1.read(Secret, { namespace, name: "other" })],
    ["read a ConfigMap that no Shoot of its own names", () => seed1.read(ConfigMap, { namespace, name: "other" })],
    ["read what another's Shoot names", () => seed2.read(ConfigMap, { namespace, name: "named" })],
    ["list Secrets", () => seed1.list(Secret, { namespace })],
    ["read a Secret of the garden", () => seed1.read(Secret, { namespace: "garden", name: "leadership" })],
    ["write a Secret of the garden", () => seed1.apply(secret("dns", "garden"))],
    ["make a Secret under any name", () => seed1.create(secret("any"))],
    ["get a token by a Secret", () => seed1.apply(tokenSecret("bare.kubeconfig"))],
    ["get a token of the manager", () => seed1.create(tokenRequest("perennial", "manager"))],
    [
      "write another Seed's status",
      () => seed1.patch(refTo(Seed, { name: "seed-2" }), { status: {} }, { subresource: "status" }),
    ],
    ["write its own Seed's spec", () => seed1.patch(refTo(Seed, { name: "seed-1" }), { spec: { taints: [] } })],
    ["read another Seed", () => seed1.read(Seed, { name: "seed-2" })],
    ["list Seeds", () => seed1.list(Seed)],
    ["list backups", () => seed1.list(BackupEntry)],
    ["give itself rights", () => seed1.create(role)],
    ["read roles", () => seed1.list(Role)],
  ])("cannot %s", async (_, attempt) => {
    await forbidden(attempt());
  });

  test.each([
    ["who leads", { leadership: { record: "mine.example.org", seed: "seed-1", epoch: 2, leaseSeconds: 60 } }],
    ["who holds it", { seedName: "seed-2" }],
    ["which seeds have parts of it", { seeds: [] }],
    ["what is done with it", { lastOperation: null }],
    ["its identity", { clusterIdentity: "theirs" }],
  ])("cannot say of its own Shoot %s", async (_, status) => {
    await forbidden(seed1.patch(shootRef("mine"), { status }, { subresource: "status" }));
  });
});

const tokenSecret = (name: string): Secret => {
  const annotations = { "kubernetes.io/service-account.name": "default" };
  const { metadata, ...rest } = secret(name, namespace, "kubernetes.io/service-account-token");
  return { ...rest, metadata: { ...metadata, annotations } };
};

const tokenRequest = (of: string, name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: `${name}-token`, namespace: of, annotations: { "kubernetes.io/service-account.name": name } },
  type: "kubernetes.io/service-account-token",
});

const role = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "Role",
  metadata: { name: "mine", namespace },
  rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["*"] }],
};

test("a seed's worker that starts before its Seed is registered waits for it", async () => {
  const binding = createSeedBinding({ gardenClient: seed1, seedClient: admin, seedName: "seed-9" });
  expect(await binding.bind()).toBe(false);
});

test("a manager gets no token by a Secret either", async () => {
  await forbidden(manager.create(tokenSecret("any")));
});

/** The Seeds that may write what is kept of a Shoot. */
const holders = async (name: string) => {
  const bindings = ["leaving-shoot", "shoot"].map((role) =>
    admin.read(RoleBinding, { namespace, name: `perennial:${role}:${namespace}:${name}` }),
  );
  return (await Promise.all(bindings)).flatMap((binding) => binding?.subjects?.map((subject) => subject.name) ?? []);
};

test("a seed reads the Bastions that it makes, as long as they are, and writes nothing into them", async () => {
  const bastion = (name: string, seedName: string): ShootBastion => ({
    ...{ apiVersion: "operations.gardener.cloud/v1alpha1", kind: "Bastion", metadata: { name, namespace } },
    spec: {
      ...{ shootRef: { name: "mine" }, seedName, providerType: "local", sshPublicKey: "a" },
      ingress: everywhere,
    },
  });
  const everywhere = [{ ipBlock: { cidr: "0.0.0.0/0" } }];
  await admin.create(bastion("mine", "seed-1"));
  await admin.create(bastion("theirs", "seed-2"));
  await soon(() => seed1.read(ShootBastion, { namespace, name: "mine" }));
  await forbidden(seed1.read(ShootBastion, { namespace, name: "theirs" }));
  await forbidden(seed1.list(ShootBastion, { namespace }));
  const mine = refTo(ShootBastion, { namespace, name: "mine" });
  await forbidden(seed1.patch(mine, { spec: { sshPublicKey: "b" } }));
  await forbidden(seed1.patch(mine, { status: { ingress: { ip: "203.0.113.9" } } }, { subresource: "status" }));
  await admin.remove(mine);
  await soon(() => forbidden(seed1.read(ShootBastion, { namespace, name: "mine" })));
});

describe("rights go with the Shoot", () => {
  test("not to a seed that was taken over from, while the Shoot is on its way", async () => {
    await lab.place("taken", "seed-1");
    await admin.patch(shootRef("taken"), { status: { seeds: ["seed-1", "seed-2"] }, spec: { seedName: "seed-2" } });
    await lab.lead("taken", "seed-2", 2, {
      previousSeed: "seed-1",
      takeover: true,
      type: "Restore",
      state: "Processing",
    });
    await soon(async () => expect(await holders("taken")).toEqual(["seed-2"]));
    await lab.lead("taken", "seed-2", 2, {
      previousSeed: "seed-1",
      takeover: true,
      type: "Restore",
      state: "Succeeded",
    });
  });

  test("to the seed that takes it over; the one that was left sees only that it is gone", async () => {
    await lab.place("moving", "seed-1");
    await soon(() => seed1.read(shootRef("moving")));
    await admin.patch(shootRef("moving"), { status: { seeds: ["seed-1", "seed-2"] } }, { subresource: "status" });
    await admin.patch(shootRef("moving"), { spec: { seedName: "seed-2" } });
    await soon(() => seed1.read(Shoot, { namespace, name: "bare" }));
    await soon(() => seed2.read(ShootState, { namespace, name: "moving" }));
    expect(await seed1.read(ShootState, { namespace, name: "moving" })).toBeDefined();
    await lab.lead("moving", "seed-2", 2, { previousSeed: "seed-1", type: "Restore", state: "Processing" });
    await soon(async () => expect(await holders("moving")).toEqual(["seed-1", "seed-2"])); // the last snapshot is to come
    await lab.lead("moving", "seed-2", 2, { previousSeed: "seed-1", type: "Restore", state: "Succeeded" });
    await soon(() => forbidden(seed1.read(ShootState, { namespace, name: "moving" })));
    expect(await seed1.read(shootRef("moving"))).toBeDefined();
    await admin.patch(shootRef("moving"), { status: { seeds: ["seed-2"] } }, { subresource: "status" });
    await soon(() => forbidden(seed1.read(shootRef("moving"))));
  });

  test("away when it goes, also while no manager runs", async () => {
    await lab.place("leaving", "seed-1");
    await lab.place("leaving-too", "seed-1");
    const roles = async () => (await admin.list(Role, { namespace })).map(({ metadata }) => metadata.name);
    await soon(async () => expect(await roles()).toContain(`perennial:shoot:${namespace}:leaving-too`));
    await admin.remove(shootRef("leaving"));
    await soon(async () => expect(await roles()).not.toContain(`perennial:shoot:${namespace}:leaving`));
    await lab.stopController();
    await admin.remove(shootRef("leaving-too"));
    await admin.patch(refTo(Role, { namespace, name: `perennial:shoot:${namespace}:mine` }), { rules: [] });
    lab.start();
    await soon(async () => expect(await roles()).not.toContain(`perennial:shoot:${namespace}:leaving-too`));
    await soon(() => seed1.read(shootRef("mine")));
  });
});

describe("what is installed in a seed", () => {
  const installation = (name: string, seed: string) => ({
    apiVersion: CORE,
    kind: "ControllerInstallation",
    metadata: { name },
    spec: { registrationRef: { name: "net" }, seedRef: { name: seed }, deploymentRef: { name: "net" } },
  });
  const account = (name: string) => ({
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: `extension-${name}`, namespace: "perennial-extensions" },
  });
  const tokenOf = (client: KubeClient, name: string) =>
    client.createSubresource(
      { ...account(name), namespace: "perennial-extensions", name: `extension-${name}` },
      "token",
      {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        metadata: { name: `extension-${name}` },
        spec: { expirationSeconds: 600 },
      },
    );

  test.beforeAll(async () => {
    await admin.apply({
      apiVersion: CORE,
      kind: "ControllerRegistration",
      metadata: { name: "net" },
      spec: { resources: [{ kind: "Network", type: "net" }], deployment: { deploymentRefs: [{ name: "net" }] } },
    });
    await admin.apply({
      apiVersion: CORE,
      kind: "ControllerDeployment",
      metadata: { name: "net" },
      helm: { ociRepository: { ref: "example.org/net:1", pullSecretRef: { name: "pull" } } },
    });
    await admin.apply(secret("pull", "garden"));
    await admin.apply(secret("other-pull", "garden"));
    for (const [name, seed] of [
      ["ours", "seed-1"],
      ["not-ours", "seed-2"],
    ] as const) {
      await admin.apply(account(name));
      await admin.apply(installation(name, seed));
    }
    await soon(() => seed1.read(ControllerInstallation, { name: "ours" }));
    await soon(() => seed1.read(Secret, { namespace: "garden", name: "pull" }));
    await soon(() => tokenOf(seed1, "ours"));
  });

  test("a seed reads what its installations are made of, and says how they are", async () => {
    expect(await seed1.read(ControllerRegistration, { name: "net" })).toBeDefined();
    expect(await seed1.read(ControllerDeployment, { name: "net" })).toBeDefined();
    await seed1.patch(
      refTo(ControllerInstallation, { name: "ours" }),
      { status: { conditions: [{ ...condition, type: "Healthy" }] } },
      { subresource: "status" },
    );
  });

  test.each<readonly [string, () => Promise<unknown>]>([
    ["read another seed's installation", () => seed1.read(ControllerInstallation, { name: "not-ours" })],
    ["list installations", () => seed1.list(ControllerInstallation)],
    ["list deployments", () => seed1.list(ControllerDeployment)],
    [
      "say how another seed's installation is",
      () => seed1.patch(refTo(ControllerInstallation, { name: "not-ours" }), { status: {} }, { subresource: "status" }),
    ],
    [
      "change its own installation's spec",
      () => seed1.patch(refTo(ControllerInstallation, { name: "ours" }), { spec: { deploymentRef: { name: "x" } } }),
    ],
    ["let an installation go", () => seed1.remove(refTo(ControllerInstallation, { name: "ours" }))],
    ["read a pull secret that it does not need", () => seed1.read(Secret, { namespace: "garden", name: "other-pull" })],
    ["speak for another seed's extension", () => tokenOf(seed1, "not-ours")],
    ["make an account for an extension", () => seed1.apply(account("mine"))],
  ])("a seed may not %s", async (_, attempt) => {
    await forbidden(attempt());
  });

  test.each<readonly [string, (client: KubeClient) => Promise<unknown>]>([
    ["read Shoots", (client) => client.list(Shoot)],
    ["read Seeds", (client) => client.list(Seed)],
    ["read Secrets", (client) => client.list(Secret, { namespace: "garden" })],
    ["read its own installation", (client) => client.read(ControllerInstallation, { name: "ours" })],
    ["speak for itself again", (client) => tokenOf(client, "ours")],
  ])("an extension with its own token may read CloudProfiles, and may not %s", async (_, attempt) => {
    const { status } = (await tokenOf(seed1, "ours")) as unknown as { status: { token: string } };
    const { server, cluster } = parseKubeconfig(adminKubeconfig);
    const ca = Buffer.from(String(cluster["certificate-authority-data"]), "base64").toString();
    const client = createKubeClient({ kubeconfig: renderKubeconfig({ server, ca, token: status.token }) });
    lab.clients.push(client);
    expect((await client.list(CloudProfile)).length).toBeGreaterThan(0);
    await forbidden(attempt(client));
  });
});
