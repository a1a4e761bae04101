import { join } from "node:path";
import { parseArgs } from "node:util";
import { allPlanted, pagesOfPromises, rowsLeft, type Planted } from "./contradictions.ts";
import { copyTree, whileChanged } from "./copy.ts";
import { runTest, Stopped, type Ending, type Extent, type Outcome } from "./run-test.ts";
import type { NamedTest } from "../support/proofs.ts";

/**
 * Plants each contradiction in a copy of the tree and asks the test that its row names. Prints how each ended; exits with 1 where one
 * survives, cannot be planted or has no test, and where a row has no contradiction and is not in the list of what is left.
 */
export async function runDocs(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { only: { type: "string", multiple: true, default: [""] } },
  });
  const chosen = allPlanted().filter((planted) => values.only.some((text) => describe(planted).includes(text)));
  const verdicts = await judgeAll(chosen);
  const left = pagesOfPromises.map((page) => ({ ...page, left: rowsLeft(page) }));
  const undeclared = left.flatMap((page) => page.left.filter((row) => !page.unplanted.includes(row)));
  for (const row of undeclared) console.log(`no contradiction: ${row}`);
  for (const { page, left: rows } of left) console.log(`${page}: ${rows.length} rows without a contradiction`);
  const count = (verdict: Verdict): number => verdicts.filter((one) => one === verdict).length;
  console.log(`${count("caught")} caught, ${count("survived")} survived, ${count("no verdict")} without a verdict`);
  return chosen.length > 0 && count("caught") === chosen.length && undeclared.length === 0 ? 0 : 1;
}

type Verdict = "caught" | "survived" | "no verdict";

async function judgeAll(chosen: readonly Planted[]): Promise<Verdict[]> {
  const { folder, remove } = copyTree();
  try {
    const ask = askOnce(folder);
    const verdicts: Verdict[] = [];
    for (const planted of chosen) {
      const began = Date.now();
      const { verdict, why } = await judge(folder, planted, ask);
      const seconds = Math.round((Date.now() - began) / 1000);
      console.log(
        `${verdict.padEnd(10)} ${describe(planted)} (${seconds} s)${why === "" ? "" : `\n           ${why}`}`,
      );
      verdicts.push(verdict);
    }
    return verdicts;
  } finally {
    remove();
  }
}

/**
 * How a test has to be run to pass in the tree as it is, else how it ended: one that fails anyway says nothing about a contradiction.
 * Each is asked once.
 */
function askOnce(folder: string): (test: NamedTest) => Promise<Extent | Ending> {
  const answers = new Map<string, Extent | Ending>();
  const ask = async (test: NamedTest): Promise<Extent | Ending> => {
    if ((await runTest(folder, test, "alone")).ending === "passed") return "alone";
    const { ending } = await runTest(folder, test, "with its file");
    return ending === "passed" ? "with its file" : ending;
  };
  return async (test) => {
    const key = `${test.path}: ${test.name}`;
    const answer = answers.get(key) ?? (await ask(test));
    answers.set(key, answer);
    return answer;
  };
}

async function judge(
  folder: string,
  planted: Planted,
  ask: ReturnType<typeof askOnce>,
): Promise<{ readonly verdict: Verdict; readonly why: string }> {
  const { row, named, file } = planted;
  if (row === undefined) return { verdict: "no verdict", why: "the page has no such row" };
  if (named === undefined) return { verdict: "no verdict", why: "the row names no such test" };
  try {
    const extent = await ask(named);
    if (extent !== "alone" && extent !== "with its file")
      return { verdict: "no verdict", why: `without the contradiction the test ${extent}` };
    return verdictOf(await whileChanged(join(folder, file), planted, async () => await runTest(folder, named, extent)));
  } catch (error) {
    if (error instanceof Stopped) throw error;
    return { verdict: "no verdict", why: error instanceof Error ? error.message : String(error) };
  }
}

function verdictOf({ ending, words }: Outcome): { readonly verdict: Verdict; readonly why: string } {
  if (ending === "did not run") return { verdict: "no verdict", why: "with the contradiction the test did not run" };
  return ending === "passed"
    ? { verdict: "survived", why: "" }
    : { verdict: "caught", why: words[0]?.split("\n")[0] ?? "" };
}

function describe({ page, promise, row, named }: Planted): string {
  return `${page}: ${row?.section ?? ""}: ${promise}: ${named === undefined ? "" : `${named.path}: "${named.name}"`}`;
}
