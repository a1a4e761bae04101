import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Environment } from "../../../src/local/environment/environment.ts";
import { allocateAddress, releaseAddress } from "../../../src/local/network/address.ts";

let env: Environment;

beforeEach(async () => {
  const stateDir = await mkdtemp(join(tmpdir(), "perennial-addresses-"));
  env = { name: "t", stateDir, bridge: "b", network: "172.29.0.0/16", gateway: "172.29.0.1", domain: "t.test" };
});

afterEach(async () => await rm(env.stateDir, { recursive: true }));

test("machines that are made at once get addresses of their own, in the lower half of the network", async () => {
  const names = Array.from({ length: 100 }, (_, index) => `m${index}`);
  const addresses = await Promise.all(names.map((name) => allocateAddress(env, name)));
  expect(new Set(addresses).size).toBe(100);
  expect(addresses).not.toContain(env.gateway);
  expect(addresses.every((address) => Number(address.split(".")[2]) < 128)).toBe(true);
});

test("a machine keeps its address until it gives it back", async () => {
  const first = await allocateAddress(env, "one");
  await allocateAddress(env, "two");
  expect(await allocateAddress(env, "one")).toBe(first);
  await releaseAddress(env, "one");
  expect(await allocateAddress(env, "three")).toBe(first);
});
