import { CompleteAsyncError } from "@temporalio/activity";
import { expect, onTestFinished, test } from "vitest";
import type { WaitTarget } from "../../../src/activities/index.ts";
import { createNodeWaits } from "../../../src/activities/waits/node-waits.ts";
import { POOL_LABEL } from "../../../src/api/labels.ts";
import { createKubeClient, type KubeClient } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { playApiServer, type Answer } from "../../support/played-api-server.ts";
import { shootRun } from "../../support/shoot-run.ts";

const NODES = 2_000;
const EVENTS = 500;
const log = createLogger({ name: "test", level: "silent" });

const kinds = [
  { apiVersion: "v1", kind: "Node", plural: "nodes", namespaced: false },
  { apiVersion: "apps/v1", kind: "Deployment", plural: "deployments", namespaced: true },
  { apiVersion: "apps/v1", kind: "DaemonSet", plural: "daemonsets", namespaced: true },
  { apiVersion: "extensions.gardener.cloud/v1alpha1", kind: "Worker", plural: "workers", namespaced: true },
];

const node = (name: string, version: number, status: "True" | "False") => ({
  ...{ apiVersion: "v1", kind: "Node" },
  metadata: { name, uid: name, resourceVersion: String(version), labels: { [POOL_LABEL]: "worker" } },
  status: { conditions: [{ type: "Ready", status }] },
});

/** A node goes to and fro, as its users' agents may have it, and is ready in the end. All news come in one piece. */
const news = Array.from({ length: EVENTS }, (_, index) => {
  const object = node("node-0", index + 2, index === EVENTS - 1 ? "True" : "False");
  return `${JSON.stringify({ type: "MODIFIED", object })}\n`;
}).join("");

/** A Shoot with one node that is not ready yet; its news come when everything else that the wait watches is known. */
function playShoot(): Answer {
  let known = 0;
  let tell = () => {};
  return ({ pathname, searchParams }, response) => {
    const isList = pathname.endsWith("s") && !pathname.includes("/workers/");
    if (pathname.includes("/workers/"))
      return void response.end(JSON.stringify({ spec: { pools: [{ name: "worker", minimum: NODES }] } }));
    if (!isList) return void response.writeHead(404).end("{}");
    if (searchParams.has("watch")) {
      response.flushHeaders();
      if (pathname.endsWith("/nodes")) tell = () => void response.write(news);
      else known += 1;
      if (known === SYSTEMS) tell();
      return;
    }
    const names = pathname.endsWith("/nodes") ? Array.from({ length: NODES }, (_, index) => `node-${index}`) : [];
    const items = names.map((name, index) => node(name, 1, index === 0 ? "False" : "True"));
    response.end(JSON.stringify({ items, metadata: { resourceVersion: "1" } }));
  };
}

const SYSTEMS = 3;

/** The same client, which counts how often the conditions of nodes are read after they were listed for the watch. */
function counting(client: KubeClient, count: () => void): KubeClient {
  return {
    ...client,
    snapshot: async (type, selection) => {
      const { items, resourceVersion } = await client.snapshot(type, selection);
      for (const { status } of items as { status?: { conditions?: unknown } }[]) {
        const conditions = status?.conditions;
        if (status !== undefined)
          Object.defineProperty(status, "conditions", { enumerable: true, get: () => (count(), conditions) });
      }
      return { items, resourceVersion };
    },
  };
}

test("a wait for nodes judges all of them once for much news, whose number the users of the Shoot choose", async () => {
  const server = await playApiServer(kinds, playShoot());
  const client = createKubeClient({ kubeconfig: server.kubeconfig }, { log });
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  let reads = 0;
  const completed = Promise.withResolvers<void>();
  const waits = createNodeWaits({
    seedClient: client,
    shootClients: { get: async () => counting(client, () => (reads += 1)) },
    completer: { complete: async () => (completed.resolve(), true) },
    log,
    asking: () => ({
      workflowExecution: { workflowId: "w", runId: "r" },
      activityId: "nodesReady/wait",
      startToCloseTimeoutMs: 60_000,
    }),
  });
  const target: WaitTarget = {
    ...{ apiVersion: "extensions.gardener.cloud/v1alpha1", kind: "Worker", name: "local", until: "nodesReady" },
    ...{ severeAfter: 600_000, deadline: 600_000 },
  };
  await expect(waits.wait(shootRun({ operation: "Create" }), target)).rejects.toThrow(CompleteAsyncError);
  await completed.promise;
  expect(reads / NODES).toBeLessThan(20);
});
