import { afterAll, beforeAll, expect, test } from "vitest";
import { resetNode } from "../../src/gardenadm/reset/reset-node.ts";
import { Lease, Node, Secret } from "../../src/kube/index.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { etcdMembers, fileOf } from "../support/cluster-world.ts";
import { INIT, startGardenadmMachines, type GardenadmMachine } from "../support/gardenadm-machine.ts";
import { helloOn } from "../support/hello-pod.ts";

let ground: BareGround;
let machines: Readonly<Record<"a" | "b" | "c", GardenadmMachine>>;

beforeAll(async () => {
  ({ ground, machines } = await startGardenadmMachines("test-reset", ["a", "b", "c"]));
  await machines.a.succeed(INIT);
  await machines.c.succeed(await machines.a.invite("worker"));
});

afterAll(async () => {
  await ground.stop();
});

const RESET = { words: ["reset"] };

async function refused(machine: GardenadmMachine, ...words: readonly string[]): Promise<string> {
  const { code, stderr } = await machine.gardenadm("reset", ...words);
  expect(code, `gardenadm reset ${words.join(" ")}: ${stderr}`).not.toBe(0);
  return stderr;
}

const nodes = async () =>
  await machines.a.asAdministrator(async (client) => (await client.list(Node)).map(({ metadata }) => metadata.name));

/** What the cluster keeps by the name of a node. */
const remains = async (name: string) =>
  await machines.a.asAdministrator(async (client) => [
    ...(await client.list(Node)).flatMap(({ metadata }) => (metadata.name === name ? ["Node"] : [])),
    ...(await client.list(Lease, { namespace: "kube-system" })).flatMap(({ metadata }) =>
      metadata.name.endsWith(`-${name}`) ? [metadata.name] : [],
    ),
    ...(await client.list(Secret, { namespace: "kube-system" })).flatMap(({ metadata }) =>
      metadata.name.endsWith(`.${name}`) ? [metadata.name] : [],
    ),
  ]);

test("what is no node, or goes on without its control plane, is refused in a sentence", async () => {
  const { a, b } = machines;
  expect(await refused(a)).toContain(
    "node a is the last one of the control plane, and c would be without: reset these first",
  );
  expect(await refused(a, "--node", "c")).toContain("--node and --machine-is-gone belong together");
  expect(await refused(a, "--node", "a", "--machine-is-gone")).toContain("this machine is node a: leave out --node");
  expect((await b.succeed(RESET)).stderr).toContain("This machine is no node: there is nothing to reset.");
  expect(await nodes()).toEqual(["a", "c"]);
});

test("a worker whose reset was killed is unknown to its cluster when the same command is given again", async () => {
  const { a, c } = machines;
  await a.asAdministrator(async (client) => await helloOn(client, c));
  const kubeconfig = ((await fileOf(a, "/etc/kubernetes/admin.conf")) ?? "").replace("localhost", "a");
  await ground.machines.exec("c", ["tee", "/root/admin.conf"], { stdin: kubeconfig });
  const command = { words: ["reset", "-k", "/root/admin.conf"] };
  const row = { flow: resetNode.title, step: "safety" };
  expect(await c.interrupt(command, row, "SIGKILL")).toBe("interrupted");
  await c.succeed(command);
  expect(await nodes()).toEqual(["a"]);
  expect(await remains("c")).toEqual([]);
});

test("what was a worker joins again, as a node of the control plane", async () => {
  const { a, b, c } = machines;
  for (const machine of [b, c]) await machine.succeed(await a.invite("control-plane"));
  const voters = ["a", "b", "c"].map((name) => ({ name, isLearner: false }));
  expect(await etcdMembers(a)).toEqual({ main: voters, events: voters });
});

test("no node goes while the others have no quorum, and one whose machine is gone is taken out by another", async () => {
  const { a, b, c } = machines;
  await ground.machines.cutPower("c");
  expect(await refused(b)).toMatch(
    /cannot take member b .* out of etcd-main: of the 2 others with a vote, 1 would be at work, and 2 have to; start member c .* first/,
  );
  expect(await fileOf(b, "/etc/kubernetes/manifests/etcd-main.yaml")).toBeDefined();
  await a.succeed({ words: ["reset", "--node", "c", "--machine-is-gone"] });
  const voters = ["a", "b"].map((name) => ({ name, isLearner: false }));
  expect(await etcdMembers(a)).toEqual({ main: voters, events: voters });
  expect(await remains("c")).toEqual([]);
  await c.wipe();
  await c.succeed(await a.invite("worker"));
  expect(await nodes()).toEqual(["a", "b", "c"]);
});
