import type { Flow } from "./flow.ts";

/** A flow as a Mermaid flowchart; steps that can be skipped are drawn with rounded ends. */
export function mermaid<Subject, Action>(flow: Flow<Subject, Action>): string {
  const nodes = [...flow.steps].map(([name, { when }]) =>
    when?.length ? `  ${name}([${name}])` : `  ${name}[${name}]`,
  );
  const arrows = [...flow.steps].flatMap(([name, { after = [] }]) => after.map((before) => `  ${before} --> ${name}`));
  return ["flowchart TD", ...nodes, ...arrows].join("\n");
}

/** A flow as a Markdown table: step, what it does and where, what comes first, and when it is done at all. */
export function markdown<Subject, Action>(
  flow: Flow<Subject, Action>,
  describe: (action: Action) => { readonly does: string; readonly where: string },
): string {
  const rows = [...flow.steps].map(([name, { do: action, after = [], when = [] }]) => {
    const { does, where } = describe(action);
    const before = after.map((step) => `\`${step}\``).join(", ") || "–";
    const conditions = when.map(({ text }) => text).join(" and ") || "always";
    return `| \`${name}\` | ${does} | ${where} | ${before} | ${conditions} |`;
  });
  return ["| step | does | where | after | when |", "| --- | --- | --- | --- | --- |", ...rows].join("\n");
}
