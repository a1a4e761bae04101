import { copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect } from "vitest";
import { stringify } from "yaml";
import { issueAuthority, issueCertificate } from "../../../src/activities/secrets/pki.ts";
import { CONTROL_PLANE_LABEL } from "../../../src/api/labels.ts";
import { nodeAgentLeaseName, serialLeaseName, type NodeRole } from "../../../src/api/names.ts";
import { enter } from "../../../src/gardenadm/join/entry.ts";
import { createNodeApprover, type NodeApprover } from "../../../src/gardenadm/node-access/approver.ts";
import { certificateState } from "../../../src/gardenadm/node-agent/certificate.ts";
import { runAgent, type AgentTiming } from "../../../src/gardenadm/node-agent/agent.ts";
import type { AgentIdentity } from "../../../src/gardenadm/machine/agent-identity.ts";
import { Lease, Node, refTo, typeMeta } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { createCtr, createSystemctl } from "../../../src/node-agent/commands.ts";
import type { MachineConfig } from "../../../src/node-agent/wanted.ts";
import { startSigner, type Signer } from "../../support/certificate-signer.ts";
import { ownClusterTest } from "../../support/cluster-test.ts";
import type { ControlPlane } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { fakeSystem, type FakeSystem } from "../../support/fake-systemctl.ts";
import { giveNodeAccess, joiningMachine, makeToken, orderMachines } from "../../support/node-access.ts";

// It kills its server.
const test = ownClusterTest({ flags: ["--enable-bootstrap-token-auth=true", "--authorization-mode=Node"] });
const namespace = "kube-system";
const log = createLogger({ name: "test", level: "silent" });
const timing: AgentTiming = { resync: 2_000, recheck: 100, credentials: 200, longestPause: 500 };

let cluster: ControlPlane;
let approver: NodeApprover;
let signer: Signer;
const running = new Set<RunningAgent>();
const folders: string[] = [];

test.beforeAll(async ({ cluster: own }) => {
  cluster = own;
  await giveNodeAccess(cluster);
  approver = createNodeApprover(cluster.client, log);
  approver.start();
  signer = startSigner(cluster);
});

test.afterEach(async () => {
  for (const agent of running) await agent.end();
});

test.afterAll(async () => {
  await Promise.all([approver.stop(), signer.stop()]);
  for (const folder of folders) await rm(folder, { recursive: true });
});

describe("the agent of a worker", () => {
  test("comes in by its token, makes the machine what the Secret says, says so, and drops the token", async () => {
    const { identity, system } = await joined("w1", "worker", unitOf("one"));
    expect(await readFile(identity.places.kubeletBootstrap, "utf8")).toContain("token:");
    expect(await system.running()).toEqual({ "a.service": "a+one" });
    expect((await stat(identity.places.kubeconfig)).mode & 0o777).toBe(0o600);
    await kubeletIn(identity);
    await eventually(async () => await isGone(identity.places.token));
    expect(await isGone(identity.places.kubeletBootstrap)).toBe(true);
  });

  test("comes in with a kubeconfig that is for root alone", async () => {
    const root = await mkdtemp(join(tmpdir(), "entry-"));
    folders.push(root);
    const { server } = cluster.client;
    const way = { server, ca: "ca" };
    const prospect = { pool: { name: "p" }, secretName: "s" };
    const token = { id: "abcdef", secret: "0123456789abcdef" };
    const entry = { cluster: way, way, client: cluster.client, prospect, role: "control-plane", token };
    const machine = { root, hostName: "cp9", addresses: ["10.0.0.9"] } as const;
    const { places } = await enter(machine, entry as never, AbortSignal.timeout(30_000));
    expect((await stat(places.kubeconfig)).mode & 0o777).toBe(0o600);
  });

  test("leaves the token to a kubelet whose certificate has run out, until that has another one", async () => {
    const { identity } = await joined("w9", "worker", unitOf("one"));
    const pem = join(identity.root, "/var/lib/kubelet/pki/current.pem");
    await mkdir(dirname(pem), { recursive: true });
    const authority = await issueAuthority("x", new Date());
    const request = { commonName: "system:node:w9", usages: ["client"] as const };
    const yearsAgo = new Date(Date.now() - 3 * 365 * 86_400_000);
    await writeFile(pem, (await issueCertificate(authority, request, yearsAgo)).certificate);
    const user = { "client-certificate": "/var/lib/kubelet/pki/current.pem" };
    await writeFile(identity.places.kubelet, kubeconfigOf(user));
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(await readFile(identity.places.kubeletBootstrap, "utf8")).toContain("token:");
    await writeFile(pem, (await issueCertificate(authority, request, new Date())).certificate);
    await eventually(
      async () => (await isGone(identity.places.token)) && (await isGone(identity.places.kubeletBootstrap)),
    );
  });

  test("takes a token off the machine that comes while it is at rest", async () => {
    const { identity } = await joined("w8", "worker", unitOf("one"), { ...timing, resync: 600_000 });
    await kubeletIn(identity);
    await rm(identity.places.token);
    await writeFile(identity.places.token, await makeToken(cluster, "worker"));
    await eventually(async () => await isGone(identity.places.token));
  });

  test("renews its Lease", async () => {
    await joined("w2", "worker", unitOf("one"));
    const lease = await cluster.client.read(Lease, { namespace, name: nodeAgentLeaseName("w2") });
    expect(lease?.spec).toMatchObject({ holderIdentity: "w2", leaseDurationSeconds: 40 });
  });

  test("takes a change over, and puts back a file that is gone", async () => {
    const { identity, system, checksum } = await joined("w3", "worker", unitOf("one"));
    await orderMachines(cluster, "worker", unitOf("two"));
    await eventually(async () => (await checksum()) !== undefined && (await system.running())["a.service"] === "a+two");
    await rm(join(identity.root, "/etc/a.service.conf"));
    await eventually(async () => !(await isGone(join(identity.root, "/etc/a.service.conf"))));
  });

  test("goes on when the API server was away, and has kept what it was", async () => {
    const { system, agent } = await joined("w4", "worker", unitOf("one"));
    await cluster.kill();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(agent.isOver()).toBe(false);
    await cluster.restart();
    await orderMachines(cluster, "worker", unitOf("after"));
    await eventually(async () => (await system.running())["a.service"] === "a+after", 40_000);
  });

  test("ends when its own unit has changed, so that it is started anew", async () => {
    const { agent } = await joined("w5", "worker", unitOf("one"));
    const own = { name: "gardener-node-agent.service", enable: true, content: "changed" };
    await orderMachines(cluster, "worker", { ...unitOf("one"), units: [...(unitOf("one").units ?? []), own] });
    await eventually(() => agent.isOver());
  });

  test("renews its certificate by itself, and ends to take it up", async () => {
    const { identity, agent } = await joined("w6", "worker", unitOf("one"));
    const first = await readFile(identity.places.kubeconfig, "utf8");
    agent.advance(0.9 * signer.lifetime);
    await eventually(() => agent.isOver());
    expect(await readFile(identity.places.kubeconfig, "utf8")).not.toBe(first);
  });

  test("that was off for longer than its certificate comes in again by a new token", async () => {
    signer.lifetime = 3_000;
    const { identity, agent, dir, system } = await joined("w7", "worker", unitOf("one"));
    await agent.end();
    await eventually(async () => (await certificateState(identity.places.kubeconfig, Date.now())) === "gone");
    signer.lifetime = 86_400_000;
    await orderMachines(cluster, "worker", unitOf("again"));
    await rm(identity.places.token);
    const again = start(identity, dir);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await system.running()).toEqual({ "a.service": "a+one" });
    await writeFile(identity.places.token, await makeToken(cluster, "worker"));
    await eventually(async () => (await system.running())["a.service"] === "a+again");
    expect(again.isOver()).toBe(false);
  });
});

describe("the agents of a control plane", () => {
  test("change one after the other, and none follows one that has failed until it is mended", async () => {
    const [a, b] = [
      await joined("c1", "control-plane", unitOf("one")),
      await joined("c2", "control-plane", unitOf("one")),
    ];
    for (const { system } of [a, b]) await system.breakUnit("a.service", true);
    await orderMachines(cluster, "control-plane", unitOf("two"));
    const holder = await eventually(holderOfTurn);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const [first, second] = holder === "c1" ? [a, b] : [b, a];
    expect(await confOf(second.identity)).toBe("+one");
    expect(await holderOfTurn()).toBe(holder);
    await second.system.breakUnit("a.service", false);
    await first.system.breakUnit("a.service", false);
    await eventually(async () => (await confOf(second.identity)) === "+two" && (await holderOfTurn()) === false);
  });

  test("do not wait for one whose Node has left the cluster", async () => {
    const key = { namespace, name: serialLeaseName("cp") };
    const { identity } = await joined("c3", "control-plane", unitOf("one"));
    await eventually(async () => (await holderOfTurn()) === false);
    const lease = await cluster.client.read(Lease, key);
    if (lease === undefined) return expect.fail("no turn was ever taken");
    await cluster.client.replace<Lease>({ ...lease, spec: { holderIdentity: "gone" } });
    await orderMachines(cluster, "control-plane", unitOf("three"));
    await eventually(async () => (await confOf(identity)) === "+three");
  });
});

interface RunningAgent {
  isOver(): boolean;
  /** Puts its clock forward by so many ms. */
  advance(ms: number): void;
  end(): Promise<void>;
}

function start(identity: AgentIdentity, dir: string, pace = timing): RunningAgent {
  const stop = new AbortController();
  const machine = {
    root: identity.root,
    systemctl: createSystemctl(join(dir, "systemctl")),
    ctr: createCtr({ program: join(dir, "ctr") }),
    ownUnit: "gardener-node-agent.service",
  };
  let [over, ahead] = [false, 0];
  const now = () => Date.now() + ahead;
  const run = runAgent({ identity, machine, log, now, timing: pace }, stop.signal).finally(() => (over = true));
  const agent = {
    isOver: () => over,
    advance: (ms: number) => void (ahead += ms),
    async end() {
      stop.abort(new Error("the test has ended"));
      running.delete(agent);
      await run;
    },
  };
  running.add(agent);
  return agent;
}

/** A machine whose agent has come in and has made it what this says. */
async function joined(node: string, role: NodeRole, spec: MachineConfig["spec"], pace = timing) {
  const secretName = await orderMachines(cluster, role, spec);
  const token = await makeToken(cluster, role);
  const { dir, identity } = await joiningMachine(cluster, { node, role, secretName, token });
  folders.push(dir);
  const system: FakeSystem = await fakeSystem(dir);
  const agent = start(identity, dir, pace);
  await cluster.client.create({
    ...typeMeta(Node),
    metadata: { name: node, labels: role === "worker" ? {} : { [CONTROL_PLANE_LABEL]: "" } },
  });
  const checksum = async () => {
    const found = await cluster.client.read(refTo(Node, { name: node }));
    return found?.metadata.annotations?.["checksum/cloud-config-data"];
  };
  await eventually(async () => (await checksum()) !== undefined);
  return { dir, identity, system, agent, checksum };
}

/** A unit that runs with this word, which a file of its own has. */
const unitOf = (word: string): MachineConfig["spec"] => ({
  files: [{ path: "/etc/a.service.conf", permissions: 0o644, content: { inline: { encoding: "", data: `+${word}` } } }],
  units: [{ name: "a.service", enable: true, content: "a", filePaths: ["/etc/a.service.conf"] }],
});

const confOf = async ({ root }: AgentIdentity): Promise<string> =>
  await readFile(join(root, "/etc/a.service.conf"), "utf8");

async function holderOfTurn(): Promise<string | false> {
  const lease = await cluster.client.read(Lease, { namespace, name: serialLeaseName("cp") });
  return lease?.spec.holderIdentity || false;
}

const isGone = async (file: string): Promise<boolean> =>
  await stat(file).then(
    () => false,
    () => true,
  );

/** Has a kubelet on the machine that has come in. */
async function kubeletIn({ places }: AgentIdentity): Promise<void> {
  await copyFile(places.kubeconfig, places.kubelet);
}

const kubeconfigOf = (user: Readonly<Record<string, string>>): string =>
  stringify({
    ...{
      apiVersion: "v1",
      kind: "Config",
      "current-context": "x",
      contexts: [{ name: "x", context: { cluster: "x", user: "x" } }],
    },
    ...{ clusters: [{ name: "x", cluster: { server: "https://localhost" } }], users: [{ name: "x", user }] },
  });
