import { describe, expect, test } from "vitest";
import type { BackupBucket, Seed } from "../../../../src/api/index.ts";
import { grantsOf } from "../../../../src/controllers/seed-access/grants.ts";
import type { KnownShoot } from "../../../../src/controllers/seed-access/known-shoot.ts";
import type { Grant } from "../../../../src/controllers/seed-access/objects.ts";
import type { World } from "../../../../src/controllers/seed-access/world.ts";

const core = "core.gardener.cloud/v1beta1";
const seedNames = ["a", "b", "c", "d"];

const seed = (name: string): Seed =>
  ({
    ...{ apiVersion: core, kind: "Seed", metadata: { name, uid: `uid-${name}` } },
    spec: { dns: {}, backup: { provider: "aws", credentialsRef: { name: `credentials-${name}` } } },
  }) as unknown as Seed;

/**
 * The bucket of a Seed outlives it; that of Seed `gone`, which is no more, is still there. What the others say of their
 * credentials does not count.
 */
const bucket = (name: string): BackupBucket => ({
  ...{ apiVersion: core, kind: "BackupBucket", metadata: { name: `uid-${name}` } },
  spec: {
    seedName: name,
    provider: { type: "aws", region: "r" },
    credentialsRef: { name: name === "gone" ? "credentials-gone" : "credentials-of-another" },
  },
  status: { generatedSecretRef: { name: "credentials-of-another", namespace: "garden" } },
});

interface Where {
  readonly to: string;
  readonly leader?: string;
  readonly previousSeed?: string;
  readonly seeds?: readonly string[];
  readonly operation?: readonly [type: string, state: string];
  readonly takeover?: boolean;
  readonly leaving?: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

function shoot({ to, leader, operation, seeds = [], annotations = {}, ...leadership }: Where): KnownShoot {
  const [type, state] = operation ?? ["Reconcile", "Succeeded"];
  return {
    ...{ apiVersion: core, kind: "Shoot", metadata: { name: "s", namespace: "garden-dev", uid: "1", annotations } },
    spec: { seedName: to },
    status: leader && {
      ...{ technicalID: "shoot--dev--s", seedName: leader, seeds: [...seeds] },
      leadership: { record: "r", seed: leader, epoch: 3, leaseSeconds: 60, ...leadership },
      lastOperation: { type, state, progress: 0, description: "", lastUpdateTime: "2026-01-01T10:00:00Z" },
    },
  } as KnownShoot;
}

function world(...shoots: readonly KnownShoot[]): World {
  return {
    shoots: new Map(shoots.map((one) => [`shoot.${one.metadata.uid}`, one])),
    seeds: new Map(seedNames.map((name) => [`seed.${name}`, seed(name)])),
    buckets: new Map([...seedNames, "gone"].map((name) => [`backupbucket.${name}`, bucket(name)])),
    entries: new Map(),
    installations: new Map(),
    bastions: new Map(),
    credentialsOf: () => undefined,
    chartSecretsOf: () => [],
  };
}

const namesIn = (grants: readonly Grant[], resource: string): string[] =>
  grants
    .flatMap(({ rights }) => rights.flatMap(({ rules }) => rules))
    .filter(({ resources }) => resources.includes(resource))
    .flatMap(({ resourceNames = [] }) => resourceNames);

/** The Seeds of which this one reads the buckets. */
const bucketsFor = (name: string, where: Where): string[] => {
  const grants = grantsOf(world(shoot(where)), `seed.${name}`);
  const buckets = namesIn(grants, "backupbuckets").map((one) => one.replace("uid-", ""));
  const others = [...new Set(buckets)].filter((one) => one !== name).sort();
  const credentials = namesIn(grants, "secrets").filter((one) => one.startsWith("credentials-"));
  expect(credentials.map((one) => one.replace("credentials-", "")).sort()).toEqual([name, ...others].sort());
  return others;
};

const approved = { "perennial.dev/force-takeover": JSON.stringify({ reason: "it is dead" }) };

describe("the buckets that a Seed reads for a Shoot that comes to it", () => {
  test.each<readonly [string, Where, string[]]>([
    ["the source's, before a planned move's change of leader", { to: "b", leader: "a", seeds: ["a", "b", "d"] }, ["a"]],
    [
      "the source's, after it",
      { to: "b", leader: "b", previousSeed: "a", seeds: ["a", "b", "d"], operation: ["Restore", "Processing"] },
      ["a"],
    ],
    [
      "none once it has arrived",
      { to: "b", leader: "b", previousSeed: "a", seeds: ["a", "b"], operation: ["Restore", "Succeeded"] },
      [],
    ],
    ["none of a Shoot that stays", { to: "b", leader: "b", seeds: ["a", "b"] }, []],
    ["none before its first Seed", { to: "b" }, []],
    [
      "in a takeover those of all that have led since it was whole, also of a Seed that is gone",
      {
        to: "b",
        leader: "c",
        previousSeed: "a",
        seeds: ["a", "b", "c", "gone"],
        operation: ["Migrate", "Error"],
        annotations: approved,
      },
      ["a", "c", "gone"],
    ],
    [
      "the same after the change of leader",
      {
        to: "b",
        leader: "b",
        previousSeed: "c",
        takeover: true,
        seeds: ["a", "b", "c"],
        operation: ["Restore", "Error"],
      },
      ["a", "c"],
    ],
    [
      "the one that it came from, when it is called back in the middle of a Restore",
      {
        ...{
          to: "b",
          leader: "b",
          previousSeed: "a",
          seeds: ["a", "b", "c"],
          operation: ["Restore", "Processing"],
          leaving: 3,
        },
        annotations: { "perennial.dev/cancel-migration": "true" },
      },
      ["a", "c"],
    ],
    ["none of a Shoot that is being deleted", { to: "b", leader: "a", operation: ["Delete", "Processing"] }, []],
  ])("%s", (_, where, expected) => {
    expect(bucketsFor("b", where)).toEqual(expected);
  });

  test("no other Seed reads them", () => {
    expect(bucketsFor("c", { to: "b", leader: "a", seeds: ["a", "b", "c"] })).toEqual([]);
  });
});

test("a Seed to which a Shoot moves writes nothing of it before it leads", () => {
  const grants = grantsOf(world(shoot({ to: "b", leader: "a", seeds: ["a", "b"] })), "shoot.1");
  const held = grants.filter(({ seeds }) => seeds.includes("b"));
  expect(held.map(({ name }) => name)).toEqual(["coming-shoot:garden-dev:s"]);
  const verbs = held.flatMap(({ rights }) => rights.flatMap(({ rules }) => rules.flatMap((rule) => rule.verbs)));
  expect(new Set(verbs)).toEqual(new Set(["get"]));
});

describe("the epoch that a Seed may write of a Shoot", () => {
  const epochsOf = (where: Where) => {
    const grants = grantsOf(world(shoot(where)), "shoot.1");
    return grants.flatMap((grant) => namesIn([grant], "epochs").map((name) => [...grant.seeds, name]));
  };
  const moving: Where = { to: "b", leader: "a", seeds: ["a", "b"] };

  test.each<readonly [string, Where, string[][]]>([
    ["is the leader's, before and while the Shoot leaves", moving, [["a", "s.1.3.a"]]],
    [
      "is, for the source of a planned move, that in which it has led",
      { ...moving, leader: "b", previousSeed: "a", operation: ["Restore", "Processing"] },
      [
        ["a", "s.1.2.a"],
        ["b", "s.1.3.b"],
      ],
    ],
    [
      "is none for a Seed that was taken over from",
      { ...moving, leader: "b", previousSeed: "a", takeover: true, operation: ["Restore", "Processing"] },
      [["b", "s.1.3.b"]],
    ],
  ])("%s", (_, where, expected) => {
    expect(epochsOf(where)).toEqual(expected);
  });
});
