import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createLargeRequests } from "../../../src/admission/large-requests.ts";

test("what is held is at most as much as it may be, and what is given back can be held again", () => {
  const { hold } = createLargeRequests(10);
  const first = hold(6);
  expect(hold(5)).toBeUndefined();
  expect(hold(4)).toBeDefined();
  expect(hold(1)).toBeUndefined();
  first?.();
  expect(hold(6)).toBeDefined();
});

test("one work is done after the other, also after one that fails, and other work between them", async () => {
  const { oneByOne } = createLargeRequests(10);
  const order: string[] = [];
  const work = (name: string, fails = false) =>
    oneByOne(async () => {
      order.push(`${name} begins`);
      await Promise.resolve();
      order.push(`${name} ends`);
      if (fails) throw new Error(name);
    });
  const works = Promise.allSettled([work("a"), work("b", true), work("c")]);
  while (order.length < 2) await turn();
  order.push("other");
  await works;
  expect(order).toEqual(["a begins", "a ends", "other", "b begins", "b ends", "c begins", "c ends"]);
});
