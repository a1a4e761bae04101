import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, afterEach, expect, test } from "vitest";
import { machineApiFolder, machineApiSocket } from "../../../src/local/machine-api/calls.ts";
import { connectMachines } from "../../../src/local/machine-api/connect.ts";
import { serveMachines } from "../../../src/local/machine-api/serve.ts";
import type { MachineStatus } from "../../../src/local/machine/machine.ts";
import type { Machines } from "../../../src/local/machine/machines.ts";
import { createLogger } from "../../../src/log.ts";

const log = createLogger({ name: "test", level: "silent" });
const network = { podCIDR: "10.0.0.0/24", clusterPodCIDR: "10.0.0.0/16", peers: [] };
const status: MachineStatus = {
  ...{ name: "one", providerID: "local:///e/one", address: "172.30.0.2", running: true },
  ...{ labels: { pool: "a" }, createdAt: "2026-01-01T00:00:00Z" },
};

let stateDir: string;
let calls: unknown[][];
let server: { stop(): Promise<void> };
let machines: Machines;

const note =
  <T>(name: string, answer: T) =>
  async (...args: unknown[]): Promise<T> => {
    calls.push([name, ...args]);
    return answer;
  };

const host: Machines = {
  ensure: note("ensure", status),
  revive: note("revive", undefined),
  kubeletLog: note("kubeletLog", "E1129 it fails"),
  list: note("list", [status]),
  remove: async (name) => {
    throw new Error(`cannot remove ${name}: processes in it do not end`);
  },
  configureNetwork: note("configureNetwork", undefined),
  addAddress: note("addAddress", undefined),
  removeAddress: note("removeAddress", undefined),
};

const serve = () => serveMachines({ machines: host, socket: machineApiSocket({ stateDir }), log });

beforeEach(async () => {
  calls = [];
  stateDir = await mkdtemp(join(tmpdir(), "perennial-machine-api-"));
  server = await serve();
  machines = connectMachines(machineApiSocket({ stateDir }));
});

afterEach(async () => {
  await server.stop();
  await rm(stateDir, { recursive: true, force: true });
});

test("every call reaches the host with its arguments, and brings back its answer", async () => {
  const spec = { name: "one", userData: { files: [], units: [] }, labels: { pool: "a" } };
  expect(await machines.ensure(spec)).toEqual(status);
  expect(await machines.list({ pool: "a" })).toEqual([status]);
  expect(await machines.kubeletLog("one")).toBe("E1129 it fails");
  expect(await machines.list()).toEqual([status]);
  expect(await machines.revive("one")).toBeUndefined();
  await machines.configureNetwork("one", network);
  await machines.addAddress("one", "172.30.128.1");
  await machines.removeAddress("one", "172.30.128.1");
  expect(calls).toEqual([
    ["ensure", spec],
    ["list", { pool: "a" }],
    ["kubeletLog", "one"],
    ["list", {}],
    ["revive", "one"],
    ["configureNetwork", "one", network],
    ["addAddress", "one", "172.30.128.1"],
    ["removeAddress", "one", "172.30.128.1"],
  ]);
});

test("what the host cannot do is said in its words", async () => {
  await expect(machines.remove("one")).rejects.toThrow("cannot remove one: processes in it do not end");
});

test("what is no call is refused", async () => {
  const other = machines as unknown as Record<string, unknown>;
  expect(Object.keys(other)).not.toContain("removeAll");
  const answer = await request("removeAll");
  expect(answer).toBe("there is no call removeAll");
});

test("a caller goes on with a server that has taken the place of one that was killed", async () => {
  await machines.list();
  await server.stop();
  await expect(machines.list()).rejects.toThrow(/nothing answers at .*machine-api\/socket/);
  await writeFile(machineApiSocket({ stateDir }), ""); // what a killed one leaves
  server = await serve();
  expect(await machines.list()).toEqual([status]);
});

test("root alone opens the folder of the socket", async () => {
  expect((await stat(machineApiFolder({ stateDir }))).mode & 0o777).toBe(0o700);
});

/** The words with which the server refuses a call. */
async function request(call: string): Promise<string> {
  const { Agent, request } = await import("undici");
  const dispatcher = new Agent({ connect: { socketPath: machineApiSocket({ stateDir }) } });
  const { body } = await request(`http://machines/${call}`, { method: "POST", body: "[]", dispatcher });
  const { message } = (await body.json()) as { message: string };
  await dispatcher.close();
  return message;
}
