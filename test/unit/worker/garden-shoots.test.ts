import { setImmediate } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { toNamedShoot } from "../../../src/activities/shoot/garden-shoots.ts";
import { Shoot } from "../../../src/api/index.ts";
import { KubeError, typeMeta, type KubeClient } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { awaitFirstLists } from "../../../src/worker/first-lists.ts";
import { createGardenShoots } from "../../../src/worker/garden-shoots.ts";

const log = createLogger({ name: "test", level: "silent" });
const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

const shoot = (name: string, { domain, uid = `uid-${name}` }: { domain?: string; uid?: string } = {}): Shoot =>
  ({
    ...typeMeta(Shoot),
    metadata: { namespace: "garden-dev", name, uid, resourceVersion: `${name} ${uid} ${domain}` },
    spec: domain === undefined ? {} : { dns: { domain } },
  }) as Shoot;

/** A garden that sends its watches what a test puts into it. */
function createGarden(...listed: Shoot[]) {
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const queue: Shoot[] = [];
  let wake = () => {};
  const client = {
    server: "https://192.0.2.1",
    snapshot: async () => ({ items: listed.map((one) => toNamedShoot(one)), resourceVersion: "1" }),
    async *watch(_: unknown, { signal }: { signal: AbortSignal }) {
      signal.addEventListener("abort", () => (close(), wake()));
      while (!signal.aborted) {
        for (const object of queue.splice(0)) yield { type: "MODIFIED", object };
        await Promise.race([closed, new Promise<void>((resolve) => (wake = resolve))]);
      }
    },
  } as unknown as KubeClient;
  const put = (...objects: Shoot[]) => (queue.push(...objects), wake());
  return { client, put };
}

async function follow(client: KubeClient, timeout?: number) {
  const shoots = createGardenShoots(client, log, timeout === undefined ? {} : { timeout });
  ended.push(shoots.stop);
  shoots.start();
  await shoots.synced();
  return shoots;
}

const namesOf = (found: readonly { readonly metadata: { readonly name: string } }[]) =>
  found.map(({ metadata }) => metadata.name);

test("a Shoot is judged once the watch has reported it, with all that were written before it", async () => {
  const { client, put } = createGarden(shoot("first"));
  const shoots = await follow(client);
  let found: string[] | undefined;
  const asked = shoots.asOf(shoot("late")).then((all) => (found = namesOf(all)));
  await setImmediate();
  put(shoot("between"));
  await setImmediate();
  expect(found).toBeUndefined();
  put(shoot("late"));
  await asked;
  expect(found).toEqual(["first", "between", "late"]);
});

test("a Shoot that got its domain, or its name, a moment ago is not judged by what was known before", async () => {
  const { client, put } = createGarden(shoot("one"), shoot("two", { uid: "before" }));
  const shoots = await follow(client);
  let count = 0;
  const asked = [shoot("one", { domain: "one.example.com" }), shoot("two")].map((own) =>
    shoots.asOf(own).then(() => (count += 1)),
  );
  await setImmediate();
  expect(count).toBe(0);
  put(shoot("one", { domain: "one.example.com" }), shoot("two"));
  await Promise.all(asked);
});

test("a Shoot that the watch does not report is not judged, and the error names it", async () => {
  const { client } = createGarden();
  const shoots = await follow(client, 1);
  await expect(shoots.asOf(shoot("one"))).rejects.toThrow(
    "cannot compare Shoot garden-dev/one with the garden's other Shoots: the watch of Shoots has not reported it within",
  );
});

test("of a Shoot with hundreds of kilobytes for its provider, a few hundred bytes are kept", async () => {
  const large = "x".repeat(344_000);
  const own = shoot("one", { domain: "one.example.com" });
  const annotations = { large };
  const spec = { ...own.spec, provider: { type: large, infrastructureConfig: { large } } };
  const kept = toNamedShoot({ ...own, metadata: { ...own.metadata, annotations, labels: { large } }, spec });
  expect(JSON.stringify(kept).length).toBeLessThan(400);
});

test("a worker does not wait in silence for a list that is refused: its error says what, and why", async () => {
  const refusal = new KubeError("cannot list Shoots: forbidden", {
    status: 403,
    reason: "Forbidden",
    retryable: false,
  });
  const { client } = createGarden();
  const shoots = createGardenShoots({ ...client, snapshot: () => Promise.reject(refusal) }, log);
  ended.push(shoots.stop);
  shoots.start();
  await setImmediate();
  await expect(awaitFirstLists({ Shoots: shoots }, 1)).rejects.toThrow(
    /^cannot take work without the garden's Shoots, .*: cannot list Shoots: forbidden; check that/,
  );
});
