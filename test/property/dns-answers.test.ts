import { expect, test } from "vitest";
import { fuzzDns } from "../support/dns-fuzz.ts";

/** A sample: `npm run fuzz -- dns` takes any number. */
const SAMPLE = 3_000;

test(`no answer that was changed on its way names another leader, in ${SAMPLE}, and none is read for long`, async () => {
  const { answers, refused, taken, times, failure } = await fuzzDns(SAMPLE);
  expect(failure).toBeUndefined();
  expect(answers).toBe(SAMPLE);
  expect(refused + taken).toBe(SAMPLE);
  expect(refused).toBeGreaterThan(SAMPLE / 2);
  expect(taken).toBeGreaterThan(0); // now and then nothing is changed, or nothing that counts
  expect(Math.max(...times)).toBeLessThan(200);
});
