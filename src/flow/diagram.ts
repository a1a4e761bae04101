import type { Flow } from "./flow.ts";

/** A flow as a Mermaid flowchart; steps that can be skipped are drawn with rounded ends. */
export function mermaid<Subject, Action>(flow: Flow<Subject, Action>): string {
  const nodes = [...flow.steps].map(([name, { when }]) =>
    when?.length ? `  ${name}([${name}])` : `  ${name}[${name}]`,
  );
  const arrows = [...flow.steps].flatMap(([name, { after = [] }]) => after.map((before) => `  ${before} --> ${name}`));
  return ["flowchart TD", ...nodes, ...arrows].join("\n");
}

/** What a row does, and where, in flows whose steps are done in several places. */
export interface Described {
  readonly does: string;
  readonly where?: string;
}

/** A flow as a Markdown table: step, what it does and, if that is said, where, what comes first, and when it is done at all. */
export function markdown<Subject, Action>(
  flow: Flow<Subject, Action>,
  describe: (action: Action) => Described,
): string {
  const described = [...flow.steps].map(([name, step]) => ({ name, ...step, ...describe(step.do) }));
  const hasPlaces = described.some(({ where }) => where !== undefined);
  const rows = described.map(({ name, does, where = "–", after = [], when = [] }) => {
    const before = after.map((step) => `\`${step}\``).join(", ") || "–";
    const conditions = when.map(({ text }) => text).join(" and ") || "always";
    return [`\`${name}\``, does, ...(hasPlaces ? [where] : []), before, conditions];
  });
  const titles = ["step", "does", ...(hasPlaces ? ["where"] : []), "after", "when"];
  return [titles, titles.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
