import type { Gates } from "../../src/admission/shoot/known-gates.ts";

/** The text of src/admission/shoot/known-gates.ts for these gates, by the minor versions of Kubernetes. */
export function renderKnownGates(known: Readonly<Record<string, Gates>>): string {
  const versions = Object.entries(known).map(([minor, gates]) => {
    const lists = (["open", "on", "off"] as const).map(
      (list) => `    ${list}: names(\`\n${wrap(gates[list])}    \`),\n`,
    );
    return `  "${minor}": {\n${lists.join("")}  },\n`;
  });
  return `${head}\n${record} {\n${versions.join("")}};\n\n${foot}`;
}

const head = `// Written by \`UPDATE_GOLDEN=1 npm test -- kube test/kube/feature-gates.test.ts\`, from what the pinned kube-apiserver says of itself.

/** The feature gates of a minor version of Kubernetes: those that a Shoot may set, and those that are on or off for good. */
export interface Gates {
  readonly open: readonly string[];
  readonly on: readonly string[];
  readonly off: readonly string[];
}
`;

const record = `/** By minor version. Each component of Kubernetes has all gates of its version, those of the others, too. */
export const knownGates: Readonly<Record<string, Gates>> =`;

const foot = `function names(text: string): readonly string[] {
  return text.trim().split(/\\s+/);
}
`;

/** Names in lines of at most 120 characters. */
function wrap(names: readonly string[]): string {
  const lines = [...names].sort().reduce<string[]>((lines, name) => {
    const last = lines.pop() ?? "";
    return [...lines, ...(last.length + name.length > 118 ? [last, `      ${name}`] : [`${last || "     "} ${name}`])];
  }, []);
  return lines.map((line) => `${line}\n`).join("");
}
