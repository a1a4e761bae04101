import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectFolder, readPage } from "../../support/pages.ts";

/** Which condition, or event, may have which reason, as docs/cluster-api.md has it. */
const [, section = ""] = readPage("docs/cluster-api.md").split("## What conditions say, and what helps\n");
const rows = [...(section.split(/^## /m)[0] ?? "").matchAll(/^\| (.+?) +\| `(\w+)` +\| (.+?) +\| (.+?) +\|$/gm)];
const reasons = new Set(rows.map(([, , reason]) => reason));
const types = new Set(rows.flatMap(([, condition = ""]) => /`(.+?)`/.exec(condition)?.[1] ?? []));

/** Words of the source that begin like a reason and are none: types and statuses of conditions aside. */
const others: ReadonlySet<string> = new Set([
  ...["ExternalControlPlaneEndpoint", "Infrastructure", "Delete", "Orphan"], // what users write
  ...["APIServerAvailable", "ControlPlaneHealthy", "Progressing", "Create", "Pending", "Succeeded"], // what Shoots say
  ...["InternalError", "InternalIP", "InternalDNS", "ExternalIP", "ExternalDNS"], // what core says
  ...["DNSRecord", "Seed", "Namespaced", "Opaque", "Apply", "Warning", "Surface", "Migrate", "Provide"], // Kubernetes' own, and Events'
  ...["Mutating", "Validating", "Fail", "Ignore", "None", "Equivalent"], // of webhooks
  ...["AbortError", "TimeoutError"], // of errors
]);

const sources = readdirSync(join(projectFolder, "src/cluster-api"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => readFileSync(join(projectFolder, "src/cluster-api", path), "utf8"))
  .map((text) => text.replaceAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm, ""));

it("every reason that the source gives has a row that says what it means and what helps", () => {
  const words = wordsIn(/"([A-Z][A-Za-z]*[a-z][A-Za-z]*)"/g);
  expect(reasons.size).toBeGreaterThan(50);
  expect(words.filter((word) => ![reasons, types, others, statuses].some((set) => set.has(word)))).toEqual([]);
  expect(wordsIn(/\breason: "(\w+)"/g).filter((word) => !reasons.has(word))).toEqual([]);
});

it("every row is of a reason and of a condition that the source has", () => {
  const words = new Set(wordsIn(/"([\w./]+)"/g));
  const isKnown = (word: string): boolean => words.has(word) || word === "perennial.dev/EndpointReady";
  expect([...reasons].filter((reason) => reason !== undefined && !isKnown(reason))).toEqual([]);
  expect([...types].filter((type) => !isKnown(type))).toEqual([]);
});

it("every condition that the source writes has rows", () => {
  const written = wordsIn(/\btype(?::| =) "([A-Z]\w+)"/g).filter((type) => !others.has(type));
  expect(written.filter((type) => !types.has(type))).toEqual([]);
});

it("no reason of a condition has two rows", () => {
  const tables = section.split(/^### /m);
  for (const table of tables) {
    const keys = [...table.matchAll(/^\| (.+?) +\| `(\w+)` /gm)].map(
      ([, condition, reason]) => `${condition} ${reason}`,
    );
    expect(keys).toEqual([...new Set(keys)]);
  }
});

const statuses: ReadonlySet<string> = new Set(["True", "False", "Unknown"]);

function wordsIn(pattern: RegExp): string[] {
  return [...new Set(sources.flatMap((text) => [...text.matchAll(pattern)].map(([, word = ""]) => word)))];
}
