import { down } from "../../src/local/environment/down.ts";

/** The name of the environment of the tests with Cluster API; one that PERENNIAL_E2E names is kept from run to run. */
export const clusterApiEnvironment = process.env["PERENNIAL_E2E"] ?? "capi-test";

const kept = process.env["PERENNIAL_E2E"] !== undefined;

/** Takes down what an interrupted run left of the environment; the first test that needs it brings it up. */
export async function setup(): Promise<void> {
  if (!kept) await down({ name: clusterApiEnvironment });
}

/** Leaves nothing of the environment behind, however the tests ended. */
export async function teardown(): Promise<void> {
  if (!kept) await down({ name: clusterApiEnvironment });
}
