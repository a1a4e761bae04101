import { expect, test } from "vitest";
import { copyFaults, findCopyFault, searchCopies } from "../support/copies-model.ts";
import { seconds } from "../support/patience.ts";

/** A sample: `npm run split-brain` runs thousands. */
const SAMPLE = 40;

test(
  `a restored copy of a seed or a garden acts beside the original in none of ${SAMPLE} schedules`,
  { timeout: seconds(120) },
  async () => {
    const seen = await searchCopies(SAMPLE);
    expect(seen.conflict).toBeUndefined();
    expect(seen.schedules).toBe(SAMPLE);
    expect(seen.byCopies).toBeGreaterThan(0);
  },
);

test.each(Object.entries(copyFaults))(
  "two copies act at once if the protocol %s",
  { timeout: seconds(120) },
  async (_what, fault) => {
    expect(await findCopyFault(fault, SAMPLE, 1)).toBeDefined();
  },
);
