import type { JudgedClause, Report } from "../../conformance/verify.ts";
import { paint, type Tone } from "../display/style.ts";
import type { Output } from "../display/terminal.ts";
import { wrap } from "../display/wrap.ts";

/** A trial as text: the sums, then of each clause what it says, what was found, and what shows it. */
export function renderReport(out: Output, { kind, type, clauses, left }: Report): string {
  const count = (verdict: JudgedClause["verdict"]) => clauses.filter((clause) => clause.verdict === verdict).length;
  const sums = `${count("passed")} passed, ${count("failed")} failed, ${count("not judged")} not judged`;
  return [
    `${paint(out, "strong", `${kind} of type ${type}`)}: ${sums}`,
    ...clauses.map((clause) => `\n${renderClause(out, clause)}`),
    ...left.map((what) => `\n${paint(out, "bad", "left behind")} ${what}`),
    "",
  ].join("\n");
}

function renderClause(out: Output, { id, section, sentence, verdict, evidence }: JudgedClause): string {
  const found = verdict === "not judged" ? `not judged, because ${evidence}` : `${verdict}: ${evidence}`;
  return [
    wrap(`${paint(out, tones[verdict], marks[verdict])} ${id} (${section}): ${sentence}`, out.width, 2),
    wrap(`  ${found}`, out.width, 4),
  ].join("\n");
}

const tones: Readonly<Record<JudgedClause["verdict"], Tone>> = { passed: "good", failed: "bad", "not judged": "quiet" };

const marks: Readonly<Record<JudgedClause["verdict"], string>> = { passed: "+", failed: "!", "not judged": "-" };
