import type { PublicStateKey } from "../../src/api/core/state-key.ts";
import type { Seed, Shoot } from "../../src/api/index.ts";

/** A Seed that keeps backups and whose worker was just heard of. */
export function readySeed(name: string, now: Date = new Date()): Seed {
  const [pods, services] = name === "seed-1" ? ["10.226.0.0/16", "10.227.0.0/16"] : ["10.228.0.0/16", "10.229.0.0/16"];
  const credentialsRef = { apiVersion: "v1", kind: "Secret", name: "dns", namespace: "garden" };
  return {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "Seed",
    metadata: { name },
    spec: {
      backup: { provider: "local", region: "local" },
      provider: { type: "local", region: "local" },
      networks: { pods, services },
      dns: { internal: { type: "rfc2136", domain: "internal.perennial.test", credentialsRef } },
    },
    status: { conditions: [seedReady(now)], stateKey: seedKey(name) },
  };
}

/** The public key that a seed's worker writes. */
export const seedKey = (name: string): PublicStateKey => ({
  ...{ kid: `${name}-0`, kty: "OKP", crv: "X25519" },
  x: "4yN_G-CZTqnp3Khzv7LEAQSynDY5oyR37Z90-hGb6hA",
});

/** The condition that a seed's worker writes every half minute. */
export function seedReady(now: Date = new Date()) {
  const time = now.toISOString().replace(/\.\d+Z$/, "Z");
  return {
    type: "GardenletReady",
    status: "True" as const,
    reason: "GardenletReady",
    message: "The seed's worker is posting ready status.",
    lastTransitionTime: time,
    lastUpdateTime: time,
  };
}

/** A Shoot that has been created on seed-1 and can move. */
export function movableShoot(): Shoot {
  return {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "Shoot",
    metadata: { name: "local", namespace: "garden-dev", uid: "5f0c", generation: 1 },
    spec: {
      cloudProfile: { kind: "CloudProfile", name: "local" },
      region: "local",
      seedName: "seed-1",
      kubernetes: { version: "1.34.4" },
      networking: { type: "local", pods: "10.180.0.0/16", services: "10.190.0.0/16" },
      provider: { type: "local", workers: [] },
    },
    status: movableStatus(),
  };
}

/** The status of a Shoot that has been created on seed-1. */
export function movableStatus(): NonNullable<Shoot["status"]> {
  return {
    observedGeneration: 1,
    uid: "5f0c",
    technicalID: "shoot--dev--local",
    seedName: "seed-1",
    seeds: ["seed-1"],
    leadership: { record: "local.dev.leadership.perennial.test", seed: "seed-1", epoch: 1, leaseSeconds: 60 },
    lastOperation: {
      type: "Create",
      state: "Succeeded",
      progress: 100,
      description: "Reconcile Shoot finished",
      lastUpdateTime: "2026-11-21T10:05:00Z",
    },
  };
}
