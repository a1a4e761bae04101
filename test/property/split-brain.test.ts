import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { Schedule } from "../support/split-brain-schedule.ts";
import { describeSearch, faults, keptFile, search } from "../support/split-brain-search.ts";
import { findConflict, runModel } from "../support/split-brain.ts";
import { seconds } from "../support/patience.ts";

/** A sample: `npm run split-brain` runs 10,000 schedules, and searches for each fault anew. */
const SAMPLE = 400;

test(`no controller acts while a later leader's does, in ${SAMPLE} schedules`, { timeout: seconds(300) }, async () => {
  const seen = await search(SAMPLE);
  expect(seen.conflict).toBeUndefined();
  expect(seen.schedules).toBe(SAMPLE);
  expect(seen.handedOver).toBeGreaterThan(SAMPLE / 3);
  expect(seen.again).toBeGreaterThan(SAMPLE / 10);
  process.stdout.write(`${describeSearch(seen)}\n`);
});

describe("in a schedule that a search has found, two controllers act at once if the protocol", () => {
  test.each(Object.entries(faults))("%s", async (what, { protocol, bound }) => {
    const schedule = JSON.parse(await readFile(keptFile(what), "utf8")) as Schedule;
    expect(findConflict(await runModel(schedule, protocol))).toBeDefined();
    // The same schedule harms nothing without the fault, unless it is itself what the protocol does not promise.
    if (bound === undefined) expect(findConflict(await runModel(schedule))).toBeUndefined();
  });
});
