import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { DNSRecord } from "../../src/api/index.ts";
import { Deployment, Lease, Node, refOf, refTo } from "../../src/kube/index.ts";
import { findSet } from "../../src/local/bare/set.ts";
import { queryRecords } from "../../src/provider-local/dns/name-server.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { fileOf } from "../support/cluster-world.ts";
import { addressOf, configurationOf, giveKept } from "../support/disasters.ts";
import { eventually } from "../support/eventually.ts";
import { startFlagWebhook } from "../support/flag-webhook.ts";
import { apiRecord, askNameServer } from "../support/exposed-by-dns.ts";
import { INIT, startGardenadmMachines, type GardenadmMachine } from "../support/gardenadm-machine.ts";
import type { TestNameServer } from "../support/name-server.ts";

/** A control plane that the DNS leads to, and whose machines ask a real name server. */
const SET = "test-exposure";
let ground: BareGround;
let machines: Readonly<Record<"a" | "b" | "w", GardenadmMachine>>;
let names: TestNameServer;

beforeAll(async () => {
  ({ ground, machines } = await startGardenadmMachines(SET, ["a", "b", "w"]));
  names = await askNameServer(SET, ground, machines.a);
  await machines.a.succeed(INIT);
});

afterAll(async () => {
  await names.stop();
  await ground.stop();
});

test("the DNS leads to the first node, and an administrator elsewhere by it", async () => {
  expect(await addresses()).toEqual([await addressOf(machines.a)]);
  expect(await fileOf(machines.a, "/etc/kubernetes/admin-exposed.conf")).toContain(
    `server: https://${apiRecord.name}\n`,
  );
});

test("a node that joins is led to, and a worker finds API servers by their name alone", async () => {
  await machines.b.succeed(await machines.a.invite("control-plane"));
  const both = [await addressOf(machines.a), await addressOf(machines.b)].toSorted();
  expect(await addresses()).toEqual(both);
  const invitation = await machines.a.invite("worker");
  expect(invitation.words).toContain(`https://${apiRecord.name}`);
  await machines.w.succeed(invitation);
  expect(await fileOf(machines.w, "/etc/hosts")).not.toContain("# API server");
  for (const name of ["a", "b"] as const)
    expect(await fileOf(machines[name], "/etc/hosts")).toContain(`127.0.0.1 ${apiRecord.name} # API server`);
});

test("status tells the members on a node of the control plane, and a worker what it is", async () => {
  const { stdout } = await machines.b.succeed({ words: ["status", "-o", "json"] });
  const member = (name: string): unknown => expect.objectContaining({ name, answers: true, lag: expect.any(Number) });
  expect(JSON.parse(stdout)).toMatchObject({
    role: "control-plane",
    etcds: ["etcd-main", "etcd-events"].map((name) => ({ name, members: [member("a"), member("b")] })),
    next: [],
  });
  const ofWorker = await machines.w.succeed({ words: ["status", "-o", "json"] });
  expect(JSON.parse(ofWorker.stdout)).toMatchObject({ role: "worker", apiServer: { ready: true }, next: [] });
});

test("a flag that is changed in the cluster reaches the static pods of all nodes, without any command", async () => {
  const value = ["--max-requests-inflight=555"];
  await machines.a.asAdministrator(async (client) => {
    const apiServer = refTo(Deployment, { namespace: "kube-system", name: "kube-apiserver" });
    await client.patch(apiServer, [{ op: "add", path: "/spec/template/spec/containers/0/args", value }]);
  });
  await haveFlag(value[0] ?? "");
  await eventually(async () => {
    for (const name of ["a", "b"] as const) expect((await machines[name].gardenadm("status")).code).toBe(0);
  }, 120_000);
});

/** The API servers of both nodes run with this flag, sooner or later. */
async function haveFlag(flag: string): Promise<void> {
  const running = "tr '\\0' ' ' < /proc/$(pgrep -x kube-apiserver)/cmdline";
  await eventually(async () => {
    for (const name of ["a", "b"]) expect(await ground.inMachine(name, "sh", "-c", running)).toContain(flag);
  }, 180_000);
}

test("a flag that a webhook adds has its place in the static pods of all nodes, and init leaves it there", async () => {
  const { gateway = expect.fail("the set is gone") } = (await findSet(SET)) ?? {};
  const webhook = await startFlagWebhook(gateway, "--max-mutating-requests-inflight=222");
  onTestFinished(webhook.stop);
  await machines.a.asAdministrator(async (client) => await client.create(webhook.object));
  const flagged = async () => await haveFlag("--max-mutating-requests-inflight=222");
  await machines.a.succeed(INIT);
  await flagged();
  await machines.a.succeed(INIT);
  await flagged();
  await machines.a.asAdministrator(async (client) => await client.remove(refOf(webhook.object)));
});

test("a node that goes is led to no more", async () => {
  await machines.b.succeed({ words: ["reset"] });
  expect(await addresses()).toEqual([await addressOf(machines.a)]);
  await machines.a.asAdministrator(async (client) => {
    expect((await client.list(Node)).map(({ metadata }) => metadata.name)).toEqual(["a", "w"]);
  });
});

test("after a restore, the DNS leads to what is left alone, and a worker that looks it up goes on by itself", async () => {
  const { a, b } = machines;
  await b.succeed(await a.invite("control-plane"));
  expect(await addresses()).toEqual([await addressOf(a), await addressOf(b)].toSorted());
  await giveKept(b, await configurationOf(a));
  await ground.machines.cutPower("a");
  const since = Date.now();
  await b.succeed({ words: ["restore", "-d", "/root/config", "--from", "member", "--yes-quorum-is-lost"] });
  expect(await addresses()).toEqual([await addressOf(b)]);
  await b.asAdministrator(async (client) => {
    expect((await client.list(Node)).map(({ metadata }) => metadata.name)).toEqual(["b", "w"]);
    const record = await client.read(DNSRecord, { namespace: "kube-system", name: "root-external" });
    expect(record?.spec.values).toEqual([await addressOf(b)]);
    const renewed = async () =>
      (await client.read(Lease, { namespace: "kube-node-lease", name: "w" }))?.spec.renewTime ?? "";
    await eventually(async () => expect(Date.parse(await renewed())).toBeGreaterThan(since), 180_000);
  });
});

const addresses = async () => await queryRecords(names.server, apiRecord);
