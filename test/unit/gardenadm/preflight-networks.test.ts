import type { NetworkInterfaceInfo } from "node:os";
import { afterEach, beforeEach, expect, test } from "vitest";
import { demandsOf, type Demands } from "../../../src/gardenadm/preflight/demands.ts";
import { preflight } from "../../../src/gardenadm/preflight/preflight.ts";
import { withChange } from "../../support/changed-shoots/case.ts";
import { exampleShoot } from "../../support/control-plane-context.ts";
import { bareRoot, type BareRoot } from "../../support/bare-root.ts";

let machine: BareRoot;

beforeEach(async () => {
  machine = await bareRoot();
});

afterEach(async () => {
  await machine.remove();
});

const address = (cidr: string): NetworkInterfaceInfo => ({
  ...{ address: cidr.split("/")[0] ?? "", netmask: "", family: "IPv4" as const, mac: "", internal: false, cidr },
});

interface Around {
  readonly interfaces?: Readonly<Record<string, string>>;
  readonly isBegun?: boolean;
}

async function faultsWith(networks: Demands["networks"], { interfaces = {}, isBegun = false }: Around = {}) {
  const named = Object.entries(interfaces).map(([name, cidr]) => [name, [address(cidr)]] as const);
  const demands = { networks, failSwapOn: true, extensions: 0 };
  const candidate = { ...machine.candidate, isBegun, demands, interfaces: Object.fromEntries(named) };
  const { faults } = await preflight(candidate, "worker");
  return faults.filter((fault) => fault.includes("addresses"));
}

const networks = { pods: "10.184.0.0/16", services: "10.185.0.0/16" };

test("ranges of their own, among them that of the machines, share addresses neither with each other nor with the machine", async () => {
  const interfaces = { lo: "127.0.0.1/8", eth0: "192.0.2.15/24" };
  expect(await faultsWith({ ...networks, nodes: "192.0.2.0/24" }, { interfaces })).toEqual([]);
});

test("an interface within a range is named with the field to change", async () => {
  expect(await faultsWith(networks, { interfaces: { eth0: "10.184.3.4/24", docker0: "10.185.0.1/16" } })).toEqual([
    "the Shoot's range for pods (10.184.0.0/16) shares addresses with interface eth0 (10.184.3.4/24) of this machine: write another range into spec.networking.pods",
    "the Shoot's range for services (10.185.0.0/16) shares addresses with interface docker0 (10.185.0.1/16) of this machine: write another range into spec.networking.services",
  ]);
});

test("a range within the network of an interface is named, and one where gardenadm has begun has its own", async () => {
  const interfaces = { eth0: "10.1.2.3/8" };
  expect(await faultsWith(networks, { interfaces })).toHaveLength(2);
  expect(await faultsWith(networks, { interfaces, isBegun: true })).toEqual([]);
});

test("ranges that share addresses with each other are named", async () => {
  expect(await faultsWith({ pods: "10.0.0.0/8", services: "10.185.0.0/16", nodes: "192.0.2.0/24" })).toEqual([
    "the Shoot's ranges for pods (10.0.0.0/8) and services (10.185.0.0/16) share addresses: change spec.networking.services",
  ]);
  expect(await faultsWith({ ...networks, nodes: "10.185.4.0/24" })).toEqual([
    "the Shoot's ranges for services (10.185.0.0/16) and nodes (10.185.4.0/24) share addresses: change spec.networking.nodes",
  ]);
});

const TABLE = [
  "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT",
  "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0",
  "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0",
  "vpn0\t0003B80A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0",
  "",
].join("\n");

test("a route into a range is named, and the one to everywhere else is not", async () => {
  await machine.write({ "/proc/net/route": TABLE });
  expect(await faultsWith(networks)).toEqual([
    "the Shoot's range for pods (10.184.0.0/16) shares addresses with a route by vpn0 (10.184.3.0/24) of this machine: write another range into spec.networking.pods",
  ]);
  expect(await faultsWith({ ...networks, pods: "192.0.2.1/32" }, { interfaces: { eth0: "192.0.2.15/24" } })).toEqual([
    "the Shoot's range for pods (192.0.2.1/32) shares addresses with interface eth0 (192.0.2.15/24), the gateway by eth0 (192.0.2.1/32) of this machine: write another range into spec.networking.pods",
  ]);
});

test("a resolver within a range is named, also one behind that of systemd", async () => {
  await machine.write({
    "/etc/resolv.conf": "nameserver 127.0.0.53\nnameserver fd00::1\n",
    "/run/systemd/resolve/resolv.conf": "# made\nnameserver 10.185.0.2\nsearch example.com\n",
  });
  expect(await faultsWith(networks)).toEqual([
    "the Shoot's range for services (10.185.0.0/16) shares addresses with the resolver (10.185.0.2/32) of this machine: write another range into spec.networking.services",
  ]);
});

test("a Shoot's demands are its own, those of its pool, and Gardener's defaults", () => {
  const shoot = withChange(exampleShoot(), {
    "spec.networking": { type: "local", services: "10.1.0.0/16" },
    "spec.kubernetes.kubelet": { failSwapOn: false },
    "spec.provider.workers[0].kubernetes": undefined,
  });
  const [pool] = shoot.spec.provider.workers ?? [];
  expect(demandsOf(shoot, pool, 2)).toEqual({
    networks: { pods: "100.96.0.0/11", services: "10.1.0.0/16", nodes: undefined },
    failSwapOn: false,
    extensions: 2,
  });
  const own = pool && { ...pool, kubernetes: { kubelet: { failSwapOn: true } } };
  expect(demandsOf(shoot, own).failSwapOn).toBe(true);
});
