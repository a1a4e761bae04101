import { afterEach, describe, expect, it } from "vitest";
import type { ShootClients } from "../../../src/activities/shoot/clients.ts";
import type { KubeObject } from "../../../src/api/schema/meta.ts";
import { Node, type Keeping, type KubeClient } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { createWatchedLists } from "../../../src/worker/watched-lists.ts";
import { createWatchedShoots } from "../../../src/worker/watched-shoots.ts";
import { eventually } from "../../support/eventually.ts";

const log = createLogger({ name: "test", level: "silent" });
const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

const node = (name: string, ready: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, uid: name, resourceVersion: `${name}-${ready}`, annotations: { long: "text" } },
  status: { conditions: [{ type: "Ready", status: ready }], images: [{ names: ["large"] }] },
});

/** An API server with nodes, which tells its watches of each that is put into it, and counts its lists. */
function createServer(nodes: KubeObject[] = []) {
  const watches = new Set<(object: KubeObject) => void>();
  const server = { lists: 0, answers: true, watches };
  const client = {
    server: "https://192.0.2.1",
    async snapshot(_: unknown, { keep = (object) => object }: Keeping<KubeObject>) {
      server.lists += 1;
      if (!server.answers) throw new Error("no answer");
      return { items: nodes.map(keep), resourceVersion: "1" };
    },
    async *watch(_: unknown, { signal }: { signal: AbortSignal }) {
      const queue: KubeObject[] = [];
      let wake = () => {};
      const put = (object: KubeObject) => {
        queue.push(object);
        wake();
      };
      watches.add(put);
      signal.addEventListener("abort", () => wake());
      while (!signal.aborted) {
        for (const object of queue.splice(0)) yield { type: "MODIFIED", object };
        await new Promise<void>((resolve) => (wake = resolve));
      }
      watches.delete(put);
    },
    get: async () => "ok",
  } as unknown as KubeClient;
  return { server, client, put: (object: KubeObject) => watches.forEach((tell) => tell(object)) };
}

const conditionsIn = (nodes: readonly KubeObject[]) =>
  nodes.map(({ status }) => (status as { conditions: { status: string }[] }).conditions[0]?.status);

describe("a list that is watched", () => {
  it("costs an API server one request, and says what has changed since", async () => {
    const { server, client, put } = createServer([node("one", "True")]);
    const lists = createWatchedLists(client, log);
    ended.push(() => lists.stop());
    for (let round = 1; round <= 5; round += 1) expect(conditionsIn(await lists.list(Node))).toEqual(["True"]);
    put(node("one", "False"));
    await eventually(async () => expect(conditionsIn(await lists.list(Node))).toEqual(["False"]));
    expect(server.lists).toBe(1);
  });

  it("keeps of an object what its health is judged by", async () => {
    const { client } = createServer([node("one", "True")]);
    const lists = createWatchedLists(client, log);
    ended.push(() => lists.stop());
    const [kept] = await lists.list(Node);
    expect(kept).toMatchObject({
      kind: "Node",
      metadata: { name: "one" },
      status: { conditions: [{ type: "Ready" }] },
    });
    expect(JSON.stringify(kept)).not.toMatch(/large|text/);
  });

  it("throws while the API server has never answered", async () => {
    const { server, client } = createServer();
    server.answers = false;
    const lists = createWatchedLists(client, log, { timeout: 20 });
    ended.push(() => lists.stop());
    await expect(lists.list(Node)).rejects.toThrow("cannot list Node");
  });
});

describe("the Shoots that a worker watches", () => {
  const watched = (clients: () => KubeClient | undefined, longestTrust = 60_000) => {
    const asked: string[] = [];
    const get = async (namespace: string) => {
      asked.push(namespace);
      const client = clients();
      if (client === undefined) throw new Error("no kubeconfig");
      return client;
    };
    const shoots = createWatchedShoots({ get } as ShootClients, log, longestTrust);
    ended.push(() => shoots.stop());
    return { asked, shoots };
  };

  it.each([
    ["once", 60_000, 1],
    ["again after a while", -1, 2],
  ])("have their kubeconfigs read %s, and the same watches go on", async (_, longestTrust, times) => {
    const { client } = createServer();
    const { asked, shoots } = watched(() => client, longestTrust);
    const first = await shoots.get("shoot--dev--one");
    expect(await shoots.get("shoot--dev--one")).toBe(first);
    expect(asked).toHaveLength(times);
  });

  it("are watched anew by a new client, and no more once they are gone", async () => {
    const [old, renewed] = [createServer(), createServer()];
    let client: KubeClient | undefined = old.client;
    const { shoots } = watched(() => client, -1);
    await (await shoots.get("shoot--dev--one"))?.list(Node);
    await eventually(() => expect(old.server.watches.size).toBe(1));
    client = renewed.client;
    await (await shoots.get("shoot--dev--one"))?.list(Node);
    await eventually(() => expect([old.server.watches.size, renewed.server.watches.size]).toEqual([0, 1]));
    shoots.forget("shoot--dev--one");
    await eventually(() => expect(renewed.server.watches.size).toBe(0));
    client = undefined;
    expect(await shoots.get("shoot--dev--one")).toBeUndefined();
  });
});
