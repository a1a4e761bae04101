import { expect, test } from "vitest";
import type { Key } from "../../../src/api/schema/kind.ts";
import { createController } from "../../../src/kube/index.ts";
import { createFairQueue, idOf } from "../../../src/kube/fair-queue.ts";
import { createLogger } from "../../../src/log.ts";
import { eventually } from "../../support/eventually.ts";

const any = () => true;
const numbered = (namespace: string, count: number): Key[] =>
  Array.from({ length: count }, (_, at) => ({ namespace, name: `${at}` }));

function drain(queue: ReturnType<typeof createFairQueue>, mayTake: (id: string) => boolean = any): string[] {
  const taken: string[] = [];
  for (let key = queue.take(mayTake); key !== undefined; key = queue.take(mayTake)) taken.push(idOf(key));
  return taken;
}

test("a thousand keys of one namespace delay those of others by one each", () => {
  const queue = createFairQueue();
  numbered("a", 1_000).forEach(queue.add);
  numbered("b", 2).forEach(queue.add);
  queue.add({ name: "project" });
  queue.add({ name: "another" });
  expect(queue.size()).toBe(1_004);
  expect(drain(queue).slice(0, 8)).toEqual(["a/0", "b/0", "project", "another", "a/1", "b/1", "a/2", "a/3"]);
  expect(queue.size()).toBe(0);
});

test("a key that is added again keeps its place and is taken once; one that may not be taken waits, and delays none", () => {
  const queue = createFairQueue();
  numbered("a", 3).forEach(queue.add);
  queue.add({ namespace: "a", name: "0" });
  expect(queue.size()).toBe(3);
  expect(drain(queue, (id) => id !== "a/0")).toEqual(["a/1", "a/2"]);
  expect(queue.size()).toBe(1);
  expect(drain(queue)).toEqual(["a/0"]);
  queue.add({ name: "gone" });
  queue.clear();
  expect([queue.size(), drain(queue)]).toEqual([0, []]);
});

test("a controller gives each namespace its turn, also one that comes while another has thousands of keys", async () => {
  const done: string[] = [];
  const log = createLogger({ name: "test", level: "silent" });
  const controller = createController({
    name: "test",
    log,
    concurrency: 1,
    async reconcile(key) {
      done.push(idOf(key));
      if (done.length === 5) controller.enqueue({ namespace: "b", name: "late" });
    },
  });
  numbered("a", 2_000).forEach(controller.enqueue);
  controller.start();
  await eventually(() => expect(done).toHaveLength(2_001));
  await controller.stop();
  expect(done.indexOf("b/late")).toBeLessThan(7);
});
