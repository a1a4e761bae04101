import { unitCommand } from "../../src/components/command-line.ts";
import { expandCommand, parseUnit } from "../../src/local/machine/unit.ts";
import { hostileWords } from "../support/hostile-words.ts";
import { createChance, type Chance } from "./random.ts";
import type { Finding, Tally } from "./report.ts";

/**
 * Flags of many odd words, written into a unit and read by the machine that starts it. What comes out has to be what went
 * in: as many words, each the same. Or nothing is written at all.
 */
export async function fuzzUserData({ seed, count }: { seed: number; count: number }): Promise<Tally[]> {
  const chance = createChance(seed);
  const findings: Finding[] = [];
  const times: number[] = [];
  const outcomes = { written: 0, refused: 0 };
  for (let n = 0; n < count; n += 1) {
    const flags = Object.fromEntries(
      Array.from({ length: 1 + chance.below(5) }, (_, f) => [`flag-${f}`, oddText(chance)]),
    );
    const wanted = ["/bin/program", ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)];
    const begun = performance.now();
    try {
      const command = unitCommand("/bin/program", flags);
      outcomes.written += 1;
      const unit = parseUnit("a.service", `[Service]\nExecStart=${command}\nRestart=always\n`);
      const read = expandCommand(unit.start, { HOME: "/root" });
      const isSame = JSON.stringify(read) === JSON.stringify(wanted) && unit.startPre.length === 0;
      if (!isSame)
        findings.push({ case: n, input: JSON.stringify(wanted), outcome: `was read as ${JSON.stringify(read)}` });
    } catch (error) {
      outcomes.refused += 1;
      if (!String(error).includes("control character"))
        findings.push({ case: n, input: JSON.stringify(wanted), outcome: String(error) });
    }
    times.push(performance.now() - begun);
  }
  return [{ what: "user data", count, outcomes, times, findings }];
}

/** Hostile words in a row, and characters of any kind between them. */
function oddText(chance: Chance): string {
  const part = (): string =>
    chance.below(2) === 0
      ? (hostileWords[chance.below(hostileWords.length)] ?? "")
      : String.fromCodePoint(32 + chance.below(chance.below(2) === 0 ? 95 : 0xd000));
  return Array.from({ length: chance.below(6) }, part).join("");
}
