import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { applyNetwork } from "../../../src/local/network/cni.ts";
import { enableForwarding, mtuOf } from "../../../src/local/network/links.ts";
import { playLinks } from "../../support/played-links.ts";

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "perennial-cni-"))));
afterEach(async () => await rm(folder, { recursive: true, force: true }));

const network = { podCIDR: "10.0.0.0/24", clusterPodCIDR: "10.0.0.0/16" };
const b = { podCIDR: "10.0.1.0/24", address: "172.30.0.3" };
const c = { podCIDR: "10.0.2.0/24", address: "172.30.0.4" };
const conflist = () => join(folder, "10-perennial.conflist");

test("a machine has a route to the pods of each peer, and none to those of one that is gone", async () => {
  const links = playLinks("172.30.0.2");
  await applyNetwork(links.run, folder, { ...network, peers: [b, c] });
  expect([...links.routes]).toEqual([
    [b.podCIDR, b.address],
    [c.podCIDR, c.address],
  ]);
  await applyNetwork(links.run, folder, { ...network, peers: [{ ...c, address: "172.30.0.9" }] });
  expect([...links.routes]).toEqual([[c.podCIDR, "172.30.0.9"]]);
});

test("what leaves the pod network bears the machine's address, and nothing else does", async () => {
  const links = playLinks("172.30.0.2");
  await applyNetwork(links.run, folder, { ...network, peers: [] });
  expect(links.rules()).toEqual(["-A PERENNIAL -s 10.0.0.0/24 ! -d 10.0.0.0/16 -j MASQUERADE"]);
});

test("the configuration of pods' links has the machine's range and the size of its packets, and is written when it changes", async () => {
  const { run } = playLinks("172.30.0.2");
  const mtu = (await mtuOf(run, "172.30.0.2")) ?? expect.fail("no link");
  await applyNetwork(run, folder, { ...network, peers: [], mtu });
  const [pods, ports] = (JSON.parse(await readFile(conflist(), "utf8")) as { plugins: object[] }).plugins;
  expect(pods).toMatchObject({ type: "ptp", mtu: 1400, ipam: { ranges: [[{ subnet: "10.0.0.0/24" }]] } });
  expect(ports).toMatchObject({ type: "portmap" });
  const { ino } = await stat(conflist());
  await applyNetwork(run, folder, { ...network, peers: [b], mtu });
  expect((await stat(conflist())).ino).toBe(ino);
  await applyNetwork(run, folder, { ...network, peers: [b] });
  expect(await readFile(conflist(), "utf8")).not.toContain("mtu");
});

test("a peer that the kernel cannot reach is told of, and keeps nothing back from pods and other peers", async () => {
  const links = playLinks("172.30.0.2", (hop) => hop !== b.address);
  await expect(applyNetwork(links.run, folder, { ...network, peers: [b, c] })).rejects.toThrow("invalid gateway");
  expect([...links.routes]).toEqual([[c.podCIDR, c.address]]);
  expect(await readFile(conflist(), "utf8")).toContain("10.0.0.0/24");
});

test("a kernel that passes no packets on is made to", async () => {
  const file = join(folder, "ip_forward");
  await writeFile(file, "0\n");
  await enableForwarding(file);
  expect(await readFile(file, "utf8")).toBe("1");
});
