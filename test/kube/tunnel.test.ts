import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect } from "vitest";
import { issueCertificate } from "../../src/activities/secrets/pki.ts";
import { ensureSecrets } from "../../src/activities/secrets/secrets.ts";
import type { KubeObject } from "../../src/api/index.ts";
import { components, type ControlPlaneContext } from "../../src/components/index.ts";
import {
  Node,
  refTo,
  Secret,
  ServiceAccount,
  type ConfigMap,
  type Deployment,
  type KubeClient,
} from "../../src/kube/index.ts";
import { spawnChild, type Child } from "../support/child.ts";
import { test } from "../support/cluster-test.ts";
import { exampleContext } from "../support/control-plane-context.ts";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-ports.ts";
import { EXTENDED_GROUP, extendShoot, type ShootExtender } from "../support/shoot-extender.ts";
import { startShootControlPlane, type ShootControlPlane } from "../support/shoot-control-plane.ts";

/** A Shoot that is found by a host name, as with some providers' load balancers: here, this machine's. */
const { internalDomain: _, externalDomain: __, ...example } = exampleContext();
const context: ControlPlaneContext = {
  ...example,
  namespace: "shoot--dev--far",
  apiServerAddress: "localhost",
  tunnel: true,
};
let shoot: ShootControlPlane;
let gardener: KubeClient;
let seedClient: KubeClient;
let folder: string;
let kubelet: Server;
let agent: Child | undefined;
let extender: ShootExtender | undefined;

test.beforeAll(async ({ cluster }) => {
  seedClient = cluster.client;
  folder = await mkdtemp(join(tmpdir(), "agent-"));
  for (const object of components.namespace.objects(context)) await seedClient.apply(object);
  await ensureSecrets(seedClient, context);
  shoot = await startShootControlPlane(seedClient, context);
  gardener = await shoot.client("gardener");
  for (const object of components["tunnel-agent"].objects(context)) await gardener.apply(object);
  await makeNode();
});

afterAll(async () => {
  await agent?.kill();
  await extender?.stop();
  kubelet?.close();
  await gardener?.close();
  await shoot?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe("a Shoot's API server with a tunnel", () => {
  test("reaches no kubelet without an agent, though its address is near", async () => {
    await expect(logs()).rejects.toThrow(/agent/i);
  });

  test("takes no agent with a token that is for the API server, or of another account", async () => {
    for (const token of [await tokenOf("konnectivity-agent", []), await tokenOf("default", [audience])]) {
      await startAgent(token);
      await expect(eventually(logs, 3_000)).rejects.toThrow(/agent/i);
      await agent?.kill();
    }
  });

  test("reaches kubelets through an agent, as often as agents come and go", async () => {
    const token = await tokenOf("konnectivity-agent", [audience]);
    for (let round = 0; round < 2; round++) {
      await startAgent(token);
      expect(await eventually(logs, 20_000)).toBe("a line of a log\n");
      await agent?.kill();
      await eventually(() => expect(logs()).rejects.toThrow(/agent/i), 20_000);
    }
  });

  test("calls webhooks and aggregated APIs that are Services of the Shoot through an agent, and not without", async () => {
    await gardener.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "app" } });
    extender = await extendShoot(ownAddress());
    for (const object of extender.objects) await gardener.apply(object);
    await eventually(() => expect(mark()).rejects.toThrow(/failed calling webhook.*agent/i), 20_000);
    await expect(gardener.get(`/apis/${EXTENDED_GROUP}/v1`)).rejects.toThrow();
    await startAgent(await tokenOf("konnectivity-agent", [audience]));
    expect((await eventually(mark, 20_000)).data).toEqual({ seenBy: "a webhook in the Shoot" });
    const served = await eventually(() => gardener.get(`/apis/${EXTENDED_GROUP}/v1`), 50_000);
    expect(served).toMatchObject({ kind: "APIResourceList" });
    await agent?.kill();
  });

  test("keeps the tunnel when it restarts, because the agent's token and its own certificate are good as before", async () => {
    await startAgent(await tokenOf("konnectivity-agent", [audience]));
    await eventually(logs, 20_000);
    await shoot.restartApiServer();
    expect(await eventually(logs, 20_000)).toBe("a line of a log\n");
  });
});

const audience = "system:konnectivity-server";
const logs = () => gardener.get("/api/v1/namespaces/default/pods/far/log");

/** Creates what the webhook is asked about. */
const mark = () =>
  gardener.create<ConfigMap>({
    ...{ apiVersion: "v1", kind: "ConfigMap", data: {} },
    metadata: { name: `marked-${Date.now()}`, namespace: "app", labels: { marked: "yes" } },
  });

/** Kubernetes takes no endpoint on loopback. */
function ownAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((some = []) => some);
  const found = addresses.find(({ family, internal }) => family === "IPv4" && !internal);
  return found?.address ?? expect.fail("this host has no IPv4 address but loopback's");
}

async function tokenOf(name: string, audiences: readonly string[]): Promise<string> {
  const account = refTo(ServiceAccount, { namespace: "kube-system", name });
  await eventually(async () => expect(await gardener.read(account)).toBeDefined());
  const asked = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata: { name },
    spec: { audiences },
  };
  const { status } = await gardener.createSubresource<KubeObject & { status?: { token: string } }>(
    account,
    "token",
    asked,
  );
  return status?.token ?? expect.fail("no token");
}

/** Runs the agent with the command line that we deploy; only files and ports are others. */
async function startAgent(token: string): Promise<void> {
  const deployment = components["tunnel-agent"].objects(context).find(({ kind }) => kind === "Deployment");
  const { template } = (deployment as Deployment & { spec: { template: PodTemplate } }).spec;
  const [, ...flags] = template.spec.containers[0]?.command ?? [];
  const { "ca.crt": authority = "" } = await dataOf("ca");
  await writeFile(join(folder, "ca.crt"), authority);
  await writeFile(join(folder, "token"), token);
  const [health, admin] = await freePorts(2);
  const ports: Readonly<Record<string, number | undefined>> = {
    "8132": shoot.tunnelPort,
    "8133": admin,
    "8134": health,
  };
  const local = (flag: string) =>
    flag
      .replace("/var/run/secrets/konnectivity", folder)
      .replace(/-port=(\d+)$/, (text, port: string) => (ports[port] ? `-port=${ports[port]}` : text));
  agent = await spawnChild(folder, "proxy-agent", flags.map(local));
}

interface PodTemplate {
  readonly spec: { readonly containers: readonly { readonly command: readonly string[] }[] };
}

/** A node on this machine, with a pod whose kubelet knows one line of its log. */
async function makeNode(): Promise<void> {
  const { "ca.crt": certificate = "", "ca.key": key = "" } = await dataOf("ca-kubelet");
  const request = { commonName: "system:node:far", hosts: ["127.0.0.1"], usages: ["server"] as const };
  const pair = await issueCertificate({ certificate, key }, request, new Date());
  kubelet = createServer({ cert: pair.certificate, key: pair.key }, (_, response) => response.end("a line of a log\n"));
  await new Promise<void>((resolve) => kubelet.listen(0, "127.0.0.1", resolve));
  const { port } = kubelet.address() as AddressInfo;
  await gardener.apply({ apiVersion: "v1", kind: "Node", metadata: { name: "far" } });
  const status = {
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  await gardener.patch(refTo(Node, { name: "far" }), { status }, { subresource: "status" });
  await eventually(async () => {
    const pod = { nodeName: "far", containers: [{ name: "far", image: "far" }] };
    await gardener.apply({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "far", namespace: "default" },
      spec: pod,
    });
  }, 20_000);
}

async function dataOf(name: string): Promise<Record<string, string>> {
  const { data = {} } = (await seedClient.read(Secret, { namespace: context.namespace, name })) ?? {};
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
}
