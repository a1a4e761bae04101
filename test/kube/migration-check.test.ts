import { beforeEach, expect } from "vitest";
import { StepError } from "../../src/activities/step-error.ts";
import { listedShoots } from "../../src/activities/shoot/garden-shoots.ts";
import { createMigrationCheck, createSourceCheck } from "../../src/activities/shoot/migration-check.ts";
import { readMigrationFacts } from "../../src/activities/shoot/migration-facts.ts";
import { createShootStates } from "../../src/activities/state/shoot-state.ts";
import { ControllerInstallation, ControllerRegistration, Seed, Shoot, ShootState } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { refTo, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { test as it } from "../support/cluster-test.ts";
import { exampleObjects } from "../support/examples.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { movableStatus, seedKey, seedReady } from "../support/migration-objects.ts";
import { newKeyring } from "../support/state-keys.ts";

const core = "core.gardener.cloud/v1beta1";
let kube: KubeClient;
let run: ShootRun;
let count = 0;

it.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await applyGarden(kube);
});

beforeEach(async () => {
  for (const name of ["seed-1", "seed-2"]) await registerSeed(name, { backup: { provider: "local", region: "local" } });
  const facts = await createShoot(kube, `check-${(count += 1)}`, { seedName: "seed-2" });
  const lastOperation = { ...movableStatus().lastOperation, type: "Migrate", state: "Processing" };
  const status = { ...movableStatus(), uid: facts.uid, technicalID: facts.technicalID, lastOperation };
  await kube.patch(shootRef(facts), { status }, { subresource: "status" });
  run = { ...facts, operation: "Migrate", migration: { source: "seed-1", destination: "seed-2", takeover: false } };
});

it("the check before a move lets a Shoot go when nothing stands against it", async () => {
  await expect(check()).resolves.toBeUndefined();
});

it("the check before a move names every reason at once, and that an operator has to mend them", async () => {
  await kube.remove(refTo(Seed, { name: "seed-2" }));
  await registerSeed("seed-2", { taints: [{ key: "reserved" }] });
  const error = await refusal();
  expect(error.message).toContain(`cannot move Shoot garden-dev/${run.name} to Seed seed-2`);
  expect(error.message).toContain("spec.seedName: Seed seed-2 keeps no backups");
  expect(error.message).toContain("spec.seedName: Seed seed-2 has taint reserved");
  expect(error.message).toContain(`perennial shoot migrate garden-dev/${run.name} --cancel`);
  expect(error).toMatchObject({ codes: ["ERR_CONFIGURATION_PROBLEM"], retryable: false });
  await kube.remove(refTo(Seed, { name: "seed-2" }));
});

it("the check before a move refuses a Seed that does not get what the Shoot needs any more", async () => {
  const metadata = { name: "leaving", finalizers: ["test.example.org/stays"] };
  const resources = [{ kind: "Infrastructure", type: "local" }];
  const spec = { resources, deployment: { type: "helm", providerConfig: { chart: "" } } };
  await kube.apply({ ...typeMeta(ControllerRegistration), metadata, spec });
  const install = (seed: string) => {
    const refs = { registrationRef: { name: "leaving" }, seedRef: { name: seed } };
    return kube.apply({ ...typeMeta(ControllerInstallation), metadata: { name: `leaving-${seed}` }, spec: refs });
  };
  await install("seed-1");
  await expect(check()).resolves.toBeUndefined();
  await kube.remove(refTo(ControllerRegistration, metadata));
  const error = await refusal();
  expect(error.message).toContain("Seed seed-2 does not have extension leaving, needed for Infrastructure local");
  expect(error).toMatchObject({ codes: ["ERR_CONFIGURATION_PROBLEM"], retryable: false });
  await install("seed-2");
  await expect(check()).resolves.toBeUndefined();
  await kube.patch(refTo(ControllerRegistration, metadata), { metadata: { finalizers: null } });
});

it("the check before a move is tried again while the destination is silent", async () => {
  const later = () => new Date(Date.now() + 300_000);
  const error = await refusal(later);
  expect(error.message).toContain("Seed seed-2 is not ready");
  expect(error.retryable).toBe(true);
});

it("the check before a takeover asks for kept state", async () => {
  run = { ...run, migration: { source: "seed-1", destination: "seed-2", takeover: true } };
  expect((await refusal()).message).toContain(`there is no ShootState garden-dev/${run.name}`);
  await keep(run.name, [{ name: "ca", type: "secret", data: {} }]);
  expect((await refusal()).message).toContain("names no snapshot of etcd");
  const keys = newKeyring();
  const bucket = { bucket: "b", name: "s.db", revision: 7, hash: 1 };
  const snapshot = { ...bucket, size: 12_300_000, takenAt: "2026-11-21T10:00:00Z" };
  await createShootStates({ gardenClient: kube, keys }).recordSnapshot({ ...run, epoch: 1 }, snapshot);
  await expect(check()).resolves.toBeUndefined();
  const shoot = await kube.read(shootRef(run));
  const facts = shoot && (await readMigrationFacts(kube, shoot, { from: "seed-1", to: "seed-2" }));
  expect(facts?.kept).toEqual({ state: true, snapshot: true, size: 12_300_000, takenAt: "2026-11-21T10:00:00Z" });
});

it("the check before a planned move refuses a state that the garden could not keep", async () => {
  await keep(run.name, [{ name: "ca", type: "secret", data: {} }]);
  const annotations = { "perennial.dev/state-problem": "the Shoot's state is too large" };
  await kube.patch(refTo(ShootState, { namespace: "garden-dev", name: run.name }), { metadata: { annotations } });
  expect((await refusal()).message).toContain("the Shoot's state is too large");
  run = { ...run, migration: { source: "seed-1", destination: "seed-2", takeover: true } };
  expect((await refusal()).message).not.toContain("too large");
});

it("the check before a move passes for a Shoot that is gone", async () => {
  run = { ...run, uid: "another" };
  await expect(check()).resolves.toBeUndefined();
});

it("the check before a move refuses to leave a Bastion behind", async () => {
  const checkSource = createSourceCheck({ seedClient: kube });
  await expect(checkSource(run)).resolves.toBeUndefined();
  await kube.create({
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Bastion",
    metadata: { name: "alice", namespace: run.technicalID },
    spec: { type: "local", ingress: [], userData: "Cg==" },
  });
  await expect(checkSource(run)).rejects.toThrow("Bastion alice in namespace");
});

it("the check before a move refuses a Shoot of which an object does not say who leads: its controller would go on", async () => {
  const led = { ...run, leadershipRecord: "record" };
  const checkSource = createSourceCheck({ seedClient: kube });
  await expect(checkSource(led)).resolves.toBeUndefined();
  const apply = (leadership?: object) =>
    kube.apply({
      apiVersion: "extensions.gardener.cloud/v1alpha1",
      kind: "Network",
      metadata: { name: run.name, namespace: run.technicalID },
      spec: { type: "local", podCIDR: "10.0.0.0/16", serviceCIDR: "10.1.0.0/16", ...(leadership && { leadership }) },
    });
  await apply();
  await expect(checkSource(led)).rejects.toThrow(
    `Network ${run.name} in namespace ${run.technicalID} of its seed do not say`,
  );
  await apply({ record: "record", value: "seed-9", leaseSeconds: 60 });
  await expect(checkSource(led)).rejects.toThrow("do not say who leads");
  await apply({ record: "record", value: "seed-1", leaseSeconds: 60 });
  await expect(checkSource(led)).resolves.toBeUndefined();
});

function check(now?: () => Date): Promise<void> {
  return createMigrationCheck({ gardenClient: kube, shoots: listedShoots(kube), ...(now && { now }) })(run);
}

async function refusal(now?: () => Date): Promise<StepError> {
  const error = await check(now).catch((thrown: unknown) => thrown);
  if (!(error instanceof StepError)) throw new Error(`the check let the Shoot go, or broke: ${String(error)}`);
  return error;
}

async function registerSeed(name: string, spec: object): Promise<void> {
  const example = (await exampleObjects()).find(({ kind }) => kind === "Seed");
  if (!example) throw new Error("there is no example of a Seed");
  const { backup: _, ...rest } = example["spec"] as Record<string, unknown>;
  await kube.apply({ ...example, metadata: { name }, spec: { ...rest, ...spec } });
  const ref = refTo(Seed, { name });
  await kube.patch(ref, { status: { conditions: [seedReady()], stateKey: seedKey(name) } }, { subresource: "status" });
}

async function keep(name: string, gardener: object[]): Promise<void> {
  await kube.apply({
    apiVersion: core,
    kind: "ShootState",
    metadata: { name, namespace: "garden-dev" },
    spec: { gardener },
  });
}

function shootRef({ namespace, name }: ShootRun) {
  return refTo(Shoot, { namespace, name });
}
