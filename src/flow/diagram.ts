import type { Flow } from "./flow.ts";

/** A flow as a Mermaid flowchart; steps that can be skipped are drawn with rounded ends. */
export function mermaid<Subject>(flow: Flow<Subject>): string {
  const nodes = [...flow.steps].map(([name, { when }]) =>
    when?.length ? `  ${name}([${name}])` : `  ${name}[${name}]`,
  );
  const arrows = [...flow.steps].flatMap(([name, { after = [] }]) => after.map((before) => `  ${before} --> ${name}`));
  return ["flowchart TD", ...nodes, ...arrows].join("\n");
}

/** A flow as a Markdown table: step, what comes first, and when it is done at all. */
export function markdown<Subject>(flow: Flow<Subject>): string {
  const rows = [...flow.steps].map(([name, { after = [], when = [] }]) => {
    const before = after.map((step) => `\`${step}\``).join(", ") || "–";
    return `| \`${name}\` | ${before} | ${when.map((condition) => condition.text).join(" and ") || "always"} |`;
  });
  return ["| step | after | when |", "| --- | --- | --- |", ...rows].join("\n");
}
