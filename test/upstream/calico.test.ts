import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createExtensions } from "../../src/activities/extensions/extensions.ts";
import { createExtensionMoves } from "../../src/activities/extensions/moves.ts";
import { carryingLeadership } from "../../src/activities/leadership/carried-leadership.ts";
import { fenced } from "../../src/activities/leadership/fenced-client.ts";
import { ensureSecrets } from "../../src/activities/secrets/secrets.ts";
import { extensionReady } from "../../src/activities/waits/readiness.ts";
import { ManagedResource, Network } from "../../src/api/index.ts";
import { components, networkObject } from "../../src/components/index.ts";
import {
  ConfigMap,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  refTo,
  Secret,
  type KubeClient,
} from "../../src/kube/index.ts";
import { applyUpstreamCrds } from "../../src/local/cluster/manifests.ts";
import type { Child } from "../support/child.ts";
import { exampleContext, exampleShoot } from "../support/control-plane-context.ts";
import { startControlPlane, type ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { applyGardenersCrds } from "../support/gardener-definitions.ts";
import { notedWaits } from "../support/noted-waits.ts";
import { startResourceManager } from "../support/resource-manager.ts";
import { startShootControlPlane, type ShootControlPlane } from "../support/shoot-control-plane.ts";
import { shootRun } from "../support/shoot-run.ts";
import { startCalico } from "../support/upstream-controllers.ts";
import { seconds } from "../support/patience.ts";

/**
 * Upstream's networking-calico as it is published, asked as flows ask it, in a seed with Gardener's own definitions. What it
 * makes of a Network, upstream's resource manager puts into the Shoot. Calico's own images cannot be had: no pod runs.
 */
const namespace = "shoot--dev--calico";
const example = exampleShoot();
const context = exampleContext({
  namespace,
  managesResources: true,
  shoot: exampleShoot({ networking: { ...example.spec.networking, type: "calico" } }),
});
const run = shootRun({
  name: context.shoot.metadata.name,
  technicalID: namespace,
  leadershipRecord: "leader.example.com",
});
const network = refTo(Network, { namespace, name: run.name });
const resource = refTo(ManagedResource, { namespace, name: "extension-networking-calico-config" });
let directory: string;
let seed: ControlPlane;
let shoot: ShootControlPlane;
let inside: KubeClient;
const children: Child[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "perennial-upstream-"));
  seed = await startControlPlane();
  await applyGardenersCrds(seed.client);
  await applyUpstreamCrds(seed.client);
  for (const object of components.namespace.objects(context)) await seed.client.apply(object);
  await ensureSecrets(seed.client, context);
  shoot = await startShootControlPlane(seed.client, context);
  inside = await shoot.client("gardener");
  children.push(await startManager(), await startCalico(directory, seed.kubeconfigFile));
}, seconds(180));

afterAll(async () => {
  await Promise.all(children.map((child) => child.kill()));
  await inside.close();
  await shoot.stop();
  await seed.stop();
  await rm(directory, { recursive: true });
});

test("a Network is reconciled, and what Calico consists of is in the Shoot", async () => {
  await extensions().applyObject(run, networkObject(context), "Network", notedWaits.group("network", 1));
  const { status } = await ready();
  expect(status).toMatchObject({ providerStatus: { kind: "NetworkStatus" } });
  await applied();
  const names = (await inside.list(CustomResourceDefinition)).map(({ metadata }) => metadata.name);
  expect(names).toEqual(
    expect.arrayContaining(["ippools.crd.projectcalico.org", "felixconfigurations.crd.projectcalico.org"]),
  );
  const pods = JSON.stringify((await calicoNode())?.spec);
  expect(pods).toContain(context.shoot.spec.networking?.pods);
  expect(await inside.read(Deployment, { namespace: "kube-system", name: "calico-typha-deploy" })).toBeDefined();
});

test("a change of its configuration reaches the Shoot", async () => {
  const providerConfig = {
    apiVersion: "calico.networking.extensions.gardener.cloud/v1alpha1",
    kind: "NetworkConfig",
    backend: "none",
  };
  const { networking } = context.shoot.spec;
  const changed = {
    ...context,
    shoot: exampleShoot({ networking: { ...networking, type: "calico", providerConfig } }),
  };
  await extensions().applyObject(run, networkObject(changed), "Network", notedWaits.group("network", 1));
  await ready();
  await eventually(async () => {
    const config = await inside.read(ConfigMap, { namespace: "kube-system", name: "calico-config" });
    expect(config?.data).toMatchObject({ calico_backend: "none" });
  }, 30_000);
});

test("a wrong configuration is an error of the Network", async () => {
  const providerConfig = { apiVersion: "calico.networking.extensions.gardener.cloud/v1alpha1", kind: "Nonsense" };
  const { networking } = context.shoot.spec;
  const wrong = { ...context, shoot: exampleShoot({ networking: { ...networking, type: "calico", providerConfig } }) };
  await extensions().applyObject(run, networkObject(wrong), "Network", notedWaits.group("network", 1));
  await eventually(async () => expect(judge(await found())).toMatchObject({ message: /Nonsense/ }), 30_000);
  await extensions().applyObject(run, networkObject(context), "Network", notedWaits.group("network", 1));
  await ready();
});

test(
  "a migrated Network leaves Calico in the Shoot, a restored one goes on with it",
  async () => {
    await applied();
    const before = await calicoNode();
    await moves().migrate(run, "Network", "migrateNetwork");
    await eventually(
      async () => expect(extensionReady(await found(), { asked: "migrate" })).toEqual({ reached: true }),
      60_000,
    );
    expect(await seed.client.read(resource)).toBeUndefined();
    expect((await calicoNode())?.metadata.uid).toBe(before?.metadata.uid);
    await seed.client.remove(network);
    await moves().restore(run, "Network", "restoreNetwork");
    await eventually(
      async () => expect(extensionReady(await found(), { asked: "restore" })).toEqual({ reached: true }),
      60_000,
    );
    await applied();
    expect((await calicoNode())?.metadata.uid).toBe(before?.metadata.uid);
  },
  seconds(180),
);

test(
  "a deleted Network takes Calico out of the Shoot",
  async () => {
    await extensions().remove(run, "Network", "destroyNetwork");
    await eventually(async () => expect(await seed.client.read(network)).toBeUndefined(), 90_000);
    expect(await calicoNode()).toBeUndefined();
    expect(await seed.client.read(resource)).toBeUndefined();
  },
  seconds(120),
);

const seedClient = () => carryingLeadership(fenced(seed.client, run));

const extensions = () => createExtensions({ gardenClient: seed.client, seedClient: seedClient(), waits: notedWaits });

const moves = () =>
  createExtensionMoves({
    seedClient: seedClient(),
    waits: notedWaits,
    wanted: async () => [networkObject(context)],
    kept: async () => undefined,
    machines: async () => undefined,
    protect: async () => undefined,
  });

const found = async () => (await seed.client.read(network)) ?? expect.fail("there is no Network");

const judge = (object: Network) =>
  extensionReady(object, { timestamp: object.metadata.annotations?.["gardener.cloud/timestamp"] });

/** As a flow waits for it. */
const ready = async (): Promise<Network> =>
  await eventually(async () => {
    const object = await found();
    expect(judge(object)).toEqual({ reached: true });
    return object;
  }, 60_000);

/** All of it was written into the Shoot, and this is said of what the seed has now. */
async function applied(): Promise<void> {
  await eventually(async () => {
    const { status, metadata } = (await seed.client.read(resource)) ?? expect.fail("there is no ManagedResource");
    expect(status?.observedGeneration).toBe(metadata.generation);
    const condition = status?.conditions?.find(({ type }) => type === "ResourcesApplied");
    expect(condition, JSON.stringify(status)).toMatchObject({ status: "True" });
  }, 60_000);
}

const calicoNode = async () => await inside.read(DaemonSet, { namespace: "kube-system", name: "calico-node" });

/** The Shoot's own, as flows configure it. */
async function startManager(): Promise<Child> {
  const target = join(directory, "shoot.yaml");
  await writeFile(target, await shoot.kubeconfig("gardener-internal"), { mode: 0o600 });
  const server = await seed.client.read(Secret, { namespace, name: "gardener-resource-manager-server" });
  const configMap = components["resource-manager"].objects(context).find(({ kind }) => kind === "ConfigMap");
  const files = { source: seed.kubeconfigFile, target, server: server?.data ?? {} };
  return await startResourceManager(join(directory, "resource-manager"), configMap, files);
}
