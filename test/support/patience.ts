/** The factor from PERENNIAL_TEST_PATIENCE by which all timeouts of the tests are multiplied; defaults to 1. */
export const patience = readPatience(process.env["PERENNIAL_TEST_PATIENCE"] ?? "1");

/** Returns a timeout in ms for a test or hook that takes up to `count` seconds on an idle machine. */
export const seconds = (count: number): number => count * 1_000 * patience;

function readPatience(text: string): number {
  const factor = Number(text);
  if (factor >= 1 && factor <= 100) return factor;
  throw new Error(`PERENNIAL_TEST_PATIENCE is ${JSON.stringify(text)}: set a number from 1 to 100`);
}
