import { afterAll, beforeAll, expect, test } from "vitest";
import { isReady } from "../../src/activities/waits/readiness.ts";
import { NODE_ROLE_LABEL } from "../../src/api/labels.ts";
import { resetNode } from "../../src/gardenadm/reset/reset-node.ts";
import { ConfigMap, Lease, Node, refTo, Secret } from "../../src/kube/index.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { bareWorld, difference } from "../support/bare-world.ts";
import { etcdMembers, fileOf } from "../support/cluster-world.ts";
import { eventually } from "../support/eventually.ts";
import { INIT, startGardenadmMachines, type GardenadmMachine } from "../support/gardenadm-machine.ts";
import { OPERATORS_FILES, plantOperatorsFiles, podNetworkFiles } from "../support/operators-pod-network.ts";
import { helloOn, loadHello } from "../support/hello-pod.ts";
import { rowsOf } from "../support/interruption.ts";

let ground: BareGround;
let machines: Readonly<Record<"a" | "b" | "c", GardenadmMachine>>;
/** What the machines were before they were nodes. */
let bare: Readonly<Record<"b" | "c", readonly string[]>>;

beforeAll(async () => {
  ({ ground, machines } = await startGardenadmMachines("test-reset", ["a", "b", "c"]));
  await loadHello(machines.c); // images stay
  for (const name of ["b", "c"] as const) await plantOperatorsFiles(machines[name]);
  bare = { b: await bareWorld(machines.b), c: await bareWorld(machines.c) };
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
      metadata.name.endsWith(`-${name}`) && !isWorkers(metadata) ? [metadata.name] : [],
    ),
    ...[
      ...(await client.list(Secret, { namespace: "kube-system" })),
      ...(await client.list(ConfigMap, { namespace: "kube-system" })),
    ].flatMap(({ metadata }) => (metadata.name.endsWith(`.${name}`) ? [metadata.name] : [])),
  ]);

/** What a worker was called is kept from nodes of the control plane. */
const isWorkers = ({ labels = {} }: Lease["metadata"]) => labels[NODE_ROLE_LABEL] === "worker";

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

test("a worker whose reset was killed at every row is as bare as before, and unknown to its cluster", async () => {
  const { a, c } = machines;
  await a.asAdministrator(async (client) => await helloOn(client, c));
  const kubeconfig = ((await fileOf(a, "/etc/kubernetes/admin.conf")) ?? "").replace("localhost", "a");
  await ground.machines.exec("c", ["tee", "/root/admin.conf"], { stdin: kubeconfig });
  const command = { words: ["reset", "-k", "/root/admin.conf"] };
  await killAt(c, command, ["safety", "drained", "agentStopped", "node", "machine", "leftovers"]);
  await c.succeed(command);
  expect(await nodes()).toEqual(["a"]);
  expect(await remains("c")).toEqual([]);
  expect(difference(bare.c, await bareWorld(c))).toEqual([]);
  expect(await podNetworkFiles(c)).toEqual(OPERATORS_FILES);
});

/** Ends the command in each of these rows, by a signal, and again by the loss of the machine's power. */
async function killAt(
  machine: GardenadmMachine,
  command: { readonly words: readonly string[] },
  steps: readonly string[],
): Promise<void> {
  for (const step of steps)
    for (const by of ["SIGKILL", "power cut"] as const) {
      await eventually(nodes, 120_000); // where the rest has no quorum, nothing is served
      expect(await machine.interrupt(command, { flow: resetNode.title, step }, by), `${by} in ${step}`).toBe(
        "interrupted",
      );
    }
}

test("what was a worker joins as a node of the control plane once its operator vouches for it", async () => {
  const { a, b, c } = machines;
  const { words, stdin } = await a.invite("control-plane");
  const { code, stderr } = await ground.machines.exec("c", ["gardenadm", ...words], { stdin });
  expect(code).not.toBe(0);
  const advice = /c was given to a node for role worker, .* delete Lease (\S+) in namespace kube-system/;
  const [, name = ""] = advice.exec(stderr) ?? expect.fail(stderr);
  await a.asAdministrator(async (client) => await client.remove(refTo(Lease, { namespace: "kube-system", name })));
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
  const command = { words: ["reset", "--node", "c", "--machine-is-gone"] };
  const subject = { isControlPlane: true, isHere: false, clusterGoesOn: true };
  const known = { identity: await a.identity(), etcds: await a.etcds() };
  await killAt(
    a,
    command,
    rowsOf(resetNode, subject).map(({ step }) => step),
  );
  await eventually(nodes, 120_000);
  await a.succeed(command);
  expect({ identity: await a.identity(), etcds: await a.etcds() }).toEqual(known);
  const voters = ["a", "b"].map((name) => ({ name, isLearner: false }));
  expect(await etcdMembers(a)).toEqual({ main: voters, events: voters });
  expect(await remains("c")).toEqual([]);
  await c.wipe();
  await c.succeed(await a.invite("worker"));
  expect(await nodes()).toEqual(["a", "b", "c"]);
});

test("a node of the control plane whose reset was killed at every row leaves etcd with its quorum, and a bare machine", async () => {
  const { a, b } = machines;
  await killAt(b, RESET, [...resetNode.steps.keys()]);
  await b.succeed(RESET);
  const voters = [{ name: "a", isLearner: false }];
  expect(await etcdMembers(a)).toEqual({ main: voters, events: voters });
  expect(await remains("b")).toEqual([]);
  expect(difference(bare.b, await bareWorld(b))).toEqual([]);
  expect(await podNetworkFiles(b)).toEqual(OPERATORS_FILES);
  await b.succeed(await a.invite("control-plane"));
  await a.asAdministrator(async (client) => {
    const ready = async () => (await client.list(Node)).filter(isReady).map(({ metadata }) => metadata.name);
    await eventually(async () => expect(await ready()).toEqual(["a", "b", "c"]), 60_000);
  });
});
