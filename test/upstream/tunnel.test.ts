import { spawn } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import type { Shoot } from "../../src/api/index.ts";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import {
  createKubeClient,
  Deployment,
  Node,
  Pod,
  refTo,
  type ConfigMap,
  type KubeClient,
} from "../../src/kube/index.ts";
import { helloImage } from "../../src/local/image/images.ts";
import { down } from "../../src/local/environment/down.ts";
import { machinePaths } from "../../src/local/machine/record.ts";
import { queryRecords } from "../../src/provider-local/dns/name-server.ts";
import { findBinary } from "../support/binary.ts";
import { findContainerProcesses } from "../support/container-processes.ts";
import { createShoot, type TestShoot } from "../support/e2e-shoots.ts";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-ports.ts";
import { canReach, hideNodes } from "../support/hidden-nodes.ts";
import { localEnvironment, type LocalEnvironment, type SeedName } from "../support/local-environment.ts";
import { EXTENDED_GROUP, extendShoot, type ShootExtender } from "../support/shoot-extender.ts";
import { findShootRemains } from "../support/shoot-remains.ts";
import { seconds } from "../support/patience.ts";

let local: LocalEnvironment;
let shoot: TestShoot;
let cluster: KubeClient;
let extender: ShootExtender | undefined;
let address = "";
const opened: (() => Promise<void>)[] = [];

beforeAll(async () => {
  local = await localEnvironment("tunnel");
  for (const seed of ["seed-1", "seed-2"] as const) opened.push(await hideNodes(local, seed));
}, seconds(1500));
afterAll(async () => {
  for (const open of opened) await open();
  await extender?.stop();
  await cluster?.close();
  await local?.close();
  await down({ name: "tunnel" });
}, seconds(300));

describe("a Shoot whose nodes its seed does not reach", { timeout: seconds(600) }, () => {
  test("is created: its nodes open the tunnel from inside", async () => {
    const begin = performance.now();
    shoot = await createShoot(local, { name: "hidden" });
    const plan = await local.perennial("flow", "plan", "hidden");
    expect(plan).toMatch(/^tunnelAgent +run/m);
    await shoot.settles("Succeeded", "Create", 240_000);
    console.log(`created in ${took(begin)} s`);
    await enter();
    const [node] = await cluster.list(Node);
    address = node?.status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "";
    const [server] = await servers("seed-1");
    expect(server).toBeDefined();
    expect(await canReach(server ?? 0, address, 10250)).toBe(false);
    await apply(...userObjects());
    await eventually(async () => expect(await helloPod()).toBeDefined(), 60_000);
  });

  test("gives its users logs, commands and ports of pods, and its Services", reachesPods);

  test("calls webhooks and aggregated APIs that are in it", async () => {
    const machine = (await cluster.list(Node))[0]?.metadata.name ?? "";
    extender = await extendShoot(address, `${local.environment.name}.${machine}`);
    await apply(...extender.objects);
    await reachesExtensions();
  });

  test("says in its conditions that the tunnel is down while no agent runs, and nothing passes meanwhile", async () => {
    await cluster.patch(agents, { spec: { replicas: 0 } });
    await eventually(async () => expect(await agentPods()).toEqual([]), 60_000);
    await expect(logs()).rejects.toThrow();
    await expect(cluster.get(`/apis/${EXTENDED_GROUP}/v1`)).rejects.toThrow();
    await expect(mark()).rejects.toThrow(/failed calling webhook/);
    await eventually(async () => {
      const { status, reason } = await systemCondition();
      expect(status).not.toBe("True");
      expect(reason).toBe("TunnelConnectionBroken");
    }, 150_000); // the worker looks once a minute
    await cluster.patch(agents, { spec: { replicas: 2 } });
    await reachesPods();
    await reachesExtensions();
    await eventually(async () => expect((await systemCondition()).status).toBe("True"), 90_000);
  });

  test("has its tunnel again after its server and its agents were killed", async () => {
    const before = await servers("seed-1");
    for (const pid of before) process.kill(pid, "SIGKILL");
    await eventually(async () => expect(await servers("seed-1")).not.toEqual(before), 60_000);
    await reachesPods();
    for (const { metadata } of await agentPods()) await cluster.remove(refTo(Pod, metadata));
    await reachesPods();
    await reachesExtensions();
  });

  test("takes its tunnel along to another seed", async () => {
    const begin = performance.now();
    await local.perennial("shoot", "migrate", "garden-dev/hidden", "--to", "seed-2", "-y");
    await shoot.settles("Succeeded", "Restore", 300_000);
    console.log(`moved in ${took(begin)} s`);
    await enter();
    const [server] = await servers("seed-2");
    expect(await canReach(server ?? 0, address, 10250)).toBe(false);
    await reachesPods();
    await reachesExtensions();
  });

  test("is deleted, with what its own webhooks have to say, and nothing is left of it", async () => {
    await shoot.remove();
    await shoot.gone(240_000);
    await eventually(async () => expect(await findShootRemains(local, shoot)).toEqual([]), 60_000);
  });
});

const agents = refTo(Deployment, { namespace: "kube-system", name: "konnectivity-agent" });
const agentPods = () => cluster.list(Pod, { namespace: "kube-system", labelSelector: "k8s-app=konnectivity-agent" });
const servers = (seed: SeedName) =>
  findContainerProcesses(machinePaths(local.environment, seed).cgroup, "proxy-server");
const logs = () => kubectl("--namespace=kube-system", "logs", "daemonset/kube-proxy", "--tail=1");

async function reachesPods(): Promise<void> {
  await eventually(async () => expect(await logs()).not.toBe(""), 60_000);
  const version = ["exec", "daemonset/kube-proxy", "--", "kube-proxy", "--version"];
  expect(await kubectl("--namespace=kube-system", ...version)).toMatch(/^Kubernetes v1\./);
  const hello = await helloPod();
  expect(await throughForwardedPort()).toContain(`hello from ${hello?.metadata.name}`);
  const path = "/api/v1/namespaces/app/services/hello:80/proxy/";
  expect(await cluster.get(path)).toContain(`hello from ${hello?.metadata.name}`);
}

async function reachesExtensions(): Promise<void> {
  await eventually(async () => {
    expect(await cluster.get(`/apis/${EXTENDED_GROUP}/v1`)).toMatchObject({ kind: "APIResourceList" });
  }, 60_000);
  expect((await mark()).data).toEqual({ seenBy: "a webhook in the Shoot" });
}

/** Creates what the webhook in the Shoot is asked about. */
const mark = async (): Promise<ConfigMap> =>
  await cluster.create<ConfigMap>({
    ...{ apiVersion: "v1", kind: "ConfigMap", data: {} },
    metadata: { name: `marked-${Date.now()}`, namespace: "app", labels: { marked: "yes" } },
  });

async function helloPod(): Promise<Pod | undefined> {
  const pods = await cluster.list(Pod, { namespace: "app" });
  return pods.find(({ status }) => status?.phase === "Running");
}

async function throughForwardedPort(): Promise<string> {
  const [port] = await freePorts(1);
  const forward = spawn(
    await findBinary("kubectl"),
    [...access(), "-n", "app", "port-forward", "service/hello", `${port}:80`],
    {
      stdio: "ignore",
    },
  );
  try {
    return await eventually(
      async () => (await execa("curl", ["--silent", "--fail", `http://127.0.0.1:${port}`])).stdout,
    );
  } finally {
    forward.kill();
  }
}

async function systemCondition() {
  const { conditions = [] } = ((await shoot.read()) as Shoot).status ?? {};
  return conditions.find(({ type }) => type === "SystemComponentsHealthy") ?? expect.fail("there is no condition");
}

const apply = async (...objects: readonly KubeObject[]) => {
  for (const object of objects) await cluster.apply(object, { fieldManager: "test" });
};

const kubeconfig = () => join(local.environment.stateDir, "hidden.yaml");
const access = () => [`--kubeconfig=${kubeconfig()}`, "--request-timeout=15s"];
const kubectl = async (...args: readonly string[]): Promise<string> =>
  (await execa(await findBinary("kubectl"), [...access(), ...args])).stdout;

/** Connects with the Shoot where the DNS finds it now. */
async function enter(): Promise<void> {
  await cluster?.close();
  const document = parse(await local.perennial("shoot", "kubeconfig", "garden-dev/hidden")) as {
    clusters: [{ cluster: { server: string; "tls-server-name"?: string } }];
  };
  const [{ cluster: entry }] = document.clusters;
  const host = new URL(entry.server).hostname;
  const [found = host] = await queryRecords(
    { address: local.environment.gateway, key: { file: "" } },
    { name: host, type: "A" },
  );
  Object.assign(entry, { server: `https://${found}:443`, "tls-server-name": host });
  await rm(kubeconfig(), { force: true });
  await writeFile(kubeconfig(), stringify(document), { mode: 0o600 });
  cluster = createKubeClient({ file: kubeconfig() }, { log: local.log });
}

function userObjects(): KubeObject[] {
  const labels = { app: "hello" };
  const metadata = { name: "hello", namespace: "app", labels };
  const container = { name: "hello", image: helloImage, ports: [{ containerPort: 8080 }] };
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "app" } },
    {
      ...{ apiVersion: "apps/v1", kind: "Deployment", metadata },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    },
    {
      ...{ apiVersion: "v1", kind: "Service", metadata },
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    },
  ] as KubeObject[];
}

const took = (begin: number): string => ((performance.now() - begin) / 1_000).toFixed(1);
