import { beforeEach, expect, test } from "vitest";
import type { BindingMemory } from "../../../src/binding/memory.ts";
import { createBindingGuard } from "../../../src/extension/binding-guard.ts";
import { OperationRefused } from "../../../src/extension/index.ts";
import { createLogger } from "../../../src/log.ts";
import { createVirtualTime, driftingClock, type VirtualTime } from "../../support/virtual-time.ts";
import { extensionObject } from "./extension-object.ts";

const log = createLogger({ name: "test", level: "silent" });
const NOW = Date.parse("2026-11-28T12:00:00Z");
const operation = { object: extensionObject({}), cluster: undefined, type: "reconcile" as never } as const;
let time: VirtualTime;
let memories: readonly BindingMemory[] | Error;

beforeEach(() => {
  time = createVirtualTime();
});

const guard = () =>
  createBindingGuard({
    read: async () => {
      if (memories instanceof Error) throw memories;
      return await Promise.resolve(memories);
    },
    log,
    clock: driftingClock(time, 1),
    wallClock: () => NOW,
  });

const confirmedAgo = (minutes: number): BindingMemory => ({
  revision: "3-0123456789abcdef",
  confirmedAt: new Date(NOW - minutes * 60_000).toISOString(),
});

test("a cluster that Perennial has not bound refuses nothing", async () => {
  memories = [];
  (await guard().enter(operation)).release();
});

test("a process begins to act only after the cluster's binding was confirmed, and then needs no garden", async () => {
  const guarding = guard();
  memories = [confirmedAgo(6)];
  await expect(guarding.enter(operation)).rejects.toThrow(
    "the cluster may be a restored copy: nothing has confirmed its binding since 2026-11-28T11:54:00.000Z",
  );
  memories = [confirmedAgo(4)];
  (await guarding.enter(operation)).release();
  memories = [confirmedAgo(600)];
  (await guarding.enter(operation)).release();
});

test("a cluster whose worker was refused is refused, with the worker's reason", async () => {
  memories = [{ ...confirmedAgo(0), refused: "the garden names revision 9" }];
  const entered = guard().enter(operation);
  await expect(entered).rejects.toBeInstanceOf(OperationRefused);
  await expect(entered).rejects.toThrow("the garden names revision 9");
});

test("a cluster in two roles is refused when it may act in neither", async () => {
  const refused = { ...confirmedAgo(0), refused: "behind" };
  memories = [refused, confirmedAgo(1)];
  (await guard().enter(operation)).release();
  memories = [refused, refused];
  await expect(guard().enter(operation)).rejects.toThrow("behind; behind");
});

test("an operation that runs ends when the cluster is refused, and not when the binding cannot be read", async () => {
  memories = [confirmedAgo(0)];
  const permit = await guard().enter(operation);
  memories = new Error("API server is down");
  await time.run(time.now() + 120_000);
  permit.check();
  memories = [{ ...confirmedAgo(0), refused: "displaced" }];
  await time.run(time.now() + 25_000);
  expect(permit.signal.aborted).toBe(true);
  expect(() => permit.check()).toThrow("displaced");
});

test("an operation does not begin while the binding cannot be read", async () => {
  memories = new Error("API server is down");
  await expect(guard().enter(operation)).rejects.toThrow(/^cannot act for .*: API server is down$/);
});
