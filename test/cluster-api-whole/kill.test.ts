import { inspect } from "node:util";
import { expect } from "vitest";
import { endpointFirst } from "../support/kills/endpoint-first.ts";
import { distinctWrites, fatesOf } from "../support/kills/fates.ts";
import { killTest, type Fate, type MortalName } from "../support/kills/lab.ts";
import { inWords, liveKilled, liveUndisturbed, type Life } from "../support/kills/life.ts";
import { managed } from "../support/kills/managed.ts";
import { record } from "../support/kills/record.ts";
import { withCredentials } from "../support/kills/with-credentials.ts";
import { seconds } from "../support/patience.ts";

/** Which lives of each scenario are lived: all, or where a slice is wanted, such as 5-12, these. */
const [from = 1, to = Infinity] = (process.env["PERENNIAL_KILL_LIVES"] ?? "")
  .split("-")
  .filter((one) => one !== "")
  .map(Number);
const isWhole = from === 1 && to === Infinity;

/** How many lives there are at once: most of each is waiting for the core manager's retries, and each feels the others' kills, too. */
const AT_ONCE = 8;

const scenarios = { managed, withCredentials, endpointFirst, record };
type ScenarioName = keyof typeof scenarios;
const names = Object.keys(scenarios) as ScenarioName[];

/** A life of each without a kill, which is lived when it is first asked for: nothing is killed then. */
const test = killTest.extend("lives", { scope: "file" }, ({ lab }) => {
  const lived = new Map<ScenarioName, Promise<Life>>();
  return (name: ScenarioName): Promise<Life> => {
    const life = lived.get(name) ?? liveUndisturbed(lab, scenarios[name], `calm-${names.indexOf(name)}`);
    lived.set(name, life);
    return life;
  };
});

/** The process dies at each of its writes; the manager, which is others' work, at every fifth. */
const matrix = (
  [
    { of: "cluster-api", every: 1 },
    { of: "manager", every: 5 },
  ] as const
).flatMap(({ of, every }) => names.map((name) => ({ of, every, name, title: scenarios[name].title })));

test.for(matrix)(
  "$title comes to the same ends, and to no second Shoot, wherever SIGKILL meets $of",
  { timeout: seconds(1800) },
  async ({ of, every, name }, { lab, lives }) => {
    const life = await lives(name);
    const begin = Date.now();
    const all = fatesOf(life, of).filter((_, index) => index % every === 0);
    const chosen = all.slice(from - 1, to);
    const prefix = `${of === "manager" ? "m" : "p"}${names.indexOf(name)}`;
    const came: Fate[] = [];
    const failures: unknown[] = [];
    await inParallel(chosen, async (fates, index) => {
      const doom = { name: `${prefix}-${String(from + index).padStart(3, "0")}`, fates, life };
      try {
        const deaths = await liveKilled(lab, scenarios[name], doom);
        came.push(...deaths);
        console.log(`${doom.name}, ${took(begin)} s: ${deaths.map(inWords).join("; ")}`);
      } catch (error) {
        failures.push(error);
        console.log(`${doom.name}, ${took(begin)} s: ${inspect(error, { depth: 4 })}`);
      }
    });
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${chosen.length} lives`);
    report(`${scenarios[name].title}, ${chosen.length} of ${all.length} lives, ${took(begin)} s`, of, came);
    expect(came.length).toBeGreaterThanOrEqual(chosen.length);
    if (isWhole && of === "cluster-api")
      expect(new Set(came.map(({ write }) => write))).toEqual(distinctWrites(life, of));
  },
);

async function inParallel<T>(items: readonly T[], work: (item: T, index: number) => Promise<void>): Promise<void> {
  const queue = [...items.entries()];
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await work(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const took = (begin: number): string => ((Date.now() - begin) / 1000).toFixed(0);

function report(what: string, of: MortalName, came: readonly Fate[]): void {
  const each = came.map((fate) => `  ${inWords(fate)}`).sort();
  console.log([`${what}: SIGKILL of ${of} ${came.length} times`, ...each].join("\n"));
}
