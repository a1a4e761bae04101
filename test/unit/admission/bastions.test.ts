import { expect, it } from "vitest";
import { createBastionDefaulter } from "../../../src/admission/bastion.ts";
import { seedBindingCauses } from "../../../src/admission/shoot/binding.ts";
import { endOf } from "../../../src/controllers/bastion.ts";
import type { Shoot, ShootBastion } from "../../../src/api/index.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { movableShoot, readySeed } from "../../support/migration-objects.ts";

const now = new Date("2026-11-25T10:00:00Z");

it("a Shoot with Bastions does not move, unless it is taken over", async () => {
  const old = movableShoot();
  const shoot: Shoot = { ...old, spec: { ...old.spec, seedName: "seed-2" } };
  const seeds = { source: readySeed("seed-1", now), seed: readySeed("seed-2", now) };
  const change = { shoot, old, ...seeds, bastions: ["b"], now };
  const yes = () => Promise.resolve(true);
  expect(await seedBindingCauses(change, yes)).toEqual([
    { field: "spec.seedName", message: "the Shoot has Bastion b: delete it first", forbidden: true },
  ]);
  expect(await seedBindingCauses({ ...change, bastions: [] }, yes)).toEqual([]);
  const annotations = { "perennial.dev/force-takeover": '{"reason":"burnt"}' };
  const takeover = { ...shoot, metadata: { ...shoot.metadata, annotations } };
  expect(await seedBindingCauses({ ...change, shoot: takeover }, yes)).toEqual([]);
});

const bastion: ShootBastion = {
  apiVersion: "operations.gardener.cloud/v1alpha1",
  kind: "Bastion",
  metadata: { name: "b", namespace: "garden-dev", creationTimestamp: "2026-11-25T08:00:00Z" },
  spec: { shootRef: { name: "local" }, seedName: "seed-1", sshPublicKey: "ssh-rsa A", ingress: [] },
  status: { expirationTimestamp: "2026-11-25T11:00:00Z" },
};
const shoot = movableShoot();
const at = (time: string) => Date.parse(time);

it.each<[string, Shoot | undefined, ShootBastion, string, string | undefined]>([
  ["while it is needed", shoot, bastion, "2026-11-25T10:59:59Z", undefined],
  ["when its time is over", shoot, bastion, "2026-11-25T11:00:01Z", "it has expired"],
  ["not while it is asked to stay", shoot, asked(bastion), "2026-11-25T11:00:01Z", undefined],
  ["after a day, whoever asks", shoot, asked(bastion), "2026-11-26T08:00:01Z", "it is a day old"],
  ["with its Shoot", undefined, bastion, "2026-11-25T10:00:00Z", "its Shoot is gone"],
  ["when its Shoot goes", deleted(shoot), bastion, "2026-11-25T10:00:00Z", "its Shoot is being deleted"],
  [
    "when its Shoot's machines are closed",
    closed(shoot),
    bastion,
    "2026-11-25T10:00:00Z",
    "its Shoot's machines serve no SSH",
  ],
  [
    "when its Shoot moves",
    { ...shoot, spec: { ...shoot.spec, seedName: "b" } },
    bastion,
    "2026-11-25T10:00:00Z",
    "its Shoot moves to another Seed",
  ],
])("a Bastion ends %s", (_, its, one, time, reason) => {
  expect(endOf(one, its, at(time))).toBe(reason);
});

it("a Bastion stays with the seed that makes it, although its Shoot goes to another", async () => {
  const moved: Shoot = { ...shoot, spec: { ...shoot.spec, seedName: "seed-2" } };
  const client = { read: async () => Promise.resolve(moved) } as unknown as KubeClient;
  const operations = { group: "operations.gardener.cloud", version: "v1alpha1", kind: "Bastion" };
  const request = { uid: "u", kind: operations, userInfo: { username: "me" }, object: bastion };
  const seedAfter = async (operation: "CREATE" | "UPDATE", oldObject?: ShootBastion) => {
    const verdict = await createBastionDefaulter({ client })({
      ...request,
      operation,
      ...(oldObject && { oldObject }),
    });
    const patch = verdict.allowed ? (verdict.patch ?? []) : [];
    return patch.flatMap((one) => ("value" in one && one.path === "/spec" ? [one.value] : []));
  };
  expect(await seedAfter("UPDATE", bastion)).toMatchObject([{ seedName: "seed-1" }]);
  expect(await seedAfter("CREATE")).toMatchObject([{ seedName: "seed-2" }]);
});

function asked(one: ShootBastion): ShootBastion {
  return { ...one, metadata: { ...one.metadata, annotations: { "gardener.cloud/operation": "keepalive" } } };
}

function closed(one: Shoot): Shoot {
  const provider = { ...one.spec.provider, workersSettings: { sshAccess: { enabled: false } } };
  return { ...one, spec: { ...one.spec, provider } };
}

function deleted(one: Shoot): Shoot {
  return { ...one, metadata: { ...one.metadata, deletionTimestamp: "2026-11-25T10:00:00Z" } };
}
