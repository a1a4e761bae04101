import { down } from "../../src/local/environment/down.ts";
import { environmentName } from "./local-environment.ts";
import { unwatchUplink } from "./uplink-watch.ts";

const kept = process.env["PERENNIAL_E2E"] !== undefined;

/** Takes down what an interrupted run left of the e2e tests' environment; the first test that needs it brings it up. */
export async function setup(): Promise<void> {
  await unwatchUplink({ name: environmentName });
  if (!kept) await down({ name: environmentName });
}

/** Leaves nothing of the environment behind, however the tests ended. */
export async function teardown(): Promise<void> {
  if (!kept) await down({ name: environmentName });
}
