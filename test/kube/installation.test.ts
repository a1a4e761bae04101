import { expect } from "vitest";
import { RESOURCE_MANAGER_ANNOTATION } from "../../src/api/annotations.ts";
import {
  BackupBucket,
  ControllerDeployment,
  ControllerInstallation,
  ControllerRegistration,
  Network,
  Seed,
  Shoot,
} from "../../src/api/index.ts";
import { whyNotReady } from "../../src/api/registration/installation.ts";
import { createInstallationCare } from "../../src/worker/installations/care.ts";
import { createManifestOperator } from "../../examples/operator/operator.ts";
import { runFlow } from "../../src/flow/flow.ts";
import {
  ConfigMap,
  Deployment,
  Namespace,
  refTo,
  Secret,
  ServiceAccount,
  type KubeClient,
} from "../../src/kube/index.ts";
import { tellReplaced, withdrawReplaced } from "../../src/activities/installation/replacement.ts";
import { createLogger } from "../../src/log.ts";
import { uninstall } from "../../src/workflows/installation/uninstall.ts";
import { deploymentTemplate, packageChart, sayApplied } from "../support/charts.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import { createShoot } from "../support/garden-objects.ts";
import { inline, smallChart, soon, useInstallations } from "../support/installations.ts";

const log = createLogger({ name: "test", level: "silent" });
const core = "core.gardener.cloud/v1beta1";
const garden = "garden";
const {
  nudged,
  told,
  register,
  installationOf,
  conditionsOf,
  activities,
  carryOut,
  failureOf,
  managedResource,
  manifestsOf,
} = useInstallations(test);
let client: KubeClient;

test.beforeAll(({ cluster }) => void (client = cluster.client));

/** Has a Network in a Shoot's namespace, which an extension of type local serves. */
async function applyNetwork(namespace: string): Promise<{ readonly namespace: string; readonly name: string }> {
  const metadata = { namespace, name: "asks" };
  await client.apply({
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Network",
    metadata,
    spec: { type: "local", podCIDR: "10.0.0.0/16", serviceCIDR: "10.1.0.0/16" },
  } as unknown as Network);
  return metadata;
}

test("a Shoot has a controller installed that its network needs, from the chart in the registration", async () => {
  await register("one", inline());
  await createShoot(client, "asks", { seedName: "seed-1" });
  const { metadata, spec } = await installationOf("one");
  expect(spec).toMatchObject({ registrationRef: { name: "one" }, seedRef: { name: "seed-1" } });
  await soon(async () => expect(nudged.map(({ uid }) => uid)).toContain(metadata.uid));

  const run = await carryOut("one", 10_000);
  expect(run?.operation).toBe("Create");
  const uid = (await client.read(Namespace, { name: "kube-system" }))?.metadata.uid;
  const [deployment] = await manifestsOf(metadata.name);
  expect(deployment).toMatchObject({
    kind: "Deployment",
    metadata: {
      namespace: `extension-${metadata.name}`,
      annotations: { foo: "bar", seed: "seed-1", identifier: "seed-1", region: "local", garden: uid },
    },
  });
  expect((await managedResource(metadata.name))?.spec.class).toBe("seed");
  expect((await client.read(Namespace, { name: `extension-${metadata.name}` }))?.metadata).toMatchObject({
    labels: {
      "gardener.cloud/role": "extension",
      "controllerregistration.core.gardener.cloud/name": "one",
      "high-availability-config.resources.gardener.cloud/consider": "true",
    },
    annotations: { "high-availability-config.resources.gardener.cloud/zones": "0" },
  });
  expect((await conditionsOf("one"))["Valid"]).toMatchObject({ status: "True", reason: "RegistrationValid" });
  expect(await carryOut("one")).toBeUndefined();
});

test("a registration with a name longer than labels and Helm's releases take is installed like any other", async () => {
  const name = `long-${"x".repeat(70)}`;
  await register(name, inline());
  await createShoot(client, "asks", { seedName: "seed-1" });
  expect(await carryOut(name, 10_000)).toMatchObject({ operation: "Create" });
  expect(await manifestsOf((await installationOf(name)).metadata.name)).toHaveLength(1);
});

test("a seed gets a resource manager together with its first extension where its operator has asked for one", async () => {
  const namespace = refTo(Namespace, { name: garden });
  const deployed = () => client.read(Deployment, { namespace: garden, name: "gardener-resource-manager" });
  await register("manages", inline());
  await createShoot(client, "asks", { seedName: "seed-1" });
  await carryOut("manages", 10_000);
  expect(await deployed()).toBeUndefined();
  await client.patch(namespace, { metadata: { annotations: { [RESOURCE_MANAGER_ANNOTATION]: "true" } } });
  await register("manages", inline(smallChart, { foo: "asked" }));
  await soon(async () => expect(await carryOut("manages", 10_000)).toBeDefined());
  expect(JSON.stringify(await deployed())).toContain("/resource-manager:v");
  expect((await managedResource("gardener-resource-manager-webhooks"))?.spec.class).toBe("seed");
  await client.patch(namespace, { metadata: { annotations: { [RESOURCE_MANAGER_ANNOTATION]: null } } });
});

test("a chart that changes, values that change and a Seed that changes are installed anew", async () => {
  await register("two", inline());
  await createShoot(client, "asks", { seedName: "seed-1" });
  const { metadata } = await installationOf("two");
  const upgrade = async () => {
    const run = await carryOut("two", 10_000);
    return run?.operation;
  };
  expect(await upgrade()).toBe("Create");
  const [first] = (await managedResource(metadata.name))?.spec.secretRefs ?? [];
  await register("two", inline(smallChart, { foo: "baz" }));
  await soon(async () => expect(await upgrade()).toBe("Reconcile"));
  expect((await manifestsOf(metadata.name))[0]?.metadata.annotations?.["foo"]).toBe("baz");
  expect(await client.read(Secret, { namespace: garden, name: first?.name ?? "" })).toBeUndefined();

  await client.patch(refTo(Seed, { name: "seed-1" }), { metadata: { labels: { told: "yes" } } });
  await soon(async () => expect(await upgrade()).toBe("Reconcile"));
  const other = await packageChart({
    "templates/deployment.yaml": deploymentTemplate.replace("example.org", "example.com"),
  });
  await register("two", inline(other, { foo: "baz" }));
  await soon(async () => expect(await upgrade()).toBe("Reconcile"));
});

test("a ControllerDeployment of today's shape is installed, and its workloads know the garden where it asks for that", async () => {
  await client.apply({
    apiVersion: core,
    kind: "ControllerDeployment",
    metadata: { name: "three" },
    helm: { rawChart: smallChart, values: { foo: "today" } },
    injectGardenKubeconfig: true,
  } as unknown as ControllerDeployment);
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "perennial-extensions" } });
  await register("three", { deploymentRefs: [{ name: "three" }] });
  await createShoot(client, "asks", { seedName: "seed-1" });
  const { metadata, spec } = await installationOf("three");
  expect(spec.deploymentRef?.name).toBe("three");
  const account = { namespace: "perennial-extensions", name: `extension-${metadata.name}` };
  await soon(async () => expect(await client.read(refTo(ServiceAccount, account))).toBeDefined()); // the manager's work
  await carryOut("three", 10_000);
  const [deployment] = await manifestsOf(metadata.name);
  const { spec: pods } = (
    deployment as unknown as { spec: { template: { spec: { containers: { env: object[] }[] } } } }
  ).spec.template;
  expect(pods.containers[0]?.env).toEqual([
    { name: "GARDEN_KUBECONFIG", value: expect.stringContaining("/garden/") as string },
    { name: "SEED_NAME", value: "seed-1" },
  ]);
  const token = await client.read(Secret, { namespace: `extension-${metadata.name}`, name: "garden-access-extension" });
  expect(Buffer.from(token?.data?.["token"] ?? "", "base64").toString()).toMatch(/^ey/);

  await client.patch(refTo(ControllerDeployment, { name: "three" }), { injectGardenKubeconfig: false });
  await soon(async () => expect(await client.read(refTo(ServiceAccount, account))).toBeUndefined());
});

test.each<[string, () => Promise<object>, string, RegExp]>([
  [
    "has hooks",
    async () =>
      inline(
        await packageChart({
          "templates/job.yaml":
            "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: before\n  annotations:\n    helm.sh/hook: pre-install\n",
        }),
      ),
    "ChartHasHooks",
    /hooks.*Job before/,
  ],
  [
    "does not render",
    async () => inline(await packageChart({ "templates/x.yaml": "{{ .Values.nothing.there }}" })),
    "ChartCannotBeRendered",
    /nil pointer|nothing/,
  ],
  [
    "renders to no YAML",
    async () => inline(await packageChart({ "templates/x.yaml": "a: [" })),
    "ChartCannotBeRendered",
    /YAML|converting/,
  ],
  [
    "is no archive",
    async () => inline(Buffer.from("nonsense").toString("base64")),
    "ChartInformationInvalid",
    /base64 of a tar.gz/,
  ],
  ["is missing", async () => ({ type: "helm", providerConfig: {} }), "ChartInformationInvalid", /providerConfig.chart/],
])("a chart that %s makes the installation invalid, and says so", async (_, deployment, reason, message) => {
  await register("four", await deployment());
  await createShoot(client, "asks", { seedName: "seed-1" });
  expect(await failureOf("four")).toMatch(message);
  const { Valid } = await conditionsOf("four");
  expect(Valid).toMatchObject({ status: "False", reason });
  expect(Valid?.message).toMatch(message);
  const { name, uid } = (await installationOf("four")).metadata;
  expect(await managedResource(name)).toBeUndefined();
  await soon(async () => expect(told.filter(({ regarding }) => regarding.metadata.uid === uid)).toHaveLength(1));
  expect(told.at(-1)).toMatchObject({ type: "Warning", reason, note: Valid?.message });
});

test("a registry that is away is said to be, and may come back", async () => {
  await client.apply({
    apiVersion: core,
    kind: "ControllerDeployment",
    metadata: { name: "five" },
    helm: { ociRepository: { repository: "127.0.0.1:9/charts/one", tag: "1.0.0" } },
  } as unknown as ControllerDeployment);
  await register("five", { deploymentRefs: [{ name: "five" }] });
  await createShoot(client, "asks", { seedName: "seed-1" });
  expect(await failureOf("five")).toContain("chart 127.0.0.1:9/charts/one:1.0.0 cannot be pulled");
  expect((await conditionsOf("five"))["Valid"]).toMatchObject({ status: "False", reason: "OCIChartCannotBePulled" });
});

test("an installation stays as long as objects need it, then leaves nothing behind", async () => {
  await register("six", inline());
  const shoot = await createShoot(client, "asks", { seedName: "seed-1" });
  const { metadata } = await installationOf("six");
  await carryOut("six", 10_000);
  const served = await applyNetwork(shoot.technicalID);
  await client.remove(refTo(Shoot, { namespace: shoot.namespace, name: "asks" }));
  await soon(async () => expect((await installationOf("six")).metadata.deletionTimestamp).toBeDefined());
  expect(await failureOf("six")).toContain(`still needed by 1 object: Network local: ${shoot.technicalID}/asks`);
  expect(await managedResource(metadata.name)).toBeDefined();

  await client.remove(refTo(Network, served));
  expect(await failureOf("six")).toContain("is still terminating"); // no controller of namespaces runs here
  expect(await managedResource(metadata.name)).toBeUndefined();
  const labelSelector = `controllerinstallation.core.gardener.cloud/name=${metadata.name}`;
  expect(await client.list(Secret, { namespace: garden, labelSelector })).toEqual([]);
});

test("of two registrations that race for one primary, the younger one is not installed until the older one goes", async () => {
  await register("older", inline());
  await new Promise((resolve) => setTimeout(resolve, 1_100)); // creation times are seconds
  await register("a-younger", inline());
  await createShoot(client, "asks", { seedName: "seed-1" });
  await installationOf("older");
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect((await client.list(ControllerInstallation)).map(({ spec }) => spec.registrationRef.name)).toEqual(["older"]);
  await client.remove(refTo(ControllerRegistration, { name: "older" }));
  const older = await installationOf("older"); // it stays: the Shoot needs it
  await client.remove(refTo(ControllerInstallation, { name: older.metadata.name }));
  await installationOf("a-younger");
});

const onSecondSeed = async () =>
  (await client.list(ControllerInstallation)).find(({ spec: { seedRef } }) => seedRef?.name === "seed-2");
const seedIsHeld = () =>
  soon(async () => {
    const { metadata } = (await client.read(Seed, { name: "seed-2" })) ?? {};
    expect(metadata?.finalizers).toEqual(["core.gardener.cloud/controllerregistration"]);
  });

test("a Seed goes after what is installed there, and its bucket before that", async () => {
  const { spec } = (await client.read(Seed, { name: "seed-1" })) ?? {};
  await client.apply({ apiVersion: core, kind: "Seed", metadata: { name: "seed-2" }, spec } as Seed);
  const uid = (await client.read(Seed, { name: "seed-2" }))?.metadata.uid ?? "";
  const bucket = { provider: { type: "local", region: "local" }, seedName: "seed-2" };
  await client.apply({
    ...{ apiVersion: core, kind: "BackupBucket", metadata: { name: uid, finalizers: ["example.com/provider"] } },
    spec: bucket,
  });
  await register("seven", inline(), [{ kind: "BackupBucket", type: "local" }]);
  await soon(async () => expect(await onSecondSeed()).toBeDefined());
  await seedIsHeld();

  await client.remove(refTo(Seed, { name: "seed-2" }));
  const ref = refTo(BackupBucket, { name: uid });
  await soon(async () => expect((await client.read(ref))?.metadata.deletionTimestamp).toBeDefined());
  expect((await onSecondSeed())?.metadata.deletionTimestamp).toBeUndefined();
  await client.patch(ref, { metadata: { finalizers: null } });
  await soon(async () => expect(await onSecondSeed()).toBeUndefined());
  await soon(async () => expect(await client.read(Seed, { name: "seed-2" })).toBeUndefined());
});

test("a Seed that disappears during an install lets the installation go", async () => {
  const { spec } = (await client.read(Seed, { name: "seed-1" })) ?? {};
  await client.apply({ apiVersion: core, kind: "Seed", metadata: { name: "seed-2" }, spec } as Seed);
  await register("eight", { ...inline(), policy: "Always" });
  const found = await soon(async () => {
    const one = await onSecondSeed();
    if (one === undefined) throw new Error("there is no installation on seed-2 yet");
    return one;
  });
  const { garden: inGarden } = await activities();
  const ref = { name: found.metadata.name, uid: found.metadata.uid ?? "" };
  const begun = await inGarden.readInstallation(ref);
  if (begun === null) throw new Error("nothing is to be installed");
  await inGarden.holdInstallation(begun.run);
  await seedIsHeld();
  await client.remove(refTo(Seed, { name: "seed-2" }));
  await client.patch(refTo(Seed, { name: "seed-2" }), { metadata: { finalizers: null } }); // its cluster is gone, too
  const removal = await soon(async () => {
    const view = await inGarden.readInstallation(ref);
    expect(view?.run).toMatchObject({ operation: "Delete", seedExists: false });
    return view;
  });
  if (removal === null) throw new Error("nothing is to be removed");
  const dead = async () => {
    throw new Error("the seed is gone");
  };
  await runFlow(uninstall, removal.run, {
    carryOut: (action) => (action.where === "garden" ? inGarden[action.activity](removal.run) : dead()),
  });
  await soon(async () => expect(await onSecondSeed()).toBeUndefined());
});

test("an operator's type is written down and left to the operator, which reports and cleans up", async () => {
  const installed = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "installed", namespace: "default" } };
  await register("nine", { type: "manifests", providerConfig: { manifests: [installed] } });
  const shoot = await createShoot(client, "asks", { seedName: "seed-1" });
  const { metadata } = await installationOf("nine");
  expect(await carryOut("nine")).toBeUndefined();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(nudged.map(({ uid }) => uid)).not.toContain(metadata.uid);

  const operator = createManifestOperator({ gardenClient: client, seeds: new Map([["seed-1", client]]), log });
  await operator.round();
  expect(await client.read(refTo(ConfigMap, { namespace: "default", name: "installed" }))).toBeDefined();
  const reported = await installationOf("nine");
  expect(whyNotReady(reported)).toBeUndefined();
  expect(reported.status?.providerStatus).toEqual({ applied: 1 });

  await client.remove(refTo(Shoot, { namespace: shoot.namespace, name: "asks" }));
  await soon(async () => expect((await installationOf("nine")).metadata.deletionTimestamp).toBeDefined());
  await operator.round();
  expect(await client.read(refTo(ConfigMap, { namespace: "default", name: "installed" }))).toBeUndefined();
  await soon(async () => expect(await client.read(ControllerInstallation, { name: metadata.name })).toBeUndefined());
});

test("a registration that becomes an operator's has what its chart made taken away, then the operator installs it", async () => {
  await register("handed", inline());
  const shoot = await createShoot(client, "asks", { seedName: "seed-1" });
  const { metadata } = await installationOf("handed");
  await carryOut("handed", 10_000);
  await applyNetwork(shoot.technicalID); // it is needed, by what the operator's controller serves from now on
  const care = createInstallationCare({
    ...{ gardenClient: client, seedClient: client, seedName: "seed-1", log },
    gardenAddress: { server: "https://garden.example.org" },
  });
  care.start();
  try {
    await soon(async () => expect((await conditionsOf("handed"))["Required"]?.status).toBe("True"));
    const taken = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "handed", namespace: "default" } };
    const operator = createManifestOperator({ gardenClient: client, seeds: new Map([["seed-1", client]]), log });
    nudged.length = 0;
    await register("handed", { type: "manifests", providerConfig: { manifests: [taken] } });
    await soon(async () => expect(nudged.map(({ uid }) => uid)).toContain(metadata.uid));
    await operator.round();
    expect(await client.read(refTo(ConfigMap, { namespace: "default", name: "handed" }))).toBeUndefined();

    expect(await failureOf("handed")).toContain("is still terminating"); // no controller of namespaces runs here
    expect(await managedResource(metadata.name)).toBeUndefined();
    expect((await conditionsOf("handed"))["Installed"]).toMatchObject({
      ...{ status: "False", reason: "ControllerReplaced" },
      message: expect.stringContaining("The deployment's type is manifests now") as string,
    });
    const namespace = refTo(Namespace, { name: `extension-${metadata.name}` });
    await client.patch(namespace, { metadata: { annotations: { "resources.gardener.cloud/keep-object": "true" } } });
    expect(await carryOut("handed")).toMatchObject({ operation: "Delete", replaced: true });
    const left = await installationOf("handed");
    expect(left.metadata.uid).toBe(metadata.uid);
    expect(left.metadata.finalizers ?? []).toEqual([]);
    expect(left.status ?? {}).not.toHaveProperty("providerStatus");
    expect(left.status?.conditions ?? []).toEqual([]);

    expect(await carryOut("handed")).toBeUndefined();
    await operator.round();
    expect(await client.read(refTo(ConfigMap, { namespace: "default", name: "handed" }))).toBeDefined();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(whyNotReady(await installationOf("handed"))).toBeUndefined();
  } finally {
    await care.stop();
    await client.remove(refTo(Network, { namespace: shoot.technicalID, name: "asks" }));
  }
});

test("a ControllerDeployment that becomes an operator's hands over, and one that becomes a chart again is installed anew", async () => {
  const deploy = (content: object) =>
    client.apply({
      ...{ apiVersion: core, kind: "ControllerDeployment", metadata: { name: "turned" }, ...content },
    } as unknown as ControllerDeployment);
  await deploy({ helm: { rawChart: smallChart } });
  await register("turned", { deploymentRefs: [{ name: "turned" }] });
  await createShoot(client, "asks", { seedName: "seed-1" });
  const { metadata } = await installationOf("turned");
  await carryOut("turned", 10_000);
  await deploy({ type: "manifests", providerConfig: { manifests: [] } });
  const view = async () => {
    const { garden: inGarden } = await activities();
    return (await inGarden.readInstallation({ name: metadata.name, uid: metadata.uid ?? "" }))?.run;
  };
  await soon(async () => expect(await view()).toMatchObject({ operation: "Delete", replaced: true }));
  const namespace = refTo(Namespace, { name: `extension-${metadata.name}` });
  await client.patch(namespace, { metadata: { annotations: { "resources.gardener.cloud/keep-object": "true" } } });
  await carryOut("turned", 10_000);
  expect(await managedResource(metadata.name)).toBeUndefined();
  expect(await view()).toBeUndefined();
  await deploy({ helm: { rawChart: smallChart } });
  await soon(async () => expect(await view()).toMatchObject({ operation: "Create" }));
  await carryOut("turned", 10_000);
  expect(await managedResource(metadata.name)).toBeDefined();
  expect((await client.read(namespace))?.metadata.deletionTimestamp).toBeUndefined();
});

test("the seed's worker looks again at an installation that is called back while it is handed over", async () => {
  const care = createInstallationCare({
    ...{ gardenClient: client, seedClient: client, seedName: "seed-1", log, period: 200 },
    gardenAddress: { server: "https://garden.example.org" },
  });
  care.start();
  try {
    await register("called-back", inline());
    await createShoot(client, "asks", { seedName: "seed-1" });
    const { metadata } = await installationOf("called-back");
    await carryOut("called-back", 10_000);
    await soon(async () => expect((await conditionsOf("called-back"))["Required"]?.status).toBe("False"));
    await tellReplaced(client, await installationOf("called-back"), { is: "other", type: "manifests" });
    const resource = await managedResource(metadata.name);
    if (resource === undefined) throw new Error("there is no ManagedResource");
    await sayApplied(client, resource, false); // seen while it is another's, and not again
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await conditionsOf("called-back")).not.toHaveProperty("Healthy");
    await withdrawReplaced(client, await installationOf("called-back"));
    await soon(async () => expect((await conditionsOf("called-back"))["Healthy"]?.message).toBe("controller is down"));
  } finally {
    await care.stop();
  }
});

test("the seed's worker says how an installation is, and whether it is required", async () => {
  const care = createInstallationCare({
    ...{ gardenClient: client, seedClient: client, seedName: "seed-1", log },
    gardenAddress: { server: "https://garden.example.org" },
  });
  care.start();
  try {
    await register("ten", inline());
    const shoot = await createShoot(client, "asks", { seedName: "seed-1" });
    const { metadata } = await installationOf("ten");
    await carryOut("ten", 10_000);
    const statuses = async () =>
      Object.fromEntries(Object.entries(await conditionsOf("ten")).map(([type, { status }]) => [type, status]));
    const well = { Valid: "True", Installed: "True", Healthy: "True", Progressing: "False" };
    await soon(async () => expect(await statuses()).toEqual({ ...well, Required: "False" }));
    const served = await applyNetwork(shoot.technicalID);
    await soon(async () => expect(await statuses()).toEqual({ ...well, Required: "True" }));
    const named = `Network local: ${shoot.technicalID}/asks`;
    expect((await conditionsOf("ten"))["Required"]?.message).toContain(`such as ${named}.`);
    const resource = await managedResource(metadata.name);
    if (resource === undefined) throw new Error("there is no ManagedResource");
    await sayApplied(client, resource, false);
    await soon(async () =>
      expect((await conditionsOf("ten"))["Healthy"]).toMatchObject({ status: "False", message: "controller is down" }),
    );
    expect(whyNotReady(await installationOf("ten"))?.reason).toBe("not Healthy: controller is down");
    await client.remove(refTo(Network, served));
    await soon(async () => expect((await statuses())["Required"]).toBe("False"));
  } finally {
    await care.stop();
  }
});
