import { describe, expect, it } from "vitest";
import type { CloudProfile, Seed, Shoot } from "../../../src/api/index.ts";
import { migrationObstacles, type MigrationFacts } from "../../../src/api/placement/migration.ts";
import { countNeighbours, placementObstacles } from "../../../src/api/placement/choice.ts";
import { bucketObstacles } from "../../../src/api/placement/fit.ts";
import { movableShoot, readySeed } from "../../support/migration-objects.ts";

const now = new Date("2026-11-21T10:10:00Z");

describe("a Seed takes a Shoot", () => {
  it.each<[string, Shoot["spec"]["seedSelector"]]>([
    ["that does not choose", undefined],
    ["that chooses it by label", { matchLabels: { env: "prod" } }],
    [
      "that chooses it by expressions",
      {
        matchExpressions: [
          { key: "env", operator: "In", values: ["dev", "prod"] },
          { key: "env", operator: "Exists" },
          { key: "tier", operator: "NotIn", values: ["gold"] },
          { key: "tier", operator: "DoesNotExist" },
        ],
      },
    ],
    ["that chooses it by its provider", { providerTypes: ["aws", "local"] }],
    ["that chooses any provider", { providerTypes: ["*"] }],
  ])("%s", (_, seedSelector) => {
    expect(placementObstacles({ shoot: shootWith({ seedSelector }), seed: seed() })).toEqual([]);
    expect(placementObstacles({ shoot: shootWith({}), seed: seed(), profile: profile(seedSelector) })).toEqual([]);
  });

  it.each<[Shoot["spec"]["seedSelector"], string, string]>([
    [{ matchLabels: { env: "dev" } }, ".matchLabels", "label env=dev"],
    [
      { matchExpressions: [{ key: "env", operator: "NotIn", values: ["prod"] }] },
      ".matchExpressions",
      "label env NotIn (prod)",
    ],
    [{ matchExpressions: [{ key: "tier", operator: "Exists" }] }, ".matchExpressions", "label tier"],
    [{ matchExpressions: [{ key: "env", operator: "DoesNotExist" }] }, ".matchExpressions", "no label env"],
    [
      { matchExpressions: [{ key: "env", operator: "Like", values: ["prod"] }] },
      ".matchExpressions",
      "label env Like (prod)",
    ],
    [{ providerTypes: ["aws", "gcp"] }, ".providerTypes", "a provider of type aws or gcp"],
  ])("but not where a selector asks for something else: %j", (seedSelector, part, wants) => {
    expect(placementObstacles({ shoot: shootWith({ seedSelector }), seed: seed() })).toEqual([
      {
        field: `spec.seedSelector${part}`,
        message: expect.stringContaining(`asks for ${wants}, which Seed seed-2 does`),
      },
    ]);
    expect(placementObstacles({ shoot: shootWith({}), seed: seed(), profile: profile(seedSelector) })).toEqual([
      {
        field: "spec.seedName",
        message: `CloudProfile local asks for ${wants} (spec.seedSelector${part}), which Seed seed-2 does not have: choose another Seed`,
      },
    ]);
  });

  it("up to as many as it says", () => {
    const shoot = shootWith({});
    expect(placementObstacles({ shoot, seed: seed({ shoots: "3" }), neighbours: 2 })).toEqual([]);
    expect(placementObstacles({ shoot, seed: seed({ shoots: "3" }), neighbours: 3 })).toEqual([
      {
        field: "spec.seedName",
        message: "Seed seed-2 takes 3 Shoots (status.allocatable) and has 3: choose another Seed",
        transient: true,
      },
    ]);
    expect(placementObstacles({ shoot, seed: seed({ shoots: 0 }), neighbours: 0 })).toHaveLength(1);
    expect(placementObstacles({ shoot, seed: seed({ shoots: "1k" }), neighbours: 999 })).toEqual([]);
    expect(placementObstacles({ shoot, seed: seed({ cpu: "4" }), neighbours: 9_999 })).toEqual([]);
  });

  it("whose access restrictions it offers", () => {
    const shoot = shootWith({ accessRestrictions: [{ name: "eu-access-only" }] });
    expect(placementObstacles({ shoot, seed: seed() })).toEqual([
      {
        field: "spec.accessRestrictions",
        message: expect.stringContaining("does not offer access restriction eu-access-only"),
      },
    ]);
    const offering = { ...seed(), spec: { ...seed().spec, accessRestrictions: [{ name: "eu-access-only" }] } };
    expect(placementObstacles({ shoot, seed: offering })).toEqual([]);
  });
});

it("a Shoot has as neighbours those that are there or on their way, but not itself", () => {
  const on = (uid: string, wanted: string, is: string): Shoot => ({
    ...movableShoot(),
    metadata: { ...movableShoot().metadata, uid },
    spec: { ...movableShoot().spec, seedName: wanted },
    status: { ...movableShoot().status, seedName: is },
  });
  const shoots = [
    on("a", "seed-2", "seed-2"),
    on("b", "seed-2", "seed-1"),
    on("c", "seed-1", "seed-2"),
    on("d", "x", "x"),
  ];
  expect(countNeighbours(shoots, "seed-2", undefined)).toBe(3);
  expect(countNeighbours(shoots, "seed-2", "b")).toBe(2);
});

describe("a bucket that is not ready", () => {
  const broken = withBucket(readySeed("seed-2", now), "False");
  const begun = withBucket(readySeed("seed-2", now), "Progressing");

  it("stands against a move at both ends, and against a takeover only where it goes", () => {
    const message = "Seed seed-2 cannot keep backups now (BackupBucketsReady is False): no such key;";
    expect(obstacles({ destination: broken })).toEqual([
      { field: "spec.seedName", message: expect.stringContaining(message), transient: true },
    ]);
    expect(obstacles({ destination: begun })).toHaveLength(1);
    const source = withBucket(readySeed("seed-1", now), "Unknown");
    expect(obstacles({ source })).toMatchObject([{ field: "status.seedName", transient: true }]);
    expect(obstacles({ source, takeover: true })).toEqual([]);
    expect(obstacles({ destination: broken, takeover: true })).toHaveLength(1);
  });

  it("is waited for by a new Shoot, unless it is broken", () => {
    expect(bucketObstacles(begun, "spec.seedName", "broken")).toEqual([]);
    expect(bucketObstacles(broken, "spec.seedName", "broken")).toHaveLength(1);
    expect(bucketObstacles(withBucket(readySeed("seed-2", now), "True"), "spec.seedName")).toEqual([]);
  });
});

it("a move asks the selectors and the capacity of where it goes", () => {
  const facts = {
    destination: seed({ shoots: "1" }),
    neighbours: 1,
    profile: profile({ matchLabels: { env: "dev" } }),
  };
  expect(obstacles(facts).map(({ message }) => message)).toEqual([
    expect.stringContaining("CloudProfile local asks for label env=dev"),
    expect.stringContaining("takes 1 Shoot "),
  ]);
});

function obstacles(change: Partial<MigrationFacts>) {
  const [source, destination] = [readySeed("seed-1", now), readySeed("seed-2", now)];
  return migrationObstacles({ shoot: movableShoot(), to: "seed-2", source, destination, now, ...change });
}

function shootWith(spec: Partial<Shoot["spec"]>): Shoot {
  return { ...movableShoot(), spec: { ...movableShoot().spec, ...spec } };
}

function seed(allocatable: Record<string, string | number> = {}): Seed {
  const found = readySeed("seed-2", now);
  return { ...found, metadata: { name: "seed-2", labels: { env: "prod" } }, status: { ...found.status, allocatable } };
}

function profile(seedSelector: CloudProfile["spec"]["seedSelector"]): CloudProfile {
  return {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "CloudProfile",
    metadata: { name: "local" },
    spec: {
      type: "local",
      kubernetes: {},
      machineImages: [],
      machineTypes: [],
      regions: [],
      ...(seedSelector && { seedSelector }),
    },
  };
}

function withBucket(found: Seed, status: "True" | "False" | "Unknown" | "Progressing"): Seed {
  const time = "2026-11-21T10:00:00Z";
  const times = { lastTransitionTime: time, lastUpdateTime: time };
  const condition = {
    type: "BackupBucketsReady",
    status,
    reason: "BackupBucketsError",
    message: "no such key",
    ...times,
  };
  return { ...found, status: { ...found.status, conditions: [...(found.status?.conditions ?? []), condition] } };
}
