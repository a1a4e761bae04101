import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, expect } from "vitest";
import { Node, Pod, refTo, Service } from "../../src/kube/index.ts";
import type { Environment } from "../../src/local/environment/environment.ts";
import { describeProcess } from "../../src/local/process/table.ts";
import type { MachineStatus } from "../../src/local/machine/machine.ts";
import { createMachines } from "../../src/local/machine/machines.ts";
import { writeImageTar } from "../../src/local/image/tar.ts";
import { removeBridge } from "../../src/local/network/bridge.ts";
import { createLogger } from "../../src/log.ts";
import { ownClusterTest } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { findRemains } from "../support/machine-remains.ts";
import { hello, kubeProxy, nodeUserData, service } from "../support/machine-objects.ts";

/** Its network is one that is set aside for tests, so that no environment on this host has it. */
const env: Environment = {
  name: "test-machine",
  stateDir: "/var/lib/perennial/test-machine",
  bridge: "pn-test-machine",
  network: "198.18.0.0/16",
  gateway: "198.18.0.1",
  domain: "perennial.test",
};
const machines = createMachines(env, createLogger({ name: "machine-test", level: "warn" }));
const loadBalancer = "198.18.128.1";
const names = ["one", "two"];

const test = ownClusterTest({ flags: ["--bind-address=0.0.0.0", "--allow-privileged"] });
let controlPlane: ControlPlane;

test.beforeAll(async ({ cluster }) => {
  if (process.getuid?.() !== 0) throw new Error("machines need root: run this test as root");
  await cleanUp();
  controlPlane = cluster;
});

afterAll(async () => await cleanUp());

test("a new machine becomes a ready node", async () => {
  for (const name of names) await joinCluster(name);
  for (const name of names) await eventually(async () => (await nodeCondition(name, "Ready")) === "True", 60_000);
});

test("pods of two machines answer each other and the host, by pod, service and load balancer address", async () => {
  for (const name of names) {
    await controlPlane.client.apply(kubeProxy(name, await kubeconfig()));
    await controlPlane.client.apply(hello(name));
  }
  const addresses = await Promise.all(names.map(podAddress));
  for (const object of service(addresses, "10.96.0.80")) await controlPlane.client.apply(object);
  await controlPlane.client.patch(
    refTo(Service, { namespace: "default", name: "hello" }),
    { status: { loadBalancer: { ingress: [{ ip: loadBalancer }] } } },
    { subresource: "status" },
  );
  await machines.addAddress("one", loadBalancer);

  const [, two = ""] = addresses;
  await eventually(async () =>
    expect(await inMachine("one", ["curl", "-sSm2", `http://${two}:8080`])).toBe("hello from two"),
  );
  await eventually(async () =>
    expect(await inMachine("two", ["curl", "-sSm2", "http://10.96.0.80"])).toMatch(/^hello from/),
  );
  await eventually(async () => {
    const { stdout } = await execa("curl", ["-sSm2", `http://${loadBalancer}`]);
    expect(stdout).toMatch(/^hello from/);
  });
});

test("an agent in the machine changes files and units, and a wrong change is refused with the reason", async () => {
  const unit = (word: string) => ({
    name: "agent.service",
    command: "start",
    content: `[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo ${word} > /run/agent'\n`,
  });
  const apply = async (config: unknown) =>
    await inMachine("one", [
      "sh",
      "-c",
      'printf %s "$0" > /run/config && apply-machine-config /run/config',
      JSON.stringify(config),
    ]);
  await apply({ files: [{ path: "/etc/agent", content: "${MACHINE_NAME}" }], units: [unit("first")] });
  expect(await inMachine("one", ["cat", "/etc/agent", "/run/agent"])).toBe("onefirst");
  await apply({ files: [], units: [unit("second")] });
  expect(await inMachine("one", ["cat", "/run/agent"])).toBe("second");
  await expect(apply({ files: [], units: [{ name: "bad.service", content: "[Service]" }] })).rejects.toThrow(
    "no ExecStart",
  );
});

test("a machine is given a further image while it runs", async () => {
  const tar = join(env.stateDir, "further.tar");
  await writeImageTar({ name: further, files: [{ path: "/etc/further", text: "further", mode: 0o644 }] }, tar);
  await machines.loadImage("one", { name: further, tar });
  expect(await imagesOf("one")).toContain(further);
});

test("a machine that died comes back with its pods and with all its images", async () => {
  const [before] = await machines.list({ pool: "one" });
  process.kill(await pid1("one"), "SIGKILL");
  await eventually(async () => expect((await machines.list({ pool: "one" }))[0]?.running).toBe(false));
  const again = await joinCluster("one");
  expect(again).toEqual(before);
  await eventually(async () => expect(await imagesOf("one")).toContain(further), 60_000);
  await eventually(async () => {
    const address = await podAddress("one");
    expect(await inMachine("two", ["curl", "-sSm2", `http://${address}:8080`])).toBe("hello from one");
    const { stdout } = await execa("curl", ["-sSm2", `http://${loadBalancer}`]);
    expect(stdout).toMatch(/^hello from/);
  }, 60_000);
});

test("nothing is left of a removed machine, and other machines go on", async () => {
  const pid = await pid1("one");
  await machines.remove("one");
  await machines.remove("one");
  expect(await findRemains(env, "one")).toEqual([]);
  expect(await describeProcess(pid)).toBeUndefined();
  expect((await machines.list()).map(({ name, running }) => ({ name, running }))).toEqual([
    { name: "two", running: true },
  ]);
});

test("removing all removes what a crashed run left", async () => {
  const pid = await pid1("two");
  await execa("rm", ["-f", `${env.stateDir}/machines/two/machine.json`, `${env.stateDir}/machines/two/pid`]);
  await machines.removeAll();
  await removeBridge(env);
  expect(await describeProcess(pid)).toBeUndefined();
  expect(await findRemains(env)).toEqual([]);
});

const further = "example.org/further:1";

async function imagesOf(machine: string): Promise<string[]> {
  return (await inMachine(machine, ["ctr", "--namespace", "k8s.io", "images", "list", "--quiet"])).split("\n");
}

async function joinCluster(name: string): Promise<MachineStatus> {
  const userData = nodeUserData(await kubeconfig());
  const status = await machines.ensure({ name, labels: { pool: name }, userData });
  const index = names.indexOf(name);
  await machines.configureNetwork(name, {
    podCIDR: `10.97.${index}.0/24`,
    clusterPodCIDR: "10.97.0.0/16",
    peers: [{ podCIDR: `10.97.${1 - index}.0/24`, address: `198.18.0.${3 - index}` }],
  });
  return status;
}

/** The administrator's kubeconfig as machines can use it. */
async function kubeconfig(): Promise<string> {
  const text = await readFile(controlPlane.kubeconfigFile, "utf8");
  return text.replace(
    /( +)server: https:\/\/127\.0\.0\.1:(\d+)/,
    `$1server: https://${env.gateway}:$2\n$1tls-server-name: localhost`,
  );
}

async function nodeCondition(name: string, type: string): Promise<string | undefined> {
  const node = await controlPlane.client.read(Node, { name });
  const conditions = (node as { status?: { conditions?: { type: string; status: string }[] } } | undefined)?.status
    ?.conditions;
  return conditions?.find((condition) => condition.type === type)?.status;
}

async function podAddress(name: string): Promise<string> {
  let address: string | undefined;
  await eventually(async () => {
    const pod = await controlPlane.client.read(Pod, { namespace: "default", name });
    address = (pod as { status?: { podIP?: string } } | undefined)?.status?.podIP;
    expect(address).toBeDefined();
  });
  return address ?? "";
}

async function pid1(name: string): Promise<number> {
  return Number.parseInt(await readFile(`${env.stateDir}/machines/${name}/pid`, "utf8"));
}

async function inMachine(name: string, command: readonly string[]): Promise<string> {
  const namespaces = ["--target", String(await pid1(name)), "--mount", "--pid", "--net", "--uts", "--ipc"];
  const { stdout } = await execa("nsenter", [...namespaces, "--", ...command], {
    env: { PATH: "/opt/bin:/usr/bin:/bin" },
  });
  return stdout;
}

async function cleanUp(): Promise<void> {
  await machines.removeAll();
  await removeBridge(env);
  await execa("rm", ["-rf", env.stateDir]);
}
