import { expect, it } from "vitest";
import { decideTask, type BastionFacts } from "../../../../src/activities/bastion/task.ts";
import type { Shoot, ShootBastion } from "../../../../src/api/index.ts";
import { movableShoot } from "../../../support/migration-objects.ts";

const shoot = movableShoot(); // led by seed-1
const bastion: ShootBastion = {
  apiVersion: "operations.gardener.cloud/v1alpha1",
  kind: "Bastion",
  metadata: { name: "b", namespace: "garden-dev", finalizers: ["gardener"] },
  spec: {
    ...{ shootRef: { name: "local" }, seedName: "seed-1", providerType: "local" },
    sshPublicKey: "a",
    ingress: [],
  },
};
const facts: BastionFacts = { bastion, shoot, seedExists: true, obstacle: undefined };
const at = (seedName: string): ShootBastion => ({ ...bastion, spec: { ...bastion.spec, seedName } });
const moving: Shoot = { ...shoot, spec: { ...shoot.spec, seedName: "seed-2" } };
const takenOver: Shoot = {
  ...moving,
  status: { ...shoot.status, seedName: "seed-2", leadership: { seed: "seed-2", epoch: 2 } } as Shoot["status"],
};
const wait = (why: unknown) => ({ is: "wait", why });
const release = (why: unknown) => ({ is: "release", why });

it.each<[string, Partial<BastionFacts>, unknown]>([
  ["made by the seed that leads its Shoot", {}, { is: "apply" }],
  ["not made without its Shoot", { shoot: undefined }, wait("its Shoot is gone")],
  ["not made for a Shoot that goes", { shoot: deleted(shoot) }, wait("its Shoot is being deleted")],
  ["not made by a seed that does not lead", { bastion: at("seed-2") }, wait("Seed seed-2 does not lead its Shoot")],
  ["not made while its Shoot moves", { shoot: moving }, wait(expect.stringContaining("moving from Seed seed-1"))],
  ["not made in a Seed that is not there", { seedExists: false }, wait("there is no Seed seed-1")],
  ["not made before its extension is ready", { obstacle: "extensions are missing" }, wait("extensions are missing")],
  ["left alone while it works and its controller is replaced", { obstacle: "away", bastion: told(2) }, null],
  ["looked after while it works", { bastion: told(2) }, { is: "apply" }],
  ["waited for where users have changed it since", { obstacle: "away", bastion: told(1) }, wait("away")],
  ["waited for where it has failed", { obstacle: "away", bastion: told(2, "False") }, wait("away")],
])("a Bastion is %s", (_, change, decision) => {
  expect(decideTask({ ...facts, ...change })).toEqual(decision);
});

const ending: BastionFacts = { ...facts, bastion: deleted(bastion) };

it.each<[string, Partial<BastionFacts>, unknown]>([
  ["is taken away by the seed that leads", {}, { is: "remove" }],
  ["is taken away where the Shoot still is, also while it moves", { shoot: moving }, { is: "remove" }],
  ["is taken away before its Shoot", { shoot: deleted(shoot) }, { is: "remove" }],
  ["goes with its Shoot", { shoot: undefined }, release("its Shoot is gone, and what it had with it")],
  ["waits for no Seed that is gone", { seedExists: false }, release("Seed seed-1 is not in the garden any more")],
  ["waits for no seed that was taken over from", { shoot: takenOver }, release("Seed seed-1 does not lead its Shoot")],
  ["waits where nothing may be done", { obstacle: "Seed seed-1 has stopped" }, wait("Seed seed-1 has stopped")],
  ["that was never held has nothing to take away", { bastion: deleted(withoutFinalizer(bastion)) }, null],
])("a Bastion that ends %s", (_, change, decision) => {
  expect(decideTask({ ...ending, ...change })).toEqual(decision);
});

/** Of generation 2, with what was said of generation `observedGeneration`. */
function told(observedGeneration: number, status: "True" | "False" = "True"): ShootBastion {
  const time = "2026-11-25T10:00:00Z";
  const said = { status, reason: "Said", message: "", lastTransitionTime: time, lastUpdateTime: time };
  const conditions = [{ type: "BastionReady", ...said }];
  return { ...bastion, metadata: { ...bastion.metadata, generation: 2 }, status: { conditions, observedGeneration } };
}

function deleted<T extends Shoot | ShootBastion>(one: T): T {
  return { ...one, metadata: { ...one.metadata, deletionTimestamp: "2026-11-25T10:00:00Z" } };
}

function withoutFinalizer(one: ShootBastion): ShootBastion {
  return { ...one, metadata: { ...one.metadata, finalizers: [] } };
}
