import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect } from "vitest";
import { createController, createReflector, type Controller, type ControllerOptions } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { installWidgets, Widget, widget } from "../support/widget.ts";

const log = createLogger({ name: "test", level: "silent" });
let controlPlane: ControlPlane;
let controller: Controller;

test.beforeAll(async ({ cluster }) => {
  controlPlane = cluster;
  await installWidgets(controlPlane.client);
});

afterEach(() => controller.stop());

function start(reconcile: ControllerOptions["reconcile"], concurrency = 4): Controller {
  controller = createController({ name: "test", reconcile, concurrency, log });
  controller.start();
  return controller;
}

test("a burst of changes becomes few runs, never two at once for a key, and the last one sees the last change", async () => {
  const { client } = controlPlane;
  const running = new Set<string>();
  const overlaps: string[] = [];
  const runs = new Map<string, number>();
  const burst = Promise.withResolvers<void>();
  start(async ({ namespace, name }) => {
    if (running.has(name)) overlaps.push(name);
    running.add(name);
    runs.set(name, (runs.get(name) ?? 0) + 1);
    const size = (await client.read(Widget, { name, namespace: namespace ?? "" }))?.spec.size;
    await burst.promise; // however slowly the changes come, they come while a run is under way
    await client.applyStatus({ ...widget("default", name), status: { ready: size === 30 } });
    running.delete(name);
  });
  const reflector = createReflector(client, Widget, {
    onEvent: ({ object }) => controller.enqueue({ namespace: "default", name: object.metadata.name }),
  });
  reflector.start();
  await reflector.synced();

  for (let size = 1; size <= 30; size++) {
    await Promise.all(["a", "b", "c"].map((name) => client.apply(widget("default", name, { size }))));
  }
  await eventually(() => ["a", "b", "c"].every((name) => reflector.get(name, "default")?.spec.size === 30));
  burst.resolve();

  await eventually(() => ["a", "b", "c"].every((name) => reflector.get(name, "default")?.status?.ready === true));
  await reflector.stop();
  expect(overlaps).toEqual([]);
  for (const count of runs.values()) expect(count).toBeLessThan(5); // with those for what it writes itself
});

test("a key that fails comes back later and later, without holding up the others", async () => {
  const times: number[] = [];
  const done: string[] = [];
  start(async ({ name }) => {
    if (name === "good") return void done.push(name);
    times.push(Date.now());
    if (times.length < 4) throw new Error("not yet");
    done.push(name);
  }, 1);
  controller.enqueue({ name: "bad" });
  controller.enqueue({ name: "good" });
  await eventually(() => done.length === 2);
  expect(done).toEqual(["good", "bad"]);
  const [first, second, third] = times.slice(1).map((time, i) => time - (times[i] ?? 0));
  expect(first).toBeGreaterThanOrEqual(195);
  expect(second).toBeGreaterThanOrEqual(395);
  expect(third).toBeGreaterThanOrEqual(795);
});

test("a key asked for while it runs runs once more, however often it was asked for", async () => {
  const gate = Promise.withResolvers<void>();
  let runs = 0;
  start(async () => {
    runs++;
    await gate.promise;
  });
  controller.enqueue({ name: "a" });
  await eventually(() => runs === 1);
  for (let i = 0; i < 5; i++) controller.enqueue({ name: "a" });
  await sleep(20);
  expect(runs).toBe(1);
  gate.resolve();
  await eventually(() => runs === 2);
  await sleep(50);
  expect(runs).toBe(2);
});

test("a key comes back after requeueAfter, and sooner when asked for", async () => {
  const times: number[] = [];
  start(async () => {
    times.push(Date.now());
    return { requeueAfter: times.length === 1 ? 100 : 60_000 };
  });
  controller.enqueue({ name: "a" });
  await eventually(() => times.length === 2);
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(95);
  controller.enqueue({ name: "a" });
  await eventually(() => times.length === 3);
});

test("as many keys run at once as allowed, and keys asked for before the start are not lost", async () => {
  let running = 0;
  let most = 0;
  let done = 0;
  controller = createController({
    name: "test",
    concurrency: 3,
    log,
    reconcile: async () => {
      most = Math.max(most, ++running);
      await sleep(10);
      running--;
      done++;
    },
  });
  for (let i = 0; i < 20; i++) controller.enqueue({ namespace: "default", name: `w${i}` });
  await sleep(20);
  expect(done).toBe(0);
  controller.start();
  await eventually(() => done === 20);
  expect(most).toBe(3);
});

test("stop waits for what runs, tells it to end, and begins nothing more", async () => {
  const events: string[] = [];
  start(async ({ name }, { signal }) => {
    events.push(`begin ${name}`);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    await sleep(20);
    events.push(`end ${name}`);
  }, 1);
  controller.enqueue({ name: "a" });
  controller.enqueue({ name: "b" });
  await eventually(() => events.length === 1);
  await controller.stop();
  expect(events).toEqual(["begin a", "end a"]);
});
