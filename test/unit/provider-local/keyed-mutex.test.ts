import { expect, test } from "vitest";
import { createKeyedMutex } from "../../../src/provider-local/keyed-mutex.ts";

test("work for one key runs one after the other, also after a failure; other keys don't wait", async () => {
  const mutex = createKeyedMutex();
  const events: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = mutex.runExclusive("a", async () => {
    events.push("first");
    await gate.promise;
    throw new Error("failed");
  });
  const second = mutex.runExclusive("a", async () => void events.push("second"));
  await mutex.runExclusive("b", async () => void events.push("other"));
  expect(events).toEqual(["first", "other"]);
  expect(mutex.isLocked("a")).toBe(true);
  gate.resolve();
  await expect(first).rejects.toThrow("failed");
  await second;
  expect(events).toEqual(["first", "other", "second"]);
  expect(mutex.isLocked("a")).toBe(false);
});
