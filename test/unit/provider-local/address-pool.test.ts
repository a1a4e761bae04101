import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAddressPool, type AddressPool } from "../../../src/provider-local/network/address-pool.ts";
import { loadBalancerAddresses, machineNetworkOf } from "../../../src/provider-local/network/addresses.ts";

let directory: string;
let pool: AddressPool;
const open = (count: number) =>
  createAddressPool(directory, () => Array.from({ length: count }, (_, i) => `10.0.0.${i + 1}`));

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "addresses-"));
  pool = open(20);
});
afterEach(() => rm(directory, { recursive: true }));

describe("a pool of addresses", () => {
  test("gives each owner its own, also to owners that ask at the same time through pools of their own", async () => {
    const owners = Array.from({ length: 20 }, (_, i) => `seed-${i % 2}/${i}`);
    const given = await Promise.all(owners.map((owner) => open(20).claim(owner)));
    expect(new Set(given).size).toBe(20);
    expect(await Promise.all(owners.map((owner) => pool.claim(owner)))).toEqual(given);
    await expect(pool.claim("one more")).rejects.toThrow("cannot find an address for one more: all 20 are taken");
  });

  test("gives the preferred address when it is free and in the pool", async () => {
    expect(await pool.claim("a", "10.0.0.7")).toBe("10.0.0.7");
    expect(await pool.claim("b", "10.0.0.7")).toBe("10.0.0.1");
    expect(await pool.claim("c", "192.168.0.1")).toBe("10.0.0.2");
  });

  test("gives an address to another owner only after it was given back", async () => {
    const address = await pool.claim("a");
    expect(await pool.release("a")).toBe(address);
    expect(await pool.release("a")).toBeUndefined();
    expect(await pool.claim("b")).toBe(address);
  });
});

test("machines and load balancers have a half of the environment's network each", () => {
  const environment = { network: "172.30.0.0/16" };
  expect(machineNetworkOf(environment)).toBe("172.30.0.0/17");
  const addresses = [...loadBalancerAddresses(environment)];
  expect([addresses[0], addresses.at(-1)]).toEqual(["172.30.128.1", "172.30.255.254"]);
});
