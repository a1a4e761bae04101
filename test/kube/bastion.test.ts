import { describe, expect } from "vitest";
import type { BastionTask } from "../../src/activities/bastion/activities.ts";
import { listedShoots } from "../../src/activities/shoot/garden-shoots.ts";
import { createBastionGardenActivities } from "../../src/activities/bastion/garden.ts";
import { createBastionSeedActivities } from "../../src/activities/bastion/seed.ts";
import { removeBastions } from "../../src/activities/extensions/bastions.ts";
import { fenced } from "../../src/activities/leadership/fenced-client.ts";
import { Bastion, Seed, Shoot, type ShootBastion } from "../../src/api/index.ts";
import type { BastionRun } from "../../src/api/shoot/bastion-run.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { Namespace, refOf, refTo, type KubeClient, type MergePatch } from "../../src/kube/index.ts";
import { test as it } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { notedWaits } from "../support/noted-waits.ts";

const namespace = "garden-dev";
const periods = { leaseSeconds: 60, dnsTtl: 120, syncPeriod: 60_000, seedDeadline: 60_000, retryDuration: 60_000 };
let kube: KubeClient;
let clock = 0;
let count = 0;
let shoot: ShootRun;
let bastion: ShootBastion;

it.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await applyGarden(kube);
});

it.beforeEach(async () => {
  clock = Date.now();
  shoot = await createShoot(kube, `reached-${(count += 1)}`, { seedName: "seed-1" });
  const { technicalID, uid } = shoot;
  await lead("seed-1", { uid, technicalID, lastOperation: succeeded("Create") });
  bastion = await kube.create<ShootBastion>({
    ...{ apiVersion: "operations.gardener.cloud/v1alpha1", kind: "Bastion" },
    metadata: { name: `bastion-${count}`, namespace },
    spec: {
      ...{ shootRef: { name: shoot.name }, seedName: "seed-1", providerType: "local" },
      ...{ sshPublicKey: "ssh-ed25519 AAAA me", ingress: [{ ipBlock: { cidr: "192.0.2.7/32" } }] },
    },
  });
});

const now = () => new Date().toISOString();
const succeeded = (type: string) => ({
  ...{ type, state: "Succeeded", progress: 100, description: "" },
  lastUpdateTime: now(),
});
const shootRef = () => refTo(Shoot, { namespace, name: shoot.name });
const lead = (seed: string, more: MergePatch = {}, epoch = 1) =>
  kube.patch(
    shootRef(),
    {
      status: { seedName: seed, leadership: { seed, epoch, record: "leader.example.com", leaseSeconds: 60 }, ...more },
    },
    { subresource: "status" },
  );
const extensions = { of: () => ({ registrations: [], installations: [] }), registered: () => [] };
const garden = () =>
  createBastionGardenActivities({ gardenClient: kube, periods, extensions, shoots: listedShoots(kube) });
const seed = () => createBastionSeedActivities({ gardenClient: kube, seedClient: kube, now: () => clock });
const inSeed = () => refTo(Bastion, { namespace: shoot.technicalID, name: bastion.metadata.name });
const ref = () => ({ namespace, name: bastion.metadata.name, uid: bastion.metadata.uid ?? "" });
const readTask = () => garden().readBastion(ref());
const readStatus = async () => (await kube.read(refOf(bastion)))?.status;

async function runOf(task: Promise<BastionTask | null>): Promise<BastionRun> {
  const found = await task;
  if (found === null || !("run" in found)) throw new Error(`there is nothing to act on: ${JSON.stringify(found)}`);
  return found.run;
}

/** Answers as the Bastion's controller does. */
async function answer(state: string, more: MergePatch = {}): Promise<void> {
  const found = await kube.read(inSeed());
  await kube.patch(inSeed(), { metadata: { annotations: { "gardener.cloud/operation": null } } });
  const lastOperation = { ...succeeded("Reconcile"), state };
  const status = { observedGeneration: found?.metadata.generation, lastOperation, lastError: null, ...more };
  await kube.patch(inSeed(), { status }, { subresource: "status" });
}

describe("a seed", () => {
  it("makes an extension Bastion of the garden's, under the epoch of the Shoot's leader", async () => {
    const run = await runOf(readTask());
    await garden().holdBastion(run);
    const timestamp = await seed().applyBastion(run);
    const made = await kube.read(inSeed());
    expect(made?.spec).toMatchObject({
      type: "local",
      ingress: [{ ipBlock: { cidr: "192.0.2.7/32" } }],
      leadership: { record: "leader.example.com", value: "seed-1", epoch: 1, shoot: shoot.uid },
    });
    expect(Buffer.from(made?.spec.userData ?? "", "base64").toString()).toContain("ssh-ed25519 AAAA me");
    expect(made?.metadata.annotations).toMatchObject({
      "gardener.cloud/operation": "reconcile",
      "gardener.cloud/timestamp": timestamp,
      "perennial.dev/epoch": "1",
    });
    const held = await kube.read(refOf(bastion));
    expect(held?.metadata.finalizers).toEqual(["gardener"]);
    expect(held?.status?.conditions).toMatchObject([{ type: "BastionReady", status: "Progressing" }]);
  });

  it("makes none of a Bastion that is being deleted, however late it is asked to", async () => {
    const run = await runOf(readTask());
    await garden().holdBastion(run);
    await kube.remove(refOf(bastion));
    await expect(seed().applyBastion(run)).rejects.toThrow("is being deleted");
    expect(await kube.read(inSeed())).toBeUndefined();
    await garden().releaseBastion(ref());
  });

  it("keeps a Bastion that names it: no user changes its Seed", async () => {
    const change = (seedName: string | null) => kube.patch(refOf(bastion), { spec: { seedName } });
    for (const other of ["seed-2", null]) await expect(change(other)).rejects.toThrow(/seedName/);
  });

  it("says that the bastion is ready once its controller has said so of this very request, and where it is", async () => {
    const run = await runOf(readTask());
    const timestamp = await seed().applyBastion(run);
    await expect(seed().lookAtBastion(run, timestamp)).rejects.toThrow("its controller has not");
    await answer("Succeeded", { ingress: { ip: "203.0.113.9" } });
    const sight = await seed().lookAtBastion(run, timestamp);
    expect(sight).toEqual({ ready: true, ingress: { ip: "203.0.113.9" } });
    await garden().tellBastion(run, { is: "ready", ingress: { ip: "203.0.113.9" } });
    const status = await readStatus();
    expect(status).toMatchObject({
      ingress: { ip: "203.0.113.9" },
      observedGeneration: run.generation,
      conditions: [{ type: "BastionReady", status: "True", reason: "SuccessfullyReconciled" }],
    });
    await garden().holdBastion(run);
    expect((await readStatus())?.conditions).toMatchObject([{ status: "True" }]);
  });

  it("says of the Bastion that it acted on how it is, and not of what users have made of it since", async () => {
    const run = await runOf(readTask());
    await kube.patch(refOf(bastion), { spec: { ingress: [{ ipBlock: { cidr: "198.51.100.0/24" } }] } });
    await garden().tellBastion(run, { is: "ready" });
    expect((await readStatus())?.observedGeneration).toBe(run.generation);
    await garden().tellBastion(ref(), { is: "failed", message: "away" });
    expect((await readStatus())?.observedGeneration).toBe(run.generation);
    const changed = await runOf(readTask());
    await garden().holdBastion(changed);
    expect((await readStatus())?.conditions).toMatchObject([{ status: "Progressing" }]);
    expect((await readStatus())?.observedGeneration).toBe(changed.generation);
  });

  it("gives a controller a minute that is at work again by itself, however long ago it was asked", async () => {
    const run = await runOf(readTask());
    const timestamp = await seed().applyBastion(run);
    await answer("Processing");
    clock += 3_600_000;
    const since = clock;
    const look = () => seed().lookAtBastion(run, timestamp, undefined, since);
    await expect(look()).rejects.toThrow();
    clock += 61_000;
    expect(await look()).toMatchObject({ ready: false });
  });

  it("tells an error at once and once, and what is missing after a minute", async () => {
    const run = await runOf(readTask());
    const timestamp = await seed().applyBastion(run);
    clock += 61_000;
    const late = await seed().lookAtBastion(run, timestamp);
    expect(late).toMatchObject({ ready: false, message: expect.stringContaining("its controller has not") as string });
    clock -= 61_000;
    const error = { description: "no quota", codes: ["ERR_INFRA_QUOTA_EXCEEDED"], lastUpdateTime: now() };
    await answer("Error", { lastError: error });
    const sight = await seed().lookAtBastion(run, timestamp);
    expect(sight).toEqual({ ready: false, message: "no quota", codes: ["ERR_INFRA_QUOTA_EXCEEDED"] });
    await expect(seed().lookAtBastion(run, timestamp, "no quota")).rejects.toThrow("no quota");
  });

  it("asks the controller again when users let others in, or it has failed, and else leaves it alone", async () => {
    const run = await runOf(readTask());
    const first = await seed().applyBastion(run);
    expect(await seed().applyBastion(run)).toBe(first);
    await answer("Succeeded");
    expect(await seed().applyBastion(run)).toBe(first);
    await kube.patch(refOf(bastion), { spec: { ingress: [{ ipBlock: { cidr: "198.51.100.0/24" } }] } });
    const second = await seed().applyBastion(run);
    expect(second > first).toBe(true);
    expect((await kube.read(inSeed()))?.spec.ingress).toEqual([{ ipBlock: { cidr: "198.51.100.0/24" } }]);
    await answer("Failed", { lastError: { description: "given up", lastUpdateTime: now() } });
    expect((await seed().applyBastion(run)) > second).toBe(true);
  });

  it("makes none beside another Shoot's control plane, or where there is none", async () => {
    const run = await runOf(readTask());
    const other = { ...run, shoot: { ...run.shoot, uid: "another" } };
    await expect(seed().applyBastion(other)).rejects.toThrow("is that of an earlier Shoot of this name");
    const nowhere = { ...run, shoot: { ...run.shoot, technicalID: "shoot--dev--nowhere" } };
    await expect(seed().applyBastion(nowhere)).rejects.toThrow("the Shoot has no control plane yet");
  });

  it("takes none away beside another Shoot's control plane, and waits for none", async () => {
    const run = await runOf(readTask());
    await seed().applyBastion(run);
    const other = { ...run, shoot: { ...run.shoot, uid: "another" } };
    await seed().removeBastion(other);
    expect(await kube.read(inSeed())).toBeDefined();
    await seed().confirmBastionRemoved(other);
  });

  it("makes none before a later Shoot of the name that its Bastion was made for", async () => {
    const owner = { apiVersion: "core.gardener.cloud/v1beta1", kind: "Shoot", name: shoot.name, uid: "earlier" };
    await kube.patch(refOf(bastion), { metadata: { ownerReferences: [owner] } });
    expect(await readTask()).toEqual({ is: "wait", why: "its Shoot is gone" });
    await kube.patch(refOf(bastion), { metadata: { ownerReferences: [{ ...owner, uid: shoot.uid }] } });
    expect(await readTask()).toMatchObject({ is: "apply" });
  });

  it("says nothing of a later Bastion of the name", async () => {
    const run = await runOf(readTask());
    await garden().tellBastion({ ...run, uid: "earlier" }, { is: "failed", message: "away" });
    expect(await readStatus()).toBeUndefined();
  });

  it("that leads no more writes and deletes none, however late it comes", async () => {
    const run = await runOf(readTask());
    await seed().applyBastion(run);
    const annotations = { "perennial.dev/epoch": "2" };
    await kube.patch(refTo(Namespace, { name: shoot.technicalID }), { metadata: { annotations } });
    await kube.patch(refOf(bastion), { spec: { ingress: [{ ipBlock: { cidr: "198.51.100.0/24" } }] } });
    await expect(seed().applyBastion(run)).rejects.toThrow("perennial-fence");
    await expect(seed().removeBastion(run)).rejects.toThrow("perennial-fence");
    expect(await kube.read(inSeed())).toBeDefined();
  });
});

describe("a Bastion that is deleted", () => {
  /** Makes it, holds it in both places, and deletes it in the garden. */
  const end = async (): Promise<void> => {
    const run = await runOf(readTask());
    await garden().holdBastion(run);
    await seed().applyBastion(run);
    await kube.patch(inSeed(), { metadata: { finalizers: ["extensions.gardener.cloud/bastion"] } });
    await kube.remove(refOf(bastion));
  };

  it("goes once its controller has let the extension Bastion go", async () => {
    await end();
    const run = await runOf(readTask());
    await seed().removeBastion(run);
    const ending = await kube.read(inSeed());
    expect(ending?.metadata.deletionTimestamp).toBeDefined();
    expect(ending?.metadata.annotations).toMatchObject({ "confirmation.gardener.cloud/deletion": "true" });
    expect(ending?.metadata.annotations).not.toHaveProperty("confirmation.gardener.cloud/force-deletion");
    await expect(seed().confirmBastionRemoved(run)).rejects.toThrow("it is not gone: its controller has not let it go");
    await kube.patch(inSeed(), { metadata: { finalizers: null } });
    await seed().confirmBastionRemoved(run);
    await garden().releaseBastion(run);
    expect(await kube.read(refOf(bastion))).toBeUndefined();
    expect(await readTask()).toBeNull();
  });

  it("waits for no Seed that was taken over from, or that is out of the garden", async () => {
    await end();
    const spare = (await kube.read(Seed, { name: "seed-1" }))?.spec;
    expect(await readTask()).toMatchObject({ is: "remove" });
    await lead("seed-2", {}, 2);
    expect(await readTask()).toEqual({ is: "release", why: "Seed seed-1 does not lead its Shoot" });
    await lead("seed-1", {}, 3);
    await kube.remove(refTo(Seed, { name: "seed-1" }));
    expect(await readTask()).toEqual({ is: "release", why: "Seed seed-1 is not in the garden any more" });
    await kube.apply({
      ...{ apiVersion: "core.gardener.cloud/v1beta1", kind: "Seed" },
      metadata: { name: "seed-1" },
      spec: spare,
    });
  });

  it("lets its Shoot's deletion wait for what its controller takes away, and give up by force", async () => {
    await end();
    const deps = { seedClient: fenced(kube, shoot), waits: notedWaits };
    const targets = await removeBastions(deps, shoot, "removeBastions");
    expect(targets).toMatchObject([{ kind: "Bastion", name: bastion.metadata.name, until: "gone" }]);
    expect((await kube.read(inSeed()))?.metadata.deletionTimestamp).toBeDefined();
    await removeBastions(deps, { ...shoot, forced: true }, "removeBastions");
    const forced = await kube.read(inSeed());
    expect(forced?.metadata.annotations).toMatchObject({ "confirmation.gardener.cloud/force-deletion": "true" });
  });
});
