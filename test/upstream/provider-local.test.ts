import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { whyNotReady } from "../../src/api/registration/installation.ts";
import { ControllerInstallation, ControlPlane, Infrastructure, ManagedResource } from "../../src/api/index.ts";
import { Deployment, Namespace, refTo, type KubeClient } from "../../src/kube/index.ts";
import { down } from "../../src/local/environment/down.ts";
import { createShoot, type TestShoot } from "../support/e2e-shoots.ts";
import { eventually } from "../support/eventually.ts";
import { localEnvironment, type LocalEnvironment, type SeedName } from "../support/local-environment.ts";
import { findSeedRemains, findShootRemains } from "../support/shoot-remains.ts";
import {
  credentials,
  infrastructureKubeconfig,
  prepareGarden,
  upstreamName,
  writeUpstreamRegistration,
} from "../support/upstream-provider.ts";

/**
 * Upstream's provider-local with its own chart, installed by registration, in pods of real seeds, at the service of a Shoot:
 * its Infrastructure and ControlPlane are upstream's, all else is the built-in provider's.
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
}, 600_000);

afterAll(async () => {
  await local?.close();
  if (kept === undefined) await down({ name });
  await rm(folder, { recursive: true, force: true });
}, 120_000);

test("registered with its own chart, it is installed on the seeds that need it, and serves there", async () => {
  const file = await writeUpstreamRegistration(local, folder);
  expect(await local.perennial("extension", "install", file)).toContain(`ControllerRegistration ${upstreamName}`);
  await eventually(async () => {
    const installations = await findInstallations();
    expect(installations.map(({ spec }) => spec.seedRef?.name).sort()).toEqual(["seed-1", "seed-2"]);
    for (const installation of installations) expect(whyNotReady(installation)).toBeUndefined();
  }, 180_000);
  for (const installation of await findInstallations()) {
    const seed = local.seeds[installation.spec.seedRef?.name as SeedName];
    const pods = refTo(Deployment, {
      namespace: `extension-${installation.metadata.name}`,
      name: "gardener-extension-provider-local",
    });
    expect(statesOf((await seed.read(pods))?.status?.conditions)).toMatchObject({ Available: "True" });
  }
});

test("a Shoot gets infrastructure and control plane from it", async () => {
  shoot = await createShoot(local, { name: "theirs" });
  await shoot.settles("Succeeded", "Create", 600_000);
  await answersFor(local.seedClient, "Create");
  expect(await local.seedClient.read(refTo(Namespace, { name: `infra-${shoot.technicalID}` }))).toBeDefined();
}, 660_000);

test("what it puts beside the control plane and into the Shoot is applied, healthy and rolled out", async () => {
  const resources = await local.seedClient.list(ManagedResource, { namespace: shoot.technicalID });
  expect(resources.map(({ metadata }) => metadata.name).sort()).toEqual(
    ["configuration-seed", "seed", "shoot", "shoot-webhooks", "storageclasses"].map(
      (part) => `extension-controlplane-${part}`,
    ),
  );
  for (const { metadata, status } of resources)
    expect(statesOf(status?.conditions), metadata.name).toEqual({
      ResourcesApplied: "True",
      ResourcesHealthy: "True",
      ResourcesProgressing: "False",
    });
  const manager = refTo(Deployment, { namespace: shoot.technicalID, name: "cloud-controller-manager" });
  expect(statesOf((await local.seedClient.read(manager))?.status?.conditions)).toMatchObject({ Available: "True" });
});

test("its webhook has changed the control plane that we deploy, and a reconcile leaves the change alone", async () => {
  const scheduler = refTo(Deployment, { namespace: shoot.technicalID, name: "kube-scheduler" });
  const before = await local.seedClient.read(scheduler);
  expect(before?.spec).toMatchObject({ template: { metadata: { labels: { "injected-by": "provider-local" } } } });
  await shoot.annotate({ "gardener.cloud/operation": "reconcile" });
  await shoot.settles("Succeeded", "Reconcile", 300_000);
  expect((await local.seedClient.read(scheduler))?.metadata.generation).toBe(before?.metadata.generation);
}, 330_000);

test("an error of its controller is the Shoot's, and is over with its cause", async () => {
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
}, 660_000);

test("a Shoot moves: it lets go of its objects in one seed, and takes them up in the other", async () => {
  await local.perennial("shoot", "migrate", "garden-dev/theirs", "--to", "seed-2", "-y");
  await shoot.settles("Succeeded", "Restore", 600_000);
  await answersFor(local.seeds["seed-2"], "Restore");
  await eventually(async () => expect(await findSeedRemains(local, shoot, "seed-1")).toEqual([]), 120_000);
  expect(await local.seedClient.read(refTo(Namespace, { name: `infra-${shoot.technicalID}` }))).toBeDefined();
}, 780_000);

test("a Shoot is deleted, and nothing is left of it", async () => {
  await shoot.remove();
  await shoot.gone(600_000);
  await eventually(async () => expect(await findShootRemains(local, shoot)).toEqual([]), 60_000);
  expect(await local.seedClient.read(refTo(Namespace, { name: `infra-${shoot.technicalID}` }))).toBeUndefined();
}, 720_000);

test("it goes from the seeds when it is registered no more", async () => {
  const namespaces = (await findInstallations()).map(({ metadata }) => `extension-${metadata.name}`);
  await local.gardenClient.remove({
    ...{ apiVersion: "core.gardener.cloud/v1beta1", kind: "ControllerRegistration" },
    name: upstreamName,
  });
  await eventually(async () => expect(await findInstallations()).toEqual([]), 120_000);
  for (const seed of Object.values(local.seeds))
    for (const namespace of namespaces) expect(await seed.read(refTo(Namespace, { name: namespace }))).toBeUndefined();
}, 150_000);

const findInstallations = async (): Promise<readonly ControllerInstallation[]> =>
  (await local.gardenClient.list(ControllerInstallation)).filter(
    ({ spec }) => spec.registrationRef.name === upstreamName,
  );

/**
 * What upstream's controllers say of the Shoot's objects: words of theirs, which ours do not use. What they report of a
 * Restore wakes them while they are asked for it, and may have them reconcile once more; what is not restored says Create.
 */
async function answersFor(seed: KubeClient, type: "Create" | "Restore"): Promise<void> {
  const of = { namespace: shoot.technicalID, name: shoot.name };
  const objects = [await seed.read(refTo(Infrastructure, of)), await seed.read(refTo(ControlPlane, of))];
  const said = type === "Restore" ? (expect.stringMatching(/^(Restore|Reconcile)$/) as string) : type;
  for (const object of objects)
    expect(object?.status?.lastOperation).toMatchObject({ type: said, state: "Succeeded", description: successfully });
}

const successfully = expect.stringMatching(
  /^Successfully (reconciled|restored) (infrastructure|ControlPlane)$/i,
) as string;

const statesOf = (
  conditions: readonly { readonly type: string; readonly status: string }[] = [],
): Record<string, string> => Object.fromEntries(conditions.map(({ type, status }) => [type, status]));
