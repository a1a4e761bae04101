import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Node, refOf, Secret } from "../../src/kube/index.ts";
import { readJournal } from "../../src/in-process/journal.ts";
import { CONFIGURATION, startGardenadmMachine, type GardenadmMachine } from "../support/gardenadm-machine.ts";

let machine: GardenadmMachine;

beforeAll(async () => {
  machine = await startGardenadmMachine("test-init");
});

afterAll(async () => {
  await machine.ground.stop();
});

const init = async () => await machine.gardenadm("init", "-d", CONFIGURATION);

test("a plan names every step, and every reason against it, and changes nothing", async () => {
  const { ground, name } = machine;
  const listener = ground.machines.exec(name, ["/opt/gardenadm/node_modules/.bin/node", "-e", LISTENING]);
  await expect
    .poll(async () => (await machine.gardenadm("init", "-d", CONFIGURATION, "--plan")).stderr, { timeout: 30_000 })
    .toContain("2379");
  const { code, stdout, stderr } = await machine.gardenadm("init", "-d", CONFIGURATION, "--plan");
  await ground.machines.exec(name, ["pkill", "--full", "listen.2379"]);
  await listener;
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /cannot begin: these ports are taken: 2379 \(node, process \d+\): end the processes that have them/,
  );
  expect(stdout.split("\n").map((line) => line.split(" ")[0])).toEqual(
    expect.arrayContaining(["preflight", "etcd", "imported"]),
  );
  expect(await readdir(join(await machine.root(), "/var/lib"))).not.toContain("gardenadm");
});

const LISTENING = "require('node:net').createServer().listen(2379)";

test("a killed init goes on where it was, with the same keys, until a node carries its control plane", async () => {
  let known: Readonly<Record<string, string>> = {};
  for (const step of ["secrets", "machine", "etcd", "imported"]) {
    await machine.interruptInit(step, "SIGKILL");
    const now = await machine.identity();
    expect(now, `after the kill in ${step}`).toMatchObject(known);
    known = now;
  }
  const { code, stderr } = await init();
  expect(code, stderr).toBe(0);
  expect(stderr).toContain("The control plane of Shoot garden/root runs on a.");
  expect(Object.keys(known)).toHaveLength(4);
  expect(await machine.identity()).toEqual(known);
});

test("its API server knows the node, and keeps what does not belong to the control plane away from it", async () => {
  const client = await machine.client();
  try {
    const node = await client.read(Node, { name: "a" });
    expect(node?.metadata.labels).toHaveProperty(["node-role.kubernetes.io/control-plane"]);
    expect(node).toMatchObject({
      spec: {
        taints: expect.arrayContaining([
          expect.objectContaining({ key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" }),
        ]),
      },
    });
  } finally {
    await client.close();
  }
});

test("init again, when all is done, writes no object and no file, and restarts no unit", async () => {
  const before = await world();
  const { code, stderr } = await init();
  expect(code, stderr).toBe(0);
  expect(await world()).toEqual(before);
});

test("an authority that is gone from the API server is not made a second time, and init says where its key is", async () => {
  const known = await machine.identity();
  const client = await machine.client();
  try {
    const ca =
      (await client.read(Secret, { namespace: "kube-system", name: "ca-client" })) ?? expect.fail("no authority");
    await client.remove(refOf(ca));
    const { code, stderr } = await init();
    expect(code).toBe(1);
    expect(stderr).toContain("step secrets: Secrets ca-client are gone from namespace kube-system");
    expect(await machine.identity()).toEqual(known);
    const { name, namespace, labels } = ca.metadata;
    await client.create({ ...ca, metadata: { name, namespace, ...(labels && { labels }) } });
  } finally {
    await client.close();
  }
  expect((await init()).code).toBe(0);
});

test("after a power cut the control plane comes back by itself, and init finds it as it was", async () => {
  const { ground, name } = machine;
  const known = await machine.identity();
  await ground.machines.cutPower(name);
  await ground.machines.on(name);
  const { code, stderr } = await init();
  expect(code, stderr).toBe(0);
  expect(await machine.identity()).toEqual(known);
});

test("keys and tokens are in no journal, and only root reads what gardenadm keeps", async () => {
  const root = await machine.root();
  const text = await readFile(join(root, "/var/lib/gardenadm/journal"), "utf8");
  expect(await readJournal(join(root, "/var/lib/gardenadm/journal"))).not.toEqual([]);
  expect(text).not.toMatch(/PRIVATE KEY|LS0tLS1CRUdJTi/);
  const client = await machine.client();
  const secrets = await client.list(Secret, { namespace: "kube-system" }).finally(() => client.close());
  for (const value of secrets.flatMap(({ data = {} }) => Object.values(data))) expect(text).not.toContain(value);
  expect((await stat(join(root, "/var/lib/gardenadm"))).mode & 0o077).toBe(0);
  expect((await stat(join(root, "/etc/kubernetes/admin.conf"))).mode & 0o077).toBe(0);
  expect(await readdir(join(root, "/var/lib/gardenadm"))).not.toContain("cluster");
});

/** Versions of Secrets, times of files, and since when units run. */
async function world() {
  const { ground, name } = machine;
  const client = await machine.client();
  const secrets = await client.list(Secret, { namespace: "kube-system" }).finally(() => client.close());
  const files = await ground.inMachine(
    name,
    "find",
    "/etc/kubernetes",
    "/etc/systemd/system",
    "/var/lib/static-pods",
    "/opt/bin",
    "-type",
    "f",
    "-printf",
    "%p %T@\n",
  );
  const units = await ground.inMachine(
    name,
    "systemctl",
    "show",
    "kubelet",
    "containerd",
    "--property",
    "ActiveEnterTimestampMonotonic",
  );
  return {
    secrets: secrets.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).sort(),
    files: files.split("\n").sort(),
    units,
  };
}

test("status says what is to be done, and says so too while the API server does not answer", async () => {
  const { ground, name } = machine;
  const before = await machine.gardenadm("status");
  expect(before.stdout).toMatch(/API server: +ready\n/);
  expect(before.stdout).toContain("Node a is not Ready: container runtime network not ready");
  expect(before.code).toBe(1);
  await ground.inMachine(name, "systemctl", "stop", "kubelet");
  await ground.machines.exec(name, ["pkill", "--signal", "KILL", "kube-apiserver"]);
  const { stdout } = await machine.gardenadm("status", "-o", "json");
  expect(JSON.parse(stdout)).toMatchObject({
    kubelet: { ready: false },
    apiServer: { ready: false },
    etcdMain: { ready: true },
    next: expect.arrayContaining(["the kubelet does not answer: journalctl --unit kubelet.service"]),
  });
  await ground.inMachine(name, "systemctl", "start", "kubelet");
});
