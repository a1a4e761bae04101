import { expect, test } from "vitest";
import { createTurns } from "../../../src/provider-local/turns.ts";

test("work for one key runs one after the other, also after a failure; other keys don't wait", async () => {
  const turns = createTurns();
  const events: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = turns.take("a", async () => {
    events.push("first");
    await gate.promise;
    throw new Error("failed");
  });
  const second = turns.take("a", async () => void events.push("second"));
  await turns.take("b", async () => void events.push("other"));
  expect(events).toEqual(["first", "other"]);
  expect(turns.isTaken("a")).toBe(true);
  gate.resolve();
  await expect(first).rejects.toThrow("failed");
  await second;
  expect(events).toEqual(["first", "other", "second"]);
  expect(turns.isTaken("a")).toBe(false);
});
