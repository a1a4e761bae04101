import { expect, test } from "vitest";
import { secondsOf } from "../../../src/api/schema/duration.ts";

test.each([
  ["0", 0],
  ["90s", 90],
  ["1h30m", 5400],
  ["1.5h", 5400],
  ["2m0.5s", 120.5],
  ["250ms", 0.25],
  ["10us", 1e-5],
])("%s has %d seconds", (text, seconds) => {
  expect(secondsOf(text)).toBeCloseTo(seconds, 9);
});

test.each(["", "soon", "10", "-1h", "1h soon", "1d", "h"])("%j is no duration", (text) => {
  expect(secondsOf(text)).toBeNaN();
});
