import { MACHINE_POOL_HASH_LABEL } from "../../src/api/labels.ts";
import { machineNames, poolHash, type Pool } from "../../src/provider-local/worker/machines.ts";

/** The namespace in which the pools of these tests have their machines. */
export const namespace = "shoot--dev--j";

/** A worker pool with two machines, changed as told. */
export const pool = (changes: Partial<Pool> = {}): Pool => ({
  name: "small",
  machineType: "local",
  minimum: 2,
  maximum: 3,
  maxSurge: 1,
  maxUnavailable: 0,
  userDataSecretRef: { name: "osc-result-small", key: "cloud_config" },
  kubernetesVersion: "1.34.4",
  ...changes,
});

/** The first machines that are made for a pool. */
export const made = (from: Pool, count: number) =>
  machineNames(namespace, from, count).map((name) => ({ name, labels: { [MACHINE_POOL_HASH_LABEL]: poolHash(from) } }));
