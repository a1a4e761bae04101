import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isReady } from "../../src/activities/waits/readiness.ts";
import { startControlPlane } from "../../src/gardenadm/init/start-control-plane.ts";
import { Cluster, Shoot } from "../../src/api/index.ts";
import { ConfigMap, Node, Pod, refOf, refTo, Secret, typeMeta } from "../../src/kube/index.ts";
import { readJournal } from "../../src/in-process/journal.ts";
import { reconcileSelfHosted } from "../../src/workflows/reconcile-self-hosted.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { conditionsOf, etcdIdentity, fileOf, resolve, restingWorld, WELL, worldOf } from "../support/cluster-world.ts";
import { eventually } from "../support/eventually.ts";
import { INIT, MADE_ONCE, startGardenadmMachines, type GardenadmMachine } from "../support/gardenadm-machine.ts";

let ground: BareGround;
let machine: GardenadmMachine;

beforeAll(async () => {
  const started = await startGardenadmMachines("test-init", ["a"]);
  ({ ground } = started);
  machine = started.machines.a;
});

afterAll(async () => {
  await ground.stop();
});

const init = async () => await machine.gardenadm(...INIT.words);
const plan = async () => await machine.gardenadm(...INIT.words, "--plan");

test("a plan names every step, and every reason against it, and changes nothing", async () => {
  const { name } = machine;
  const listener = ground.machines.exec(name, ["/opt/gardenadm/node_modules/.bin/node", "-e", LISTENING]);
  await expect.poll(async () => (await plan()).stderr, { timeout: 30_000 }).toContain("2379");
  const { code, stdout, stderr } = await plan();
  await ground.machines.exec(name, ["pkill", "--full", "listen.2379"]);
  await listener;
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /cannot begin: these ports are taken: 2379 \(node, process \d+\): end the processes that have them/,
  );
  expect(stdout.split("\n").map((line) => /^ {2}(\w+): /.exec(line)?.[1])).toEqual(
    expect.arrayContaining([...startControlPlane.steps.keys(), ...reconcileSelfHosted.steps.keys()]),
  );
  expect(await readdir(join(await machine.root(), "/var/lib"))).not.toContain("gardenadm");
});

const LISTENING = "require('node:net').createServer().listen(2379)";

test("a killed init goes on where it was, with the same keys, until a node carries its control plane", async () => {
  let known: Readonly<Record<string, string>> = {};
  const sample = [
    [startControlPlane, ["secrets", "machine", "etcd", "imported"]],
    [reconcileSelfHosted, ["resourceManager", "network", "staticPods"]],
  ] as const;
  for (const [{ title: flow }, steps] of sample)
    for (const step of steps) {
      expect(await machine.interrupt(INIT, { flow, step }, "SIGKILL"), `${step} of "${flow}"`).toBe("interrupted");
      const now = { ...(await machine.identity()), ...(await machine.etcds()) };
      expect(now, `after the kill in ${step} of "${flow}"`).toMatchObject(known);
      known = now;
    }
  const { stderr } = await machine.succeed(INIT);
  expect(stderr).toContain("The control plane of Shoot garden/root runs on a.");
  expect(Object.keys(known)).toEqual([...MADE_ONCE, "etcd-main", "etcd-events"]);
  expect({ ...(await machine.identity()), ...(await machine.etcds()) }).toEqual(known);
});

test("its node is ready, and keeps away what does not belong to the control plane", async () => {
  const node = await machine.asAdministrator(async (client) => await client.read(Node, { name: "a" }));
  expect(isReady(node ?? expect.fail("there is no Node a"))).toBe(true);
  expect(node?.metadata.labels).toHaveProperty(["node-role.kubernetes.io/control-plane"]);
  const taint = { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" };
  expect(node).toMatchObject({ spec: { taints: expect.arrayContaining([expect.objectContaining(taint)]) } });
});

test("what manages the cluster began on the host of its first node, and is in the pod network", async () => {
  const pods = await machine.asAdministrator(async (client) => await client.list(Pod));
  const managing = pods.filter(
    ({ metadata: { name, namespace = "" } }) =>
      /^(gardener-resource-manager-|gardener-extension-)/.test(name) || namespace.startsWith("extension-"),
  );
  expect(managing.length, pods.map(({ metadata }) => metadata.name).join(" ")).toBeGreaterThanOrEqual(3);
  const onHost = managing.filter(({ spec }) => (spec as { hostNetwork?: boolean } | undefined)?.hostNetwork === true);
  expect(onHost.map(({ metadata }) => metadata.name)).toEqual([]);
});

test("the name server of the cluster answers", async () => {
  await eventually(async () => expect(await nameOfServer()).toBe("10.185.0.1"), 60_000);
});

const nameOfServer = async () => await resolve(machine, "kubernetes.default.svc.cluster.local");

test("the cluster's Shoot says that it was created, and by its conditions that it is well; status shows both", async () => {
  await eventually(async () => expect(await conditionsOf(machine)).toEqual(WELL), 240_000);
  const cluster = await machine.asAdministrator(async (client) => await client.read(Cluster, { name: "kube-system" }));
  const { status } = Shoot.parse(cluster?.spec.shoot);
  expect(status).toMatchObject({
    ...{ uid: (await fileOf(machine, "/var/lib/gardenadm/shoot-uid"))?.trim(), technicalID: "shoot--garden--root" },
    ...{ hibernated: false, gardener: { name: "gardenadm" } },
    lastOperation: { type: "Create", state: "Succeeded", progress: 100 },
  });
  expect(status?.lastErrors).toBeUndefined();
  const { stdout } = await machine.gardenadm("status");
  expect(stdout).toMatch(/Operation: +Create Succeeded, /);
  expect(stdout).toMatch(
    /Conditions: +APIServerAvailable, ControlPlaneHealthy, EveryNodeReady, SystemComponentsHealthy True/,
  );
});

test("when init has ended, nothing is left by which only it came in", async () => {
  const root = await machine.root();
  const secrets = await machine.asAdministrator(async (client) => await client.list(Secret));
  expect(secrets.filter(({ type }) => type === "bootstrap.kubernetes.io/token")).toEqual([]);
  for (const file of [
    "gardener-node-agent/credentials/bootstrap-token",
    "kubelet/kubeconfig-bootstrap",
    "gardenadm/cluster",
  ])
    await expect(stat(join(root, "/var/lib", file)), file).rejects.toThrow("ENOENT");
});

test("no write is lost while init sees to etcd's members, which stay who they are", async () => {
  const known = await etcdIdentity(machine);
  const names: string[] = [];
  await machine.asAdministrator(async (client) => {
    const over = new AbortController();
    const writing = (async () => {
      while (!over.signal.aborted) {
        const name = `written-${names.length}`;
        await client.create<ConfigMap>({ ...typeMeta(ConfigMap), metadata: { name, namespace: "default" } });
        names.push(name);
      }
    })();
    await machine.succeed(INIT);
    over.abort();
    await writing;
    const kept = (await client.list(ConfigMap, { namespace: "default" })).map(({ metadata }) => metadata.name);
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !kept.includes(name))).toEqual([]);
    for (const name of names) await client.remove(refTo(ConfigMap, { namespace: "default", name }));
  });
  expect(await etcdIdentity(machine)).toEqual(known);
});

test("init again, when all is done, writes no object and no file, and restarts no unit", async () => {
  const before = await restingWorld(machine);
  await machine.succeed(INIT);
  expect(await worldOf(machine)).toEqual(before);
});

test("an authority that is gone from the API server is not made a second time, and init says where its key is", async () => {
  const known = await machine.identity();
  await machine.asAdministrator(async (client) => {
    const ca =
      (await client.read(Secret, { namespace: "kube-system", name: "ca-client" })) ?? expect.fail("no authority");
    await client.remove(refOf(ca));
    const { code, stderr } = await init();
    expect(code).toBe(1);
    expect(stderr).toContain("step secrets: Secrets ca-client are gone from namespace kube-system");
    expect(await machine.identity()).toEqual(known);
    const { name, namespace, labels } = ca.metadata;
    await client.create({ ...ca, metadata: { name, namespace, ...(labels && { labels }) } });
  });
  await machine.succeed(INIT);
});

test("after a power cut the control plane comes back by itself, and init finds it as it was", async () => {
  const known = [await machine.identity(), await machine.etcds()];
  await ground.machines.cutPower(machine.name);
  await ground.machines.on(machine.name);
  await machine.succeed(INIT);
  expect([await machine.identity(), await machine.etcds()]).toEqual(known);
  await eventually(async () => expect(await nameOfServer()).toBe("10.185.0.1"), 60_000);
});

test("keys and tokens are in no journal, and only root reads what gardenadm keeps", async () => {
  const root = await machine.root();
  const text = await readFile(join(root, "/var/lib/gardenadm/journal"), "utf8");
  expect(await readJournal(join(root, "/var/lib/gardenadm/journal"))).not.toEqual([]);
  expect(text).not.toMatch(/PRIVATE KEY|LS0tLS1CRUdJTi/);
  const secrets = await machine.asAdministrator(
    async (client) => await client.list(Secret, { namespace: "kube-system" }),
  );
  for (const value of secrets.flatMap(({ data = {} }) => Object.values(data))) expect(text).not.toContain(value);
  expect((await stat(join(root, "/var/lib/gardenadm"))).mode & 0o077).toBe(0);
  expect((await stat(join(root, "/etc/kubernetes/admin.conf"))).mode & 0o077).toBe(0);
  expect(await readdir(join(root, "/var/lib/gardenadm"))).not.toContain("cluster");
});

test("status says what is to be done, and says so too while the API server does not answer", async () => {
  const { name } = machine;
  const before = await machine.gardenadm("status");
  expect(before.stdout).toMatch(/API server: +ready\n/);
  expect(before.code, before.stdout).toBe(0);
  await ground.inMachine(name, "systemctl", "stop", "kubelet");
  await ground.machines.exec(name, ["pkill", "--signal", "KILL", "kube-apiserver"]);
  const { stdout } = await machine.gardenadm("status", "-o", "json");
  expect(JSON.parse(stdout)).toMatchObject({
    kubelet: { ready: false },
    apiServer: { ready: false },
    etcds: ["etcd-main", "etcd-events"].map((etcd) => ({
      name: etcd,
      members: [expect.objectContaining({ answers: true, role: "leader" })],
    })),
    next: expect.arrayContaining(["the kubelet does not answer: journalctl --unit kubelet.service"]),
  });
  await ground.inMachine(name, "systemctl", "start", "kubelet");
});
