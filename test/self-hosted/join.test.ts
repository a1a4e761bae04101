import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isReady } from "../../src/activities/waits/readiness.ts";
import { BOOTSTRAPPER_GROUPS } from "../../src/api/names.ts";
import { startControlPlane } from "../../src/gardenadm/init/start-control-plane.ts";
import { joinControlPlane } from "../../src/gardenadm/join/join-control-plane.ts";
import { joinWorker } from "../../src/gardenadm/join/join-worker.ts";
import { readJournal } from "../../src/in-process/journal.ts";
import {
  bootstrapTokenSecret,
  createKubeClient,
  EndpointSlice,
  generateBootstrapToken,
  isForbidden,
  isNotFound,
  Node,
  renderBootstrapToken,
  renderKubeconfig,
  Secret,
  type KubeClient,
} from "../../src/kube/index.ts";
import { reconcileSelfHosted } from "../../src/workflows/reconcile-self-hosted.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { bareWorld } from "../support/bare-world.ts";
import { etcdMembers, fetchOn, fileOf } from "../support/cluster-world.ts";
import { eventually } from "../support/eventually.ts";
import { INIT, startGardenadmMachines, type GardenadmMachine, type Invitation } from "../support/gardenadm-machine.ts";
import { addressOf as ipOf, hasSign, kubeconfigTo, leaveSign, untilServed } from "../support/disasters.ts";
import { helloOn } from "../support/hello-pod.ts";
import { findWords, hiddenWords, recordProcesses } from "../support/said-words.ts";

let ground: BareGround;
let machines: Readonly<Record<"a" | "b" | "c" | "w", GardenadmMachine>>;
/** Every token with which a machine was asked to join. */
const tokens: string[] = [];

beforeAll(async () => {
  ({ ground, machines } = await startGardenadmMachines("test-join", ["a", "b", "c", "w"]));
});

afterAll(async () => {
  await ground.stop();
});

const invite = async (role: "worker" | "control-plane"): Promise<Invitation> => {
  const invitation = await machines.a.invite(role);
  tokens.push(invitation.stdin);
  return invitation;
};

/** Gives a command that has to be refused; answers with what it says. */
async function refused(machine: GardenadmMachine, { words, stdin }: Invitation): Promise<string> {
  const { code, stderr } = await ground.machines.exec(machine.name, ["gardenadm", ...words], { stdin });
  expect(code, `gardenadm ${words.join(" ")}: ${stderr}`).not.toBe(0);
  return stderr;
}

test("an init that was killed, and cut off from power, goes on with the keys and the etcds that it has made", async () => {
  const { a } = machines;
  const made = async () => ({ ...(await a.identity()), ...(await a.etcds()) });
  expect(await a.interrupt(INIT, { flow: startControlPlane.title, step: "kubeApiServer" }, "SIGKILL")).toBe(
    "interrupted",
  );
  const first = await made();
  expect(Object.keys(first)).toEqual(expect.arrayContaining(["etcd-main", "etcd-events"]));
  expect(await a.interrupt(INIT, { flow: reconcileSelfHosted.title, step: "secrets" }, "power cut")).toBe(
    "interrupted",
  );
  const second = await made();
  expect(second).toMatchObject(first);
  await a.succeed(INIT);
  expect(await made()).toMatchObject(second);
});

test("what cannot be right is refused in a sentence, and leaves nothing on the machine", async () => {
  const { w } = machines;
  const before = await bareWorld(w);
  const { words, stdin } = await invite("worker");
  expect(await refused(w, { words, stdin: stdin.replace(".", "-") })).toContain(
    "the bootstrap token on standard input is misshapen: it has to be 6 of a-z and 0-9, a dot, and 16 of a-z and 0-9",
  );
  const misspelt = `${stdin.slice(0, 7)}${stdin.slice(7).split("").toReversed().join("")}`;
  expect(await refused(w, { words, stdin: misspelt })).toContain("does not prove that it knows bootstrap token");
  const other = words.map((word) => (word.startsWith("sha256:") ? `sha256:${"0".repeat(64)}` : word));
  expect(await refused(w, { words: other, stdin })).toContain("belongs to another cluster: its authority is sha256:");
  expect(await refused(w, { words, stdin: await expired() })).toMatch(
    /bootstrap token \w+ is not known to https:\S+: it has expired, or belongs to another cluster/,
  );
  expect(await bareWorld(w)).toEqual(before);
});

/** A token that the cluster has known, and knows no longer. */
async function expired(): Promise<string> {
  const token = generateBootstrapToken();
  const groups = [BOOTSTRAPPER_GROUPS.worker];
  const use = { description: "test", expiresAt: Date.now() + 2_000, groups, signsClusterInfo: true };
  await machines.a.asAdministrator(async (client) => {
    const { metadata } = await client.create(bootstrapTokenSecret(token, use));
    const isGone = async () =>
      expect(await client.read(Secret, { namespace: "kube-system", name: metadata.name })).toBeUndefined();
    await eventually(isGone, 60_000);
  });
  return renderBootstrapToken(token);
}

test("a worker's token makes no node of the control plane, and only a pool of workers is joined by it", async () => {
  const { w } = machines;
  const before = await bareWorld(w);
  const { words, stdin } = await invite("worker");
  expect(await refused(w, { words: [...words, "--control-plane"], stdin })).toContain(
    `step access: bootstrap token ${stdin.slice(0, 6)} is not for control-plane nodes: make one with 'gardenadm token create --control-plane --print-join-command'`,
  );
  for (const [pool, answer] of [
    ["none", "Shoot root has no pool none: name one of worker with --worker-pool-name"],
    ["control-plane", "pool control-plane is none of worker nodes: name one of worker with --worker-pool-name"],
  ] as const)
    expect(await refused(w, { words: [...words, "--worker-pool-name", pool], stdin })).toContain(answer);
  expect(await refused(w, { words: [...words, "--zone", "z"], stdin })).toContain("leave out --zone");
  expect(await bareWorld(w)).toEqual(before);
});

test("a join that was ended before it wrote anything is none for the command after it, whatever that is given", async () => {
  const { w } = machines;
  const before = await bareWorld(w);
  const { words, stdin } = await invite("worker");
  // It would never write anything: however late it is ended, there is nothing that goes on.
  const wrong = { words: [...words, "--worker-pool-name", "none"], stdin };
  for (const by of ["SIGKILL", "power cut"] as const) {
    expect(await w.interrupt(wrong, { flow: joinWorker.title, step: "trust" }, by)).toBe("interrupted");
    expect(await refused(w, wrong)).toContain("has no pool none");
    expect(await bareWorld(w), by).toEqual(before);
  }
});

test("a worker joins, also when it was killed on the way, and runs a pod that other machines reach", async () => {
  const { a, w } = machines;
  const invitation = await invite("worker");
  const row = { flow: joinWorker.title, step: "nodeAgent" };
  expect(await w.interrupt(invitation, row, "SIGKILL")).toBe("interrupted");
  await listed(w, async () => await w.succeed(invitation));
  const address = await a.asAdministrator(async (client) => {
    expect(isReady((await client.read(Node, { name: "w" })) ?? expect.fail("there is no Node w"))).toBe(true);
    return await helloOn(client, w);
  });
  for (const machine of [a, w])
    await eventually(async () => expect(await fetchOn(machine, `http://${address}:8080/`)).toContain("hello"), 60_000);
});

test("nothing that a worker has, nor the token it came by, reads a Secret of the control plane", async () => {
  const { a, w } = machines;
  const { stdin: token } = await invite("worker");
  const kubeconfig = (await fileOf(w, AGENT)) ?? expect.fail("the agent has no kubeconfig");
  const [, server = ""] = /server: (\S+)/.exec(kubeconfig) ?? [];
  const ca = (await fileOf(w, "/var/lib/gardener-node-agent/cluster-ca.crt")) ?? expect.fail("no authority");
  const kubelet = await kubeletKubeconfig(w);
  const secrets = await a.asAdministrator(async (client) => await client.list(Secret));
  expect(secrets.length).toBeGreaterThan(10);
  const address = await addressOf(a);
  const callers = { token: renderKubeconfig({ server, ca, token }), agent: kubeconfig, kubelet };
  for (const [caller, text] of Object.entries(callers)) {
    const client = createKubeClient({ kubeconfig: text.replace(server, address) }, { userAgent: "test" });
    const own = secrets.flatMap(({ metadata: { name } }) => (isOfWorkers(name) ? [`kube-system/${name}`] : []));
    try {
      const read = await readable(client, secrets);
      expect(read, `what the ${caller} reads`).toEqual(caller === "kubelet" ? [] : own);
    } finally {
      await client.close();
    }
  }
});

const AGENT = "/var/lib/gardener-node-agent/credentials/kubeconfig";

/** The Secret that says what machines of pool worker are to be. */
const isOfWorkers = (name: string): boolean => name.startsWith("gardener-node-agent-worker-");

/** Certificate and key are in a file beside a kubelet's kubeconfig. */
async function kubeletKubeconfig(machine: GardenadmMachine): Promise<string> {
  const text = (await fileOf(machine, "/var/lib/kubelet/kubeconfig-real")) ?? expect.fail("the kubelet has none");
  const pem = await ground.inMachine(machine.name, "cat", "/var/lib/kubelet/pki/kubelet-client-current.pem");
  const data = Buffer.from(`${pem}\n`).toString("base64");
  return text
    .replace(/client-certificate: \S+/, `client-certificate-data: ${data}`)
    .replace(/client-key: \S+/, `client-key-data: ${data}`);
}

async function addressOf({ name }: GardenadmMachine): Promise<string> {
  const found = (await ground.machines.list()).find((each) => each.name === name) ?? expect.fail(`${name} is gone`);
  return `https://${found.address}`;
}

/** The Secrets that a client reads one by one; it may list none. */
async function readable(client: KubeClient, secrets: readonly Secret[]): Promise<string[]> {
  const listing = client.list(Secret, { namespace: "kube-system" });
  await expect(listing).rejects.toSatisfy(isForbidden);
  const found: string[] = [];
  for (const { metadata } of secrets) {
    const { name, namespace = "" } = metadata;
    try {
      if ((await client.read(Secret, { namespace, name })) !== undefined) found.push(`${namespace}/${name}`);
    } catch (error) {
      if (!isForbidden(error) && !isNotFound(error)) throw error;
    }
  }
  return found;
}

test("nodes of the control plane join one after the other, also one that was killed on the way, and all have their say", async () => {
  const { a, b, c } = machines;
  const server = await apiServerOf(a);
  const invitation = await invite("control-plane");
  for (const step of ["certificates", "synced", "staticPods"]) {
    const row = { flow: joinControlPlane.title, step };
    expect(await b.interrupt(invitation, row, "SIGKILL"), step).toBe("interrupted");
  }
  const other = await invite("control-plane");
  const said = listed(b, async () => await Promise.all([b.succeed(invitation), c.succeed(other)]));
  for (const { stderr } of await said)
    expect(stderr).toContain("\nNext: export KUBECONFIG=/etc/kubernetes/admin.conf; kubectl get nodes");
  const [first, second] = (await Promise.all([turnOf(b), turnOf(c)])).toSorted((one, next) => one.from - next.from);
  expect(first?.to).toBeLessThan(second?.from ?? 0);
  const voters = ["a", "b", "c"].map((name) => ({ name, isLearner: false }));
  for (const machine of [a, b, c]) expect(await etcdMembers(machine)).toEqual({ main: voters, events: voters });
  for (const machine of [a, b, c])
    await machine.asAdministrator(async (client) => {
      const nodes = await client.list(Node);
      expect(nodes.filter(isReady).map(({ metadata }) => metadata.name)).toEqual(["a", "b", "c", "w"]);
      await eventually(async () => expect(await addressesOfService(client)).toHaveLength(3), 60_000);
    });
  await a.succeed(INIT);
  expect(await apiServerOf(a), "the process of the first API server, which nothing has changed").toBe(server);
});

test("a machine of three whose power is cut is not missed, and takes its place again by itself", async () => {
  const { a, b, c } = machines;
  const [kubeconfig, members] = [await kubeconfigTo(a), await c.etcds()];
  await ground.machines.cutPower("c");
  const others = await Promise.all([a, b].map(ipOf));
  expect(await untilServed(kubeconfig, others)).toBeLessThan(10);
  await a.asAdministrator(async (client) => await leaveSign(client, "while-c-was-off"));
  await ground.machines.on("c");
  await untilServed(kubeconfig, [await ipOf(c)]);
  await c.asAdministrator(async (client) => {
    await eventually(async () => expect(await hasSign(client, "while-c-was-off")).toBe(true));
    const isBack = async () => isReady((await client.read(Node, { name: "c" })) ?? expect.fail("there is no Node c"));
    await eventually(isBack, 60_000);
  });
  expect(await c.etcds()).toEqual(members);
});

const apiServerOf = async ({ name }: GardenadmMachine) => await ground.inMachine(name, "pgrep", "kube-apiserver");

/** From when to when the last command on this machine had the right to change the control plane; in ms. */
async function turnOf(machine: GardenadmMachine): Promise<{ readonly from: number; readonly to: number }> {
  const entries = await readJournal(join(await machine.root(), "/var/lib/gardenadm/journal"));
  const at = (step: string, state: string) =>
    Date.parse(entries.findLast((entry) => entry.step === step && entry.state === state)?.time ?? "");
  return { from: at("turn", "done"), to: at("accessOver", "running") };
}

async function addressesOfService(client: KubeClient): Promise<string[]> {
  const labelSelector = "kubernetes.io/service-name=kubernetes";
  const slices = await client.list(EndpointSlice, { namespace: "default", labelSelector });
  return slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses));
}

/** What process lists have shown, by machine, while machines joined. */
const processes: Record<string, string> = {};

async function listed<T>(machine: GardenadmMachine, work: () => Promise<T>): Promise<T> {
  const record = recordProcesses(machine);
  await delay(500);
  try {
    return await work();
  } finally {
    processes[machine.name] = await record.stop();
  }
}

test("no journal, no log and no process list shows a token or a key", async () => {
  const { a } = machines;
  const secrets = await a.asAdministrator(async (client) => await client.list(Secret));
  const hidden = [...tokens.map((token) => token.slice(7)), ...secrets.flatMap(hiddenWords)];
  expect(hidden.length).toBeGreaterThan(20);
  for (const machine of Object.values(machines)) expect(await findWords(machine, hidden), machine.name).toEqual([]);
  expect(Object.keys(processes).sort()).toEqual(["b", "w"]);
  for (const text of Object.values(processes)) {
    expect(text).toMatch(/gardenadm\/main\.[jt]s join/);
    expect(hidden.filter((word) => text.includes(word))).toEqual([]);
  }
});
