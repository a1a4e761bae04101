import { expect, it } from "vitest";
import { nanosOf, quantityOf } from "../../../src/api/schema/quantity.ts";

it.each<[string | number, bigint]>([
  ["0", 0n],
  [2, 2_000_000_000n],
  ["500m", 500_000_000n],
  ["1.5", 1_500_000_000n],
  [".5", 500_000_000n],
  ["1n", 1n],
  ["1e3", 1_000_000_000_000n],
  ["1E-3", 1_000_000n],
  ["1e-10", 1n],
  ["1.1n", 2n],
  ["1e999", 10n ** 108n],
  ["1k", 1_000_000_000_000n],
  ["1Ki", 1_024_000_000_000n],
  ["1.5Gi", 1_610_612_736_000_000_000n],
  ["1E", 1_000_000_000_000_000_000_000_000_000n],
])("%s is %d billionths", (text, nanos) => {
  expect(nanosOf(text)).toBe(nanos);
});

it.each(["", "x", "1 Gi", "-1", "1.2.3", "Gi", ".", "1e"])("%j is no quantity", (text) => {
  expect(nanosOf(text)).toBeUndefined();
});

it.each([
  ["4000Gi", "4000Gi"],
  ["1024Mi", "1Gi"],
  ["1500m", "1.5"],
  ["200", "200"],
])("%s reads as %s", (text, words) => {
  expect(quantityOf(nanosOf(text) ?? 0n)).toBe(words);
});
