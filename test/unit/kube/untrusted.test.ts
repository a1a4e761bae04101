import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ConfigMap, createKubeClient, untrusted } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { eventually } from "../../support/eventually.ts";
import { playApiServer, type Answer } from "../../support/played-api-server.ts";
import { startSmallProcess } from "../../support/small-heap.ts";

const kinds = [
  { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true },
  { apiVersion: "v1", kind: "Secret", plural: "secrets", namespaced: true },
  { apiVersion: "v1", kind: "Node", plural: "nodes", namespaced: false },
];

async function play(answer: Answer): Promise<string> {
  const server = await playApiServer(kinds, answer);
  onTestFinished(server.close);
  return server.kubeconfig;
}

const object = (name: string, size: number) => ({
  metadata: { name, namespace: "default", uid: name, annotations: { large: "x".repeat(size) } },
});

/** A page, after which there is always another one. */
function sendPage(response: ServerResponse, count: number, size: number): void {
  const items = Array.from({ length: count }, (_, index) => object(`object-${index}`, size));
  response.end(JSON.stringify({ items, metadata: { resourceVersion: "1", continue: "more" } }));
}

/** One object after the other, for as long as the client reads. */
function sendEvents(response: ServerResponse): void {
  let count = 0;
  const send = () => {
    while (!response.destroyed) {
      const line = { type: "ADDED", object: { kind: "Node", ...object(`node-${(count += 1)}`, 100_000) } };
      if (!response.write(`${JSON.stringify(line)}\n`)) return;
    }
  };
  response.on("drain", send);
  send();
}

/** A cluster whose users have it answer without an end: with objects, with tiny values, with news. */
const hostile: Answer = ({ pathname, searchParams }, response) => {
  if (searchParams.has("watch")) return sendEvents(response);
  if (pathname.endsWith("/configmaps")) return sendPage(response, 10, 100_000);
  if (pathname.endsWith("/secrets")) return void response.end(`{"items":[${"{},".repeat(1_300_000)}{}],"metadata":{}}`);
  response.end(JSON.stringify({ items: [], metadata: { resourceVersion: "1" } }));
};

test("a process of little memory outlives whatever an untrusted cluster answers, and names the bound", async () => {
  const folder = await mkdtemp(join(tmpdir(), "perennial-untrusted-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "kubeconfig");
  await writeFile(file, await play(hostile), { mode: 0o600 });
  const small = startSmallProcess("small-reader-main.ts", { KUBECONFIG: file }, 96);
  onTestFinished(small.end);
  await eventually(() => expect(small.isRunning()).toBe(false), 15_000);
  expect(small.output()).toContain("many: Error: the cluster has more of kind ConfigMap than is read of it: 16 MB");
  expect(small.output()).toContain("dense: Error: its answer has more than 524288 values");
  expect(small.output()).toContain("watched: Error: the cluster has more of kind Node than is read of it: 16 MB");
  expect(small.output()).toContain("alive");
});

test.each([0, 1])("a list whose pages of %i objects have no end comes to one", async (count) => {
  const bounds = { ...untrusted, mostPages: 20 };
  const kubeconfig = await play((_, response) => sendPage(response, count, 1));
  const client = createKubeClient({ kubeconfig }, { log: createLogger({ name: "test", level: "silent" }), bounds });
  onTestFinished(() => client.close());
  const namesIn = async () => {
    for await (const { metadata } of client.metadata(ConfigMap)) expect(metadata.name).toBeDefined();
  };
  const sentence = "cannot list ConfigMap: the list has more than the 20 pages that are read of one";
  await expect(client.list(ConfigMap)).rejects.toThrow(sentence);
  await expect(namesIn()).rejects.toThrow(sentence);
});
