/**
 * How many times longer than on a quiet machine tests wait before they give something up, by PERENNIAL_TEST_PATIENCE; 1 unless it says
 * otherwise. All that tests wait for scales by it: their own time-outs, and what they wait for within.
 */
export const patience = readPatience(process.env["PERENNIAL_TEST_PATIENCE"] ?? "1");

/** The time-out of a test or hook that takes up to so many seconds on a quiet machine, in ms. */
export const seconds = (count: number): number => count * 1_000 * patience;

function readPatience(text: string): number {
  const factor = Number(text);
  if (factor >= 1 && factor <= 100) return factor;
  throw new Error(`PERENNIAL_TEST_PATIENCE is ${JSON.stringify(text)}: give a number from 1 to 100`);
}
