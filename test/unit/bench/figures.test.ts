import { expect, test } from "vitest";
import { missingFigures } from "../../../bench/bench.ts";

test("a figure that did not come out is named by its group", () => {
  const figures = {
    flow: { own: [1_140, 1_150], ratio: NaN },
    waiting: { shoots: 20, single: { woken: { p50: 4, p95: undefined } }, memory: [180, -1] },
    move: {},
  };
  expect(missingFigures(figures)).toEqual(["flow.ratio", "waiting.single.woken.p95", "waiting.memory.1", "move"]);
});

test("no figure is missing where each is a number, zero included", () => {
  expect(missingFigures({ flow: { own: [1_140], polling: 0 } })).toEqual([]);
});
