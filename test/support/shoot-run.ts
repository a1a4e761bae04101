import type { ShootRun } from "../../src/api/shoot/run.ts";

/** The facts of a Shoot with one worker pool, internal and external domain. */
export function shootRun(change: Partial<ShootRun> = {}): ShootRun {
  return {
    namespace: "garden-dev",
    name: "local",
    uid: "5f0c5f5e-0000-4000-8000-000000000001",
    operation: "Create",
    generation: 1,
    technicalID: "shoot--dev--local",
    project: "dev",
    seedName: "seed-1",
    workerless: false,
    hibernated: false,
    hasCredentials: true,
    hasInternalDomain: true,
    hasExternalDomain: true,
    pools: ["worker"],
    namespaceUsable: true,
    cleanable: true,
    controlPlaneNeeded: true,
    epoch: 1,
    leaseSeconds: 60,
    dnsTtl: 120,
    hasBackup: true,
    seedDeadline: 120_000,
    retryDuration: 43_200_000,
    ...change,
  };
}
