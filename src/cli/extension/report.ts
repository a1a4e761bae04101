import type { SharedCause } from "../../conformance/shared-cause.ts";
import type { JudgedClause, Report } from "../../conformance/verify.ts";
import { paint } from "../display/style.ts";
import type { Tone } from "../display/tones.ts";
import type { Output } from "../display/terminal.ts";
import { wrap } from "../display/wrap.ts";

/** A trial as text: the sums, what many clauses share, of each clause what was found and by what, and how to clear what is left. */
export function renderReport(out: Output, { kind, type, clauses, left, clearing, cause }: Report): string {
  const count = (verdict: JudgedClause["verdict"]) => clauses.filter((clause) => clause.verdict === verdict).length;
  const sums = `${count("passed")} passed, ${count("failed")} failed, ${count("not judged")} not judged`;
  return [
    `${paint(out, "strong", `${kind} of type ${type}`)}: ${sums}`,
    ...(cause ? [`\n${renderCause(out, cause)}`] : []),
    ...clauses.map((clause) => `\n${renderClause(out, clause, cause)}`),
    ...left.map((what) => `\n${paint(out, "bad", "left behind")} ${what}`),
    ...(clearing.length > 0 ? [`\n${wrap(HOW_TO_CLEAR, out.width)}\n`, ...clearing] : []),
    "",
  ].join("\n");
}

const HOW_TO_CLEAR =
  "To clear it, mend what the controller reports: it may end the deletion then. Or look whether something exists that the object stands for, and run in that cluster:";

function renderCause(out: Output, { obstacle, clauses }: SharedCause): string {
  const headline = paint(out, "bad", `One cause keeps ${clauses.length} clauses from being judged:`);
  return [wrap(`${headline} ${obstacle}`, out.width, 2), wrap(`  ${remedyFor(obstacle)}`, out.width, 4)].join("\n");
}

/** Which option gives the controller what it misses, as far as its words tell. */
function remedyFor(obstacle: string): string {
  if (/not found|missing|no such|does not exist/i.test(obstacle))
    return "Perhaps the controller looks for something in the Shoot's namespace: --objects FILE brings it.";
  if (/^its controller has not/.test(obstacle))
    return "Perhaps no controller for the type runs in this cluster, or it does not look at this namespace.";
  return "Perhaps the object is not one that the controller can make: --spec FILE and --provider-config FILE say more of it.";
}

function renderClause(out: Output, clause: JudgedClause, cause: SharedCause | undefined): string {
  const { id, section, sentence, verdict } = clause;
  return [
    wrap(`${paint(out, tones[verdict], marks[verdict])} ${id} (${section}): ${sentence}`, out.width, 2),
    wrap(`  ${findingOf(clause, cause)}`, out.width, 4),
  ].join("\n");
}

function findingOf({ id, verdict, evidence }: JudgedClause, cause: SharedCause | undefined): string {
  if (cause?.clauses.includes(id) === true) return "not judged, for the cause above";
  if (verdict === "not judged") return `not judged, because ${evidence}`;
  return `${verdict}: ${cause ? evidence.replaceAll(cause.obstacle, "the cause above") : evidence}`;
}

const tones: Readonly<Record<JudgedClause["verdict"], Tone>> = { passed: "good", failed: "bad", "not judged": "quiet" };

const marks: Readonly<Record<JudgedClause["verdict"], string>> = { passed: "+", failed: "!", "not judged": "-" };
