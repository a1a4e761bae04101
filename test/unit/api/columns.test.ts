import { expect, test } from "vitest";
import { resources } from "../../../src/api/resources.ts";

test("a time that is still to come is a column of text, since kubectl shows no age of it", () => {
  const columns = resources.flatMap(({ columns = [] }) => columns);
  const future = columns.filter(({ path }) => /expir/i.test(path));
  expect(future.length).toBeGreaterThan(0);
  expect(future.filter(({ type }) => type === "date")).toEqual([]);
});
