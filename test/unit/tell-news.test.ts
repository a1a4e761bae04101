import { expect, test } from "vitest";
import { tellNews } from "../../src/tell-news.ts";

test("what was told last is not told again, and what was told before that is", () => {
  const told: string[] = [];
  const tell = tellNews((sentence) => told.push(sentence));
  for (const sentence of ["a pod is missing", "a pod is missing", "it does not answer", "a pod is missing"])
    tell(sentence);
  expect(told).toEqual(["a pod is missing", "it does not answer", "a pod is missing"]);
});
