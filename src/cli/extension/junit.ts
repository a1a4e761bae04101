import type { JudgedClause, Report } from "../../conformance/verify.ts";

/** A trial as JUnit's XML, as systems for continuous integration read it: a test case for each clause. */
export function renderJunit({ kind, type, clauses, timelines }: Report): string {
  const suite = `${kind}/${type}`;
  const count = (verdict: JudgedClause["verdict"]) => clauses.filter((clause) => clause.verdict === verdict).length;
  const counts = { tests: clauses.length, failures: count("failed"), skipped: count("not judged"), errors: 0 };
  const cases = clauses.map((clause) => {
    const attributes = { classname: suite, name: `${clause.id} (${clause.section}): ${clause.sentence}` };
    return `    ${element("testcase", attributes, outcomeOf(clause, timelines[clause.chapter] ?? []))}\n`;
  });
  const body = `\n  ${element("testsuite", { name: suite, ...counts }, `\n${cases.join("")}  `)}\n`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element("testsuites", {}, body)}\n`;
}

function outcomeOf({ verdict, evidence }: JudgedClause, timeline: readonly string[]): string {
  if (verdict === "not judged") return element("skipped", { message: `not judged, because ${evidence}` });
  if (verdict === "failed") return element("failure", { message: evidence }, escape(timeline.join("\n")));
  return element("system-out", {}, escape(evidence));
}

function element(name: string, attributes: Readonly<Record<string, string | number>>, content = ""): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escape(String(value))}"`);
  return `<${name}${written.join("")}>${content}</${name}>`;
}

/** What a controller writes may hold anything: characters that XML has no place for are left out. */
function escape(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
