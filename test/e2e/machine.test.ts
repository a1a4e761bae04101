import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, expect } from "vitest";
import { stringify } from "yaml";
import { Node, parseKubeconfig, Pod, refTo, Service } from "../../src/kube/index.ts";
import type { Environment } from "../../src/local/environment/environment.ts";
import { describeProcess } from "../../src/local/process/table.ts";
import type { MachineStatus } from "../../src/local/machine/machine.ts";
import { createMachines } from "../../src/local/machine/machines.ts";
import type { UserData } from "../../src/local/machine/user-data.ts";
import { writeImageTar } from "../../src/local/image/tar.ts";
import { removeBridge } from "../../src/local/network/bridge.ts";
import { createLogger } from "../../src/log.ts";
import { sentBeyond, unwatchUplink, watchUplink } from "../support/uplink-watch.ts";
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

test.for(["10.180.77.77", "172.20.7.7", "192.168.77.77", "100.64.7.7", "169.254.169.254"])(
  "what is sent to %s, which no pod and no machine has, is refused at once and does not leave the host",
  async (address) => {
    await watchUplink(env);
    const asked = inMachine("one", ["curl", "-sSm20", `http://${address}`]);
    await expect(asked).rejects.toThrow(/\(7\) Failed to connect to .* port 80/); // 28 were a timeout
    expect(await sentBeyond(env)).toEqual([]);
  },
);

test("the tests' watch names where packets of machines go that leave the host", async () => {
  const beyond = "198.51.100.7"; // set aside for documentation, and led to an interface that goes nowhere
  await execa("ip", ["link", "add", "pd-nowhere", "type", "bridge"]);
  await execa("ip", ["link", "set", "pd-nowhere", "up"]);
  await execa("ip", ["route", "add", `${beyond}/32`, "dev", "pd-nowhere"]);
  await watchUplink(env);
  await expect(inMachine("one", ["curl", "-sSm1", `http://${beyond}`])).rejects.toThrow();
  expect(await sentBeyond(env)).toEqual([beyond]);
});

test("a machine follows the Secret that it booted with the name of, and says why it does not follow a wrong one", async () => {
  await machines.ensure({ name: "agent", labels: {}, userData: agentUserData() });
  const write = (word: string) => `[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo ${word} > /run/agent'\n`;
  const applied = () => inMachine("agent", ["cat", "/etc/agent", "/run/agent"]);

  await publish("${MACHINE_NAME}-1-", { name: "agent.service", command: "start", content: write("first") });
  await eventually(async () => expect(await applied()).toBe("agent-1-first"), 20_000);
  await publish("${MACHINE_NAME}-1-", { name: "agent.service", command: "start", content: write("second") });
  await eventually(async () => expect(await applied()).toBe("agent-1-second"), 20_000);

  await publish("${MACHINE_NAME}-2-", { name: "bad.service", command: "start", content: "[Service]" });
  await eventually(async () => {
    const log = await readFile(`${env.stateDir}/machines/agent/log/machine.log`, "utf8");
    expect(log).toContain("the machine's configuration was not applied: Error: cannot use unit bad.service: it has no");
  }, 20_000);
  expect(await applied()).toBe("agent-1-second");
  await machines.remove("agent");
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

/** What a machine boots with whose agent is all that it runs; its API server has a certificate for loopback. */
function agentUserData(): UserData {
  const { server, cluster, user } = parseKubeconfig(controlPlane.tokenKubeconfig);
  const ca = Buffer.from(String(cluster["certificate-authority-data"]), "base64").toString();
  const token = String(user["token"]);
  const directory = "/var/lib/gardener-node-agent";
  const configuration = {
    apiServer: { server: `https://localhost:${new URL(server).port}`, caFile: `${directory}/cluster-ca.crt` },
    controllers: { operatingSystemConfig: { secretName: "machine-agent" } },
  };
  return {
    files: [
      { path: "/etc/hosts", content: "${MACHINE_GATEWAY} localhost\n" },
      { path: `${directory}/config-v1.0.0.yaml`, content: stringify(configuration) },
      { path: `${directory}/cluster-ca.crt`, content: ca },
      { path: `${directory}/credentials/bootstrap-token`, content: token, permissions: 0o600 },
    ],
    units: [],
  };
}

/** Writes what the agent's machine is to be: a file and a unit. */
async function publish(text: string, unit: UserData["units"][number]): Promise<void> {
  const inline = { encoding: "", data: text };
  const config = {
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "OperatingSystemConfig",
    spec: { files: [{ path: "/etc/agent", content: { inline } }], units: [unit] },
  };
  await controlPlane.client.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "machine-agent", namespace: "kube-system" },
    data: { "osc.yaml": Buffer.from(stringify(config)).toString("base64") },
  });
}

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
  await unwatchUplink(env);
  await execa("ip", ["link", "delete", "pd-nowhere"], { reject: false });
  await execa("rm", ["-rf", env.stateDir]);
}
