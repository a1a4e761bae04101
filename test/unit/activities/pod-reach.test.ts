import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { examine } from "../../../src/activities/shoot/health.ts";
import { routeReadiness, tunnelReadiness } from "../../../src/activities/waits/pod-reach.ts";
import { KubeError, type KubeClient } from "../../../src/kube/index.ts";
import { createTransport } from "../../../src/kube/transport.ts";

const agent = "/api/v1/namespaces/kube-system/services/konnectivity-agent:8134/proxy/readyz";
const told = "The API server does not reach nodes, pods and Services through the tunnel: ";
const broken = (why: string) => ({ reached: false, message: told + why, reason: "TunnelConnectionBroken" });
const refusal = new KubeError("cannot get it: no endpoints available", {
  ...{ status: 503, reason: "ServiceUnavailable", retryable: true },
});

const neverAnswers: KubeClient["get"] = (_, { signal } = {}) =>
  new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)));

const node = (ready: boolean) => ({ status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] } });
const nodes = (...ready: boolean[]) => ({ list: (async () => ready.map(node)) as unknown as KubeClient["list"] });

test("a tunnel is there when an agent answers the API server", async () => {
  const asked: string[] = [];
  const get = async (path: string) => (asked.push(path), "ok");
  expect(await tunnelReadiness({ get, ...nodes(true) })).toEqual({ reached: true });
  expect(asked).toEqual([agent]);
});

test("a tunnel is broken when the API server says that it reaches no agent, or says nothing in time", async () => {
  expect(await tunnelReadiness({ get: () => Promise.reject(refusal), ...nodes(false, true) })).toEqual(
    broken(refusal.message),
  );
  const silent = { get: neverAnswers, ...nodes(true) };
  expect(await tunnelReadiness(silent, 10)).toEqual(broken("no answer within 0.01 s"));
});

test("a tunnel is not missed while no node is ready: nothing is behind it", async () => {
  for (const behind of [nodes(), nodes(false)])
    expect(await tunnelReadiness({ get: () => Promise.reject(refusal), ...behind })).toEqual({ reached: true });
});

const dns = (name: string, ready: boolean) => ({ ...node(ready), metadata: { namespace: "kube-system", name } });
const pods = (...all: object[]) => ({ list: (async () => all) as unknown as KubeClient["list"] });

test("pods are reached by the seed's routes when one ready pod of CoreDNS answers the API server", async () => {
  const asked: string[] = [];
  const get = async (path: string) => (asked.push(path), path.includes("/b:") ? "OK" : Promise.reject(refusal));
  const shoot = { get, ...pods(dns("a", true), dns("b", true), dns("c", false)) };
  expect(await routeReadiness(shoot)).toEqual({ reached: true });
  const pathOf = (pod: string) => `/api/v1/namespaces/kube-system/pods/${pod}:8181/proxy/ready`;
  expect(asked).toEqual([pathOf("a"), pathOf("b")]);
});

test("pods that no route leads to are said, with the annotation that promised one", async () => {
  const shoot = { get: () => Promise.reject(refusal), ...pods(dns("a", true)) };
  const readiness = await routeReadiness(shoot);
  expect(readiness).toMatchObject({ reached: false, reason: "PodsNotReached" });
  expect(readiness).toHaveProperty(
    "message",
    expect.stringContaining(`${refusal.message}. The Shoot or its Seed is annotated perennial.dev/tunnel=false`),
  );
  const silent = { get: neverAnswers, ...pods(dns("a", true)) };
  expect(await routeReadiness(silent, { patience: 10 })).toHaveProperty(
    "message",
    expect.stringContaining("no answer within 0.01 s"),
  );
});

test("no route is missed while no pod of CoreDNS is ready", async () => {
  const get = () => Promise.reject(refusal);
  for (const there of [pods(), pods(dns("a", false))])
    expect(await routeReadiness({ get, ...there })).toEqual({ reached: true });
});

/** An API server behind whose proxy a pod of the user's answers. */
async function serve(
  answer: (path: string, body: { write: (text: string) => unknown; end: (text: string) => unknown }) => void,
) {
  const server = createServer(({ url = "" }, response) => answer(url, response.writeHead(200)));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const credentials = {
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    current: async () => ({ tls: {} }),
    renew: () => undefined,
  };
  const transport = createTransport({ credentials, userAgent: "test" });
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await transport.close();
  });
  const get: KubeClient["get"] = (path, options) => transport.call({ what: `get ${path}`, path, ...options });
  return { get, ...pods(dns("a", true), dns("b", true), dns("c", true)) };
}

test("pods that answer a byte now and then, for ever, take no connection from those who ask later", async () => {
  const shoot = await serve((path, body) => (path === "/readyz" ? body.end("ok") : body.write("O")));
  for (let round = 0; round < 8; round += 1)
    expect(await routeReadiness(shoot, { patience: 50 })).toHaveProperty(
      "message",
      expect.stringContaining("no answer within 0.05 s"),
    );
  expect(await shoot.get("/readyz", { signal: AbortSignal.timeout(2_000) })).toBe("ok");
});

test("what a pod answers is cut short before it gets into a condition", async () => {
  const kilobyte = "x".repeat(1024);
  for (const many of [4, 4 * 1024]) {
    const shoot = await serve((_, body) => body.end(kilobyte.repeat(many)));
    const { message = "" } = (await routeReadiness(shoot)) as { message?: string };
    expect(message).toContain("does not reach pods");
    expect(message.length).toBeLessThan(1_000);
    expect(await tunnelReadiness({ ...shoot, ...nodes(true) })).toHaveProperty(
      "message.length",
      expect.toSatisfy((length: number) => length < 1_000),
    );
  }
});

test("a pod that answers without end is not read to its patience's end: little of it is held in memory", async () => {
  let sent = 0;
  const shoot = await serve((_, body) => {
    const go = () => {
      for (let more = true; more && sent < 64 * 1024 * 1024; sent += 65_536)
        more = body.write("x".repeat(65_536)) !== false;
      if (sent < 64 * 1024 * 1024) setImmediate(go);
    };
    go();
  });
  expect(await routeReadiness(shoot, { patience: 3_000 })).toMatchObject({
    message: expect.not.stringContaining("no answer within") as string,
  });
});

test("an answer that is no text is told, whatever it is", async () => {
  const shoot = { get: async () => ({ toString: 1 }), ...pods(dns("a", true)) };
  expect(await routeReadiness(shoot)).toHaveProperty("message", expect.stringContaining("not text"));
});

test.for([
  [
    "through the tunnel where there is one, by upstream's reason",
    { seed: [{ name: "konnectivity-server" }] },
    { reached: false, reason: "TunnelConnectionBroken" },
  ],
  [
    "by routes where there is none",
    { seed: [] },
    { reached: false, reason: "PodsNotReached", message: expect.stringContaining("perennial.dev/tunnel=false") },
  ],
  [
    "by its node's routes where no seed has the API server",
    { seed: undefined },
    { reached: false, reason: "PodsNotReached", message: expect.stringContaining("network plugin") },
  ],
] as const)("a Shoot's condition says whether pods are reached %s", async ([, { seed: initContainers }, expected]) => {
  const template = { spec: { initContainers } };
  const deployment = {
    kind: "Deployment",
    metadata: { name: "kube-apiserver" },
    spec: { replicas: 0, template },
    status: {},
  };
  const deployments = initContainers === undefined ? [] : [deployment];
  const seed = { list: async ({ kind }: { kind: string }) => (kind === "Deployment" ? deployments : []) };
  const get = async (path: string) => (path === "/readyz" ? "ok" : Promise.reject(refusal));
  const inShoot: Record<string, object[]> = {
    Node: [{ ...node(true), metadata: { name: "a" } }],
    Pod: [dns("a", true)],
  };
  const shoot = { list: async ({ kind }: { kind: string }) => inShoot[kind] ?? [], get } as unknown as KubeClient;
  const { SystemComponentsHealthy } = await examine({ seed: seed as unknown as KubeClient, shoot }, "shoot--a");
  expect(SystemComponentsHealthy).toMatchObject(expected);
});
