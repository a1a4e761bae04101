import { describe, expect, it } from "vitest";
import type { CloudProfile, Seed, Shoot } from "../../../src/api/index.ts";
import { chooseSeed, type SchedulingFacts } from "../../../src/api/placement/schedule.ts";
import { movableShoot, readySeed } from "../../support/migration-objects.ts";

const now = new Date("2026-11-25T10:10:00Z");

describe("the scheduler gives a Shoot", () => {
  it("the Seed with the fewest Shoots, and of several the first by name", () => {
    expect(choose({ usage: new Map([["a", 2]]) }, seed("a"), seed("c"), seed("b"))).toBe("b");
    expect(choose({ usage: new Map([["b", 1]]) }, seed("b"), seed("a", { region: "other" }))).toBe("b");
  });

  it("a Seed in its region only, unless it is for tests or another strategy is chosen", () => {
    const elsewhere = seed("a", { region: "other" });
    expect(choose({}, elsewhere)).toEqual([
      "Seed a is in region other of provider local, not in local of local (strategy SameRegion)",
    ]);
    expect(choose({ shoot: shoot({ purpose: "testing" }) }, elsewhere)).toBe("a");
    expect(choose({ strategy: "MinimalDistance" }, elsewhere)).toBe("a");
  });

  it("the nearest Seed by the garden's distances, in which its own region is nearest", () => {
    const facts = { strategy: "MinimalDistance", distances: { far: 90, near: 10 } } as const;
    const [far, near, own] = [seed("a", { region: "far" }), seed("b", { region: "near" }), seed("c")];
    expect(choose(facts, far, near)).toBe("b");
    expect(choose(facts, far, near, own)).toBe("c");
    expect(choose({ ...facts, distances: { ...facts.distances, local: 50 } }, far, near, own)).toBe("b");
  });

  it("the Seed whose region has the likest name where distances are not known, of its own provider first", () => {
    const wanted = shoot({ region: "europe-central-1" });
    const facts = { strategy: "MinimalDistance", shoot: wanted } as const;
    const profile = profileFor({ providerTypes: ["*"] });
    const [east, us] = [seed("a", { region: "us-east-1" }), seed("b", { region: "europe-central-2" })];
    expect(choose(facts, east, us)).toBe("b");
    expect(choose({ ...facts, distances: { mars: 1 } }, east, us)).toBe("b");
    const other = seed("c", { region: "europe-central-1", type: "aws" });
    expect(choose({ ...facts, profile }, other, us)).toBe("b");
  });

  it("a Seed that prefers the zones of its workers only where no other is", () => {
    const pool = { name: "w", minimum: 1, maximum: 1, machine: { type: "local" }, zones: ["z1"] };
    const zonal = shoot({ provider: { type: "local", workers: [pool] } });
    const preferring = settings(seed("a", { zones: ["z2"] }), { zoneSelection: { mode: "Prefer" } });
    expect(choose({ shoot: zonal }, preferring, seed("b"))).toBe("b");
    expect(choose({ shoot: zonal }, preferring)).toBe("a");
    const there = settings(seed("a", { zones: ["z1"] }), { zoneSelection: { mode: "Enforce" } });
    expect(choose({ shoot: zonal }, there)).toBe("a");
  });

  it("a Seed whose suggested networks fit, where it has none of its own", () => {
    const open = shoot({ networking: { type: "local" } });
    const suggesting = (pods: string): Seed => {
      const { spec, ...rest } = seed("a");
      return {
        ...rest,
        spec: { ...spec, networks: { ...spec.networks, shootDefaults: { pods, services: "10.3.0.0/16" } } },
      };
    };
    expect(choose({ shoot: open }, suggesting("10.2.0.0/16"))).toBe("a");
    expect(choose({ shoot: open }, suggesting("10.228.0.0/24"))).toEqual([
      expect.stringContaining("10.228.0.0/24 overlaps with 10.228.0.0/16 of Seed a"),
    ]);
  });
});

describe("the scheduler does not give a Shoot a Seed", () => {
  const base = seed("a");
  const { metadata, spec } = base;
  const zonal = { highAvailability: { failureTolerance: { type: "zone" } } } as const;
  const pool = { name: "w", minimum: 1, maximum: 1, machine: { type: "local" } };
  const withWorkers = (more: object = {}): Partial<Shoot["spec"]> => ({
    provider: { type: "local", workers: [{ ...pool, ...more }] },
  });

  it.each<[string, Seed, Partial<Shoot["spec"]>, Partial<SchedulingFacts>, string]>([
    [
      "that is being deleted",
      { ...base, metadata: { ...metadata, deletionTimestamp: "x" } },
      {},
      {},
      "is being deleted",
    ],
    ["that is hidden", settings(base, { scheduling: { visible: false } }), {}, {}, "is hidden from the scheduler"],
    ["whose worker is silent", base, {}, { now: new Date("2026-11-25T10:20:00Z") }, "was last heard of 600 s ago"],
    ["whose bucket is not ready", withoutBucket(base), {}, {}, "cannot keep backups now (BackupBucketsReady is False)"],
    ["that has stopped all operations", stopped(base), {}, {}, "has stopped all operations"],
    ["of another provider", seed("a", { type: "aws" }), {}, {}, "is of provider aws, not of local"],
    ["with a taint", { ...base, spec: { ...spec, taints: [{ key: "t" }] } }, {}, {}, "has taint t"],
    ["that is full", full(base, 2), {}, { usage: new Map([["a", 2]]) }, "takes 2 Shoots"],
    ["that its selector leaves out", base, { seedSelector: { matchLabels: { x: "y" } } }, {}, "asks for label x=y"],
    [
      "that its CloudProfile leaves out",
      base,
      {},
      { profile: profileFor({ matchLabels: { x: "y" } }) },
      "CloudProfile local",
    ],
    ["without its access restriction", base, { accessRestrictions: [{ name: "eu" }] }, {}, "access restriction eu"],
    ["whose networks it shares", base, { networking: { pods: "10.228.1.0/24" } }, {}, "overlaps with 10.228.0.0/16"],
    ["that suggests no networks", base, { ...withWorkers(), networking: {} }, {}, "suggests no network for pods"],
    ["of two zones, to outlive one", seed("a", { zones: ["1", "2"] }), { controlPlane: zonal }, {}, "has 2 zones"],
    ["that is not in its zones", base, { controlPlane: { zones: ["z9"] } }, {}, "is not in zone z9"],
    [
      "that insists on workers' zones",
      settings(base, { zoneSelection: { mode: "Enforce" } }),
      withWorkers({ zones: ["z1"] }),
      {},
      "only where their workers are",
    ],
    [
      "that has another default domain",
      domains(base),
      { dns: { domain: "local.dev.b.test" } },
      {},
      "does not write records",
    ],
  ])("%s", (_, candidate, change, facts, reason) => {
    const other = settings(domains(seed("z"), "b.test"), { scheduling: { visible: false } });
    const refusals = choose({ shoot: shoot(change), ...facts }, candidate, other);
    expect(refusals).toHaveLength(2);
    expect(refusals[0]).toContain(reason);
  });
});

it("a Shoot gets the Seed that writes records in the default domain that it has chosen", () => {
  const wanted = shoot({ dns: { domain: "local.dev.b.test" } });
  expect(choose({ shoot: wanted }, domains(seed("a"), "a.test"), domains(seed("b"), "b.test"))).toBe("b");
  expect(choose({ shoot: shoot({ dns: { domain: "my.example.com" } }) }, domains(seed("a"), "a.test"))).toBe("a");
});

it("without any Seed there is nothing to say of one", () => {
  expect(choose({})).toEqual([]);
});

/** The name of the Seed that is chosen, or what is said of each. */
function choose(facts: Partial<SchedulingFacts>, ...seeds: readonly Seed[]) {
  const usage = new Map<string, number>();
  const all = {
    shoot: shoot({}),
    profile: profileFor(undefined),
    project: "dev",
    strategy: "SameRegion",
    usage,
  } as const;
  const choice = chooseSeed({ ...all, now, seeds, ...facts });
  return "seed" in choice ? choice.seed : choice.refusals;
}

function shoot(change: Partial<Shoot["spec"]>): Shoot {
  const { spec, ...rest } = movableShoot();
  return { ...rest, spec: { ...spec, seedName: undefined, ...change }, status: {} };
}

function seed(name: string, provider: Partial<Seed["spec"]["provider"]> = {}): Seed {
  const { spec, ...rest } = readySeed(name, now);
  return { ...rest, spec: { ...spec, provider: { ...spec.provider, ...provider } } };
}

const settings = (one: Seed, change: Seed["spec"]["settings"]): Seed => ({
  ...one,
  spec: { ...one.spec, settings: { ...one.spec.settings, ...change } },
});

const stopped = (one: Seed): Seed => ({
  ...one,
  metadata: {
    ...one.metadata,
    annotations: { "shoot.gardener.cloud/emergency-stop-reconciliations": "true" },
  },
});

function withoutBucket(one: Seed): Seed {
  const [ready] = one.status?.conditions ?? [];
  if (ready === undefined) throw new Error("the Seed is not ready");
  const bucket = { ...ready, type: "BackupBucketsReady", status: "False" as const, message: "no such key" };
  return { ...one, status: { ...one.status, conditions: [ready, bucket] } };
}

const full = (one: Seed, shoots: number): Seed => ({ ...one, status: { ...one.status, allocatable: { shoots } } });

function domains(one: Seed, ...names: readonly string[]): Seed {
  const credentialsRef = { name: "dns", namespace: "garden" };
  const defaults = names.map((domain) => ({ type: "rfc2136", domain, credentialsRef }));
  return { ...one, spec: { ...one.spec, dns: { ...one.spec.dns, defaults } } };
}

function profileFor(seedSelector: CloudProfile["spec"]["seedSelector"]): CloudProfile {
  const spec = { type: "local", kubernetes: {}, machineImages: [], machineTypes: [], regions: [] };
  return {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "CloudProfile",
    metadata: { name: "local" },
    spec: { ...spec, ...(seedSelector && { seedSelector }) },
  };
}
