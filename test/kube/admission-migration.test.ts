import { beforeEach, expect } from "vitest";
import { counted } from "../../src/api/counted.ts";
import { CloudProfile, ControllerRegistration, Seed, Shoot, type KubeObject } from "../../src/api/index.ts";
import { refTo, Secret, typeMeta, type KubeClient, type ObjectRef } from "../../src/kube/index.ts";
import { admissionTest as test, refusalOf, type AdmissionLab } from "../support/admission-lab.ts";
import { eventually } from "../support/eventually.ts";
import { movableStatus } from "../support/migration-objects.ts";
import { createMovableShoot, hearOfSeed, registerReadySeed } from "../support/movable-shoots.ts";

const cancel = "perennial.dev/cancel-migration";
const takeover = "perennial.dev/force-takeover";

let lab: AdmissionLab;
let client: KubeClient;

test.beforeAll(async ({ admissionLab }) => {
  lab = admissionLab;
  client = lab.client;
  for (const name of ["seed-1", "seed-2", "seed-3"]) await registerReadySeed(client, name);
});

beforeEach(async () => {
  for (const name of ["seed-1", "seed-2", "seed-3"]) await hearOfSeed(client, name);
});

test("a Shoot moves when its Seed's name changes and nothing stands against it", async () => {
  await created("moves");
  expect(await refusalOf(move("moves", "seed-2"))).toBe(false);
});

test("a user who may not bind Shoots may not move them either", async () => {
  await created("bound");
  await expect(lab.alice.patch(ref("bound"), { spec: { seedName: "seed-2" } })).rejects.toThrow(
    "spec.seedName: may be set only by users who can update shoots/binding",
  );
});

test("the refusal of a move names all that stands against it, with the fields", async () => {
  await created("obstacles", { leadership: undefined });
  await client.patch(seedRef("seed-3"), { spec: { taints: [{ key: "reserved" }] } });
  const refusal = await refusalOf(move("obstacles", "seed-3"));
  expect(refusal).toContain("status.leadership: the Shoot has no leadership record");
  expect(refusal).toContain("spec.seedName: Seed seed-3 has taint reserved");
  await client.patch(seedRef("seed-3"), { spec: { taints: null } });
});

test("a Seed whose worker is silent takes no Shoots", async () => {
  await created("silence");
  await hearOfSeed(client, "seed-3", new Date(Date.now() - 180_000));
  await expect(move("silence", "seed-3")).rejects.toThrow(
    /Seed seed-3 is not ready: its worker was last heard of 18\d s/,
  );
  await hearOfSeed(client, "seed-3");
  expect(await refusalOf(move("silence", "seed-3"))).toBe(false);
});

test("a Seed takes no Shoot that its own selector leaves out, nor more than it can have", async () => {
  await created("choosy");
  await client.patch(ref("choosy"), { spec: { seedSelector: { providerTypes: ["*"] } } });
  await expect(client.patch(ref("choosy"), { spec: { seedSelector: { matchLabels: { a: "b" } } } })).rejects.toThrow(
    "spec.seedSelector.matchLabels: asks for label a=b, which Seed seed-1 does not have",
  );
  await client.patch(seedRef("seed-1"), { metadata: { labels: { a: "b" } } });
  await client.patch(ref("choosy"), { spec: { seedSelector: { matchLabels: { a: "b" } } } });
  const there = await shootsOn("seed-3");
  await setCapacity("seed-3", String(there));
  const refusal = await refusalOf(move("choosy", "seed-3"));
  expect(refusal).toContain("asks for label a=b, which Seed seed-3 does not have");
  expect(refusal).toContain(
    `spec.seedName: Seed seed-3 takes ${counted(there, "Shoot")} (status.allocatable) and has ${there}`,
  );
  await client.patch(seedRef("seed-3"), { metadata: { labels: { a: "b" } } });
  await setCapacity("seed-3", String(there + 1));
  await move("choosy", "seed-3");
  await setCapacity("seed-3", null);
});

test("a Shoot does not move to a Seed that does not get an extension of its own any more", async () => {
  await created("extended");
  const metadata = { name: "leaving", finalizers: ["test.example.org/stays"] };
  const resources = [{ kind: "Extension", type: "asked-for" }];
  await client.apply({
    ...typeMeta(ControllerRegistration),
    metadata,
    spec: { deployment: { type: "helm", providerConfig: { chart: "" } }, resources },
  });
  await client.patch(ref("extended"), { spec: { extensions: [{ type: "asked-for" }] } });
  await client.remove(refTo(ControllerRegistration, metadata));
  await expect(move("extended", "seed-2")).rejects.toThrow("Seed seed-2 does not have extension leaving, needed for");
  await client.patch(refTo(ControllerRegistration, metadata), { metadata: { finalizers: null } });
  await move("extended", "seed-2");
});

test("a Shoot on its way is neither moved on, changed nor deleted", async () => {
  await created("away");
  await move("away", "seed-2");
  await expect(move("away", "seed-3")).rejects.toThrow(
    "spec.seedName: the Shoot is moving from Seed seed-1 to Seed seed-2: wait until it is there, or call it back: perennial shoot migrate garden-dev/away --cancel",
  );
  await expect(client.patch(ref("away"), { spec: { purpose: "testing" } })).rejects.toThrow(
    "spec: cannot be changed while the Shoot moves to Seed seed-2",
  );
  await annotate("away", { "confirmation.gardener.cloud/deletion": "true" });
  await expect(client.remove(ref("away"))).rejects.toThrow("cannot be deleted while it moves to Seed seed-2");
});

test("a move is cancelled only by its annotation, and only until the other Seed leads", async () => {
  await created("back");
  await move("back", "seed-2");
  await expect(move("back", "seed-1")).rejects.toThrow(`set annotation ${cancel} to "true" in the same request`);
  await expect(annotate("back", { [cancel]: "true" })).rejects.toThrow("together with spec.seedName: seed-1");
  const callBack = (name: string) => move(name, "seed-1", { [cancel]: "true" });
  await callBack("back");
  expect((await read("back")).metadata.annotations?.[cancel]).toBe("true");
  await setStatus("back", {
    lastOperation: { ...movableStatus().lastOperation, type: "Restore", state: "Processing" },
  });
  await expect(annotate("back", { [cancel]: null })).rejects.toThrow("cannot be removed while the Shoot goes back");
  await setStatus("back", { lastOperation: { ...movableStatus().lastOperation, type: "Restore", state: "Succeeded" } });
  await annotate("back", { [cancel]: null });

  await created("late");
  await move("late", "seed-2");
  await flipped("late");
  await expect(callBack("late")).rejects.toThrow("is being restored on Seed seed-2, where there is only forward");
});

test("the loss of a Secret stops neither a takeover nor a cancellation, and a CloudProfile keeps its region", async () => {
  const secret = refTo(Secret, { name: "patch", namespace: "garden-dev" });
  await client.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "patch", namespace: "garden-dev" } });
  const resourceRef = { apiVersion: "v1", kind: "Secret", name: "patch" };
  for (const name of ["called", "burning"]) {
    await created(name);
    await client.patch(ref(name), { spec: { resources: [{ name: "patch", resourceRef }] } });
  }
  await move("called", "seed-2");
  await loses(secret);
  const elsewhere = client.patch(profileRef, { spec: { regions: [{ name: "elsewhere" }] } });
  await expect(elsewhere).rejects.toThrow("spec.regions: local cannot be removed");
  const resources = [{ name: "other", resourceRef: { ...resourceRef, name: "other" } }];
  await expect(client.patch(ref("burning"), { spec: { resources } })).rejects.toThrow("spec.resources[0].resourceRef");
  await move("called", "seed-1", { [cancel]: "true" });
  await move("burning", "seed-2", { [takeover]: '{"reason": "seed-1 burns"}' });
});

/** A Secret that Shoots name goes while their webhooks are not asked. */
async function loses(secret: ObjectRef): Promise<void> {
  const type = { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingWebhookConfiguration" };
  const asked: ObjectRef = { ...type, name: "perennial" };
  const { webhooks } = (await client.read(asked)) as KubeObject & { webhooks: { name: string }[] };
  await client.patch(asked, { webhooks: webhooks.filter(({ name }) => !name.startsWith("referenced-")) });
  await eventually(() => client.remove(secret).then(() => true));
  await client.patch(asked, { webhooks });
}

test("what an earlier migration left does not cancel or force the next one", async () => {
  await created("again");
  await move("again", "seed-2", { [takeover]: '{"reason": "seed-1 burnt down"}' });
  await move("again", "seed-1", { [cancel]: "true" });
  expect(Object.keys((await read("again")).metadata.annotations ?? {})).not.toContain(takeover);
  await client.patch(ref("again"), { status: { seeds: ["seed-1"] } }, { subresource: "status" });
  await move("again", "seed-2");
  expect(Object.keys((await read("again")).metadata.annotations ?? {})).not.toContain(cancel);
});

test("a takeover is signed with the name of the user who approves it, whatever the request says", async () => {
  await created("forced");
  await move("forced", "seed-2");
  await expect(annotate("forced", { [takeover]: "true" })).rejects.toThrow("has to be JSON with a reason");
  await expect(annotate("forced", { [takeover]: '{"reason": " "}' })).rejects.toThrow("has to be JSON with a reason");
  await annotate("forced", { [takeover]: '{"reason": "seed-1 burnt down", "by": "the king", "sourceIsOff": true}' });
  const approval = JSON.parse((await read("forced")).metadata.annotations?.[takeover] ?? "{}") as { at: string };
  expect(approval).toMatchObject({ reason: "seed-1 burnt down", by: "admin", sourceIsOff: true });
  expect(Date.now() - Date.parse(approval.at)).toBeLessThan(60_000);
  await expect(lab.alice.patch(ref("forced"), annotations({ [takeover]: '{"reason": "no"}' }))).rejects.toThrow(
    "may be set only by users who can update shoots/binding",
  );
});

test("a takeover is approved only while a Shoot leaves its Seed", async () => {
  const approval = { [takeover]: '{"reason": "seed-1 burnt down"}' };
  await created("calm");
  await expect(annotate("calm", approval)).rejects.toThrow("can be set only while the Shoot moves to another Seed");
  await move("calm", "seed-2");
  await flipped("calm");
  await annotate("calm", approval); // seed-1 may die before it has given its last snapshot
  await annotate("calm", { [takeover]: null });
  await flipped("calm", { takeover: true });
  await expect(annotate("calm", approval)).rejects.toThrow("can be set only while the Shoot moves to another Seed");
});

test("the annotations of a migration are judged on a Shoot that is being deleted, too", async () => {
  await created("going");
  const finalizers = ["a.b/held"];
  await client.patch(ref("going"), {
    metadata: { finalizers, annotations: { "confirmation.gardener.cloud/deletion": "true" } },
  });
  await client.remove(ref("going"));
  const approval = { [takeover]: '{"reason": "seed-1 burnt down"}' };
  await expect(annotate("going", approval)).rejects.toThrow("can be set only while the Shoot moves to another Seed");
  await expect(annotate("going", { [cancel]: "true" })).rejects.toThrow("there is nothing to call back");
  await expect(lab.alice.patch(ref("going"), annotations(approval))).rejects.toThrow(
    "may be set only by users who can update shoots/binding",
  );
  const expired = { "shoot.gardener.cloud/expiration-timestamp": "soon" };
  await expect(annotate("going", expired)).rejects.toThrow("must be a time such as");
  await client.patch(ref("going"), { metadata: { finalizers: null } });
});

test("a Shoot whose new Seed has died before it was restored there goes on to another, if that is approved", async () => {
  const approval = { [takeover]: '{"reason": "seed-2 has drowned"}' };
  await created("onwards");
  await move("onwards", "seed-2");
  await flipped("onwards");
  await expect(move("onwards", "seed-3")).rejects.toThrow(
    "is being restored on Seed seed-2, where there is only forward",
  );
  await expect(move("onwards", "seed-3", { [takeover]: "yes" })).rejects.toThrow("has to be JSON with a reason");
  await expect(
    lab.alice.patch(ref("onwards"), { ...annotations(approval), spec: { seedName: "seed-3" } }),
  ).rejects.toThrow("may be set only by users who can update shoots/binding");
  await expect(move("onwards", "seed-1", approval)).rejects.toThrow("Seed seed-1 still holds leftovers of this Shoot");
  await expect(
    client.patch(ref("onwards"), { ...annotations(approval), spec: { seedName: "seed-3", purpose: "testing" } }),
  ).rejects.toThrow("a change of seedName must be the only change");
  await move("onwards", "seed-3", approval);
  expect((await read("onwards")).spec.seedName).toBe("seed-3");
  await expect(move("onwards", "seed-1", approval)).rejects.toThrow("is moving from Seed seed-2 to Seed seed-3");
  await move("onwards", "seed-2", { [cancel]: "true" }); // should it have come up again
  expect(Object.keys((await read("onwards")).metadata.annotations ?? {})).not.toContain(takeover);
});

test("the approval for a Seed that has died does not take the Shoot to yet another", async () => {
  await created("twice");
  await move("twice", "seed-2", { [takeover]: '{"reason": "seed-1 burnt down"}' });
  await flipped("twice", { takeover: true });
  await expect(move("twice", "seed-3")).rejects.toThrow("where there is only forward");
  await move("twice", "seed-3", { [takeover]: '{"reason": "seed-2 has drowned"}' });
});

const created = (name: string, status: object = {}) => createMovableShoot(client, name, status);

async function flipped(name: string, change: object = {}): Promise<void> {
  const leadership = { ...movableStatus().leadership, seed: "seed-2", previousSeed: "seed-1", epoch: 2, ...change };
  const lastOperation = { ...movableStatus().lastOperation, type: "Restore", state: "Processing" };
  await setStatus(name, { leadership, lastOperation, seedName: "seed-2", seeds: ["seed-1", "seed-2"] });
}

function move(name: string, seedName: string, given: Record<string, string> = {}) {
  return client.patch(ref(name), { ...annotations(given), spec: { seedName } });
}

function annotate(name: string, given: Record<string, string | null>) {
  return client.patch(ref(name), annotations(given));
}

function annotations(given: Record<string, string | null>) {
  return { metadata: { annotations: given } };
}

async function read(name: string): Promise<Shoot> {
  const shoot = await client.read(ref(name));
  if (!shoot) throw new Error(`there is no Shoot ${name}`);
  return shoot;
}

/** How many Shoots are there or on their way. */
async function shootsOn(seed: string): Promise<number> {
  const shoots = await client.list(Shoot);
  return shoots.filter(({ spec, status }) => spec.seedName === seed || status?.seedName === seed).length;
}

async function setCapacity(seed: string, shoots: string | null): Promise<void> {
  await client.patch(seedRef(seed), { status: { allocatable: { shoots } } }, { subresource: "status" });
}

async function setStatus(name: string, status: object): Promise<void> {
  await client.patch(ref(name), { status }, { subresource: "status" });
}

function ref(name: string) {
  return refTo(Shoot, { name, namespace: "garden-dev" });
}

const profileRef = refTo(CloudProfile, { name: "local" });

function seedRef(name: string) {
  return refTo(Seed, { name });
}
