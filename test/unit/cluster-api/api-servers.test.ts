import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { POOL_LABEL } from "../../../src/api/labels.ts";
import { createApiServers, identityOf } from "../../../src/cluster-api/shoot/api-servers.ts";
import { renderKubeconfig } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { makeCertificates } from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";

const log = createLogger({ name: "test", level: "silent" });
let server: Server | undefined;

afterEach(async () => {
  server?.closeAllConnections();
  await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
});

/** The kubeconfig of an API server that says it is ready once this resolves. */
async function serveVersion(ready: Promise<unknown>, gitVersion = "v1.34.4"): Promise<string> {
  return await serve(async (url) => {
    await ready;
    return url === "/version" ? { gitVersion } : {};
  });
}

/** The kubeconfig of an API server that gives these answers. */
async function serve(answerTo: (url: string) => Promise<object>): Promise<string> {
  const { ca, serverCert: cert, serverKey: key } = await makeCertificates();
  server = createServer({ cert, key }, ({ url = "" }, answer) => {
    answer.setHeader("content-type", "application/json");
    void answerTo(url).then((body) => answer.end(JSON.stringify(body)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return renderKubeconfig({ server: `https://127.0.0.1:${port}`, ca, token: "none" });
}

test("a worker does not wait for an API server that keeps it waiting, and the answer comes with the next call", async () => {
  const { promise: ready, resolve: answer } = Promise.withResolvers<void>();
  const kubeconfig = await serveVersion(ready);
  const woken: string[] = [];
  const servers = createApiServers(log, (name) => void woken.push(name));
  try {
    expect(await servers.ask("fleet/one", kubeconfig)).toBeUndefined();
    expect(await servers.ask("fleet/one", kubeconfig), "while the first question is under way").toBeUndefined();
    expect(woken).toEqual([]);
    answer();
    await eventually(() => expect(woken).toEqual(["fleet/one"]));
    expect(await servers.ask("fleet/one", kubeconfig)).toBe("v1.34.4");
  } finally {
    answer();
    await servers.stop();
  }
});

test("an API server that answers at once is not asked for twice", async () => {
  const kubeconfig = await serveVersion(Promise.resolve());
  const woken: string[] = [];
  const servers = createApiServers(log, (name) => void woken.push(name));
  try {
    expect(await servers.ask("fleet/one", kubeconfig)).toBe("v1.34.4");
    expect(woken).toEqual([]);
  } finally {
    await servers.stop();
  }
});

test("of a Node nothing is remembered that users of its Shoot can make large", () => {
  const large = { "example.com/large": "x".repeat(100_000) };
  const metadata = { name: "one", uid: "1", labels: { [POOL_LABEL]: "pool", ...large }, annotations: large };
  const node = {
    apiVersion: "v1",
    kind: "Node",
    metadata,
    spec: { providerID: "local:///one", podCIDR: "10.0.0.0/24" },
  };
  expect(identityOf(node)).toEqual({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "one", uid: "1", labels: { [POOL_LABEL]: "pool" } },
    spec: { providerID: "local:///one" },
  });
});

test("of a Node that names its machine at length, not even that is remembered", () => {
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: "one" }, spec: { providerID: "x".repeat(100_000) } };
  expect(identityOf(node)).toEqual({ apiVersion: "v1", kind: "Node", metadata: { name: "one" }, spec: {} });
});

test("an API server that calls a whole text its version is taken for one that does not answer", async () => {
  const kubeconfig = await serveVersion(Promise.resolve(), `v1.34.4-${"x".repeat(100_000)}`);
  const servers = createApiServers(log, () => {});
  try {
    expect(await servers.ask("fleet/one", kubeconfig)).toBeUndefined();
  } finally {
    await servers.stop();
  }
});

test("an API server that goes on and on with its Nodes is not listened to", async () => {
  let lists = 0;
  const items = Array.from({ length: 500 }, (_, index) => ({ metadata: { name: `${index}-${"x".repeat(1_000)}` } }));
  const kubeconfig = await serve(async (url) => {
    if (url === "/api/v1")
      return await Promise.resolve({
        resources: [{ name: "nodes", kind: "Node", namespaced: false, verbs: ["list"] }],
      });
    if (!url.includes("continue=")) lists += 1;
    return { items, metadata: { resourceVersion: "1", continue: "more" } };
  });
  const servers = createApiServers(log, () => {});
  try {
    expect(servers.nodes("fleet/one", kubeconfig)).toBeUndefined();
    await eventually(() => expect(lists, "begun anew").toBeGreaterThan(1));
  } finally {
    await servers.stop();
  }
});
