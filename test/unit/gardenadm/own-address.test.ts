import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { chooseAddress, noteAddress, type AddressRequest } from "../../../src/gardenadm/machine/own-address.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "own-address-"));
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const TWO = { "10.0.0.5": "eth0", "192.168.7.5": "eth1" };
/** The default route leaves by eth1, and the API server at 10.0.0.1 is on the network of eth0. */
const ROUTES: Readonly<Record<string, string>> = { "192.0.2.1": "192.168.7.5", "10.0.0.1": "10.0.0.5" };

interface World {
  readonly addresses?: Readonly<Record<string, string>>;
  readonly routes?: Readonly<Record<string, string>>;
}

async function chosen(request: Omit<AddressRequest, "root"> = {}, { addresses = TWO, routes = ROUTES }: World = {}) {
  const own = Object.entries(addresses).map(([address, on]) => ({ address, on }));
  const source = async (host: string) => await Promise.resolve(routes[host]);
  return await chooseAddress({ ...request, root }, { own, source });
}

test("the cluster reaches a machine at the wanted address, else at the one towards the cluster, else at that of the default route", async () => {
  expect(await chosen({ nodeIp: "10.0.0.5" })).toBe("10.0.0.5");
  expect(await chosen({ towards: "10.0.0.1" })).toBe("10.0.0.5");
  expect(await chosen({ towards: "api.example.com" })).toBe("192.168.7.5");
  expect(await chosen()).toBe("192.168.7.5");
  expect(await chosen({}, { addresses: { "10.0.0.5": "eth0" }, routes: {} })).toBe("10.0.0.5");
});

test("what a route through the loopback or another namespace leaves from is no address for others", async () => {
  expect(await chosen({ towards: "localhost" }, { routes: { localhost: "127.0.0.1", ...ROUTES } })).toBe("192.168.7.5");
});

test.each([
  ["::1", '--node-ip is "::1", which is no IPv4 address: name one of 10.0.0.5 on eth0, 192.168.7.5 on eth1'],
  [
    "10.0.0.6",
    "--node-ip is 10.0.0.6, which no interface of this machine has: name one of 10.0.0.5 on eth0, 192.168.7.5 on eth1",
  ],
])("%s is refused in a sentence that names the machine's own", async (nodeIp, sentence) => {
  await expect(chosen({ nodeIp })).rejects.toThrow(sentence);
});

test("several addresses without a default route have to be chosen from, and none at all is refused", async () => {
  await expect(chosen({}, { routes: {} })).rejects.toThrow(
    "this machine has several addresses (10.0.0.5 on eth0, 192.168.7.5 on eth1) and no default route: say with --node-ip by which one the cluster is to reach it",
  );
  await expect(chosen({}, { addresses: {}, routes: {} })).rejects.toThrow("connect it to a network");
});

test("what was noted stays, whatever routes there are later; another one, or its loss, is said", async () => {
  await noteAddress(root, "10.0.0.5");
  expect(await readFile(join(root, "/var/lib/gardenadm/node-ip"), "utf8")).toBe("KUBELET_NODE_IP=--node-ip=10.0.0.5\n");
  expect(await chosen()).toBe("10.0.0.5");
  expect(await chosen({ nodeIp: "10.0.0.5" })).toBe("10.0.0.5");
  await expect(chosen({ nodeIp: "192.168.7.5" })).rejects.toThrow(
    "the cluster reaches this machine at 10.0.0.5, and --node-ip is 192.168.7.5: leave it out, or take the node out with 'gardenadm reset' first",
  );
  await expect(chosen({}, { addresses: { "192.168.7.5": "eth1" } })).rejects.toThrow(
    "the cluster reaches this machine at 10.0.0.5, which no interface has any more (192.168.7.5 on eth1): give it back to one",
  );
});
