import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configurationReference } from "../../../scripts/configuration-reference.ts";

const root = join(import.meta.dirname, "../../..");
const places = ["src", "scripts", "bin", "deploy", ".ci", "test", "bench", "docker-compose.yml"];
const declarations = ["src/variables.ts", "scripts/configuration-reference.ts"];

test("docs/configuration.md has a row for every variable that any file names", () => {
  const rows = rowsOfPage();
  const missing = places
    .flatMap(filesBelow)
    .flatMap((file) => [...namesIn(file)].filter((name) => !rows.has(name)).map((name) => `${name} (${file})`));
  expect(missing).toEqual([]);
});

test("docs/configuration.md has no row for a variable that no program reads", () => {
  const files = places
    .flatMap(filesBelow)
    .filter((file) => !declarations.includes(file) && !file.startsWith("deploy/"));
  const settings = readFileSync(join(root, "src/variables.ts"), "utf8").matchAll(
    /(PERENNIAL_\w+): \{\s+setting: "(\w+)"/g,
  );
  const settingOf = new Map([...settings].map(([, name = "", setting = ""]) => [name, setting]));
  const code = files.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
  const unread = [...rowsOfPage()].filter((name) => {
    const setting = settingOf.get(name);
    return !code.includes(name) && !(setting && new RegExp(`\\b${setting}\\b`).test(code));
  });
  expect(unread).toEqual([]);
});

function rowsOfPage(): Set<string> {
  return new Set([...configurationReference().matchAll(/^\| `(PERENNIAL_[A-Z0-9_]+)`/gm)].map(([, name = ""]) => name));
}

function namesIn(file: string): Set<string> {
  return new Set(readFileSync(join(root, file), "utf8").match(/\bPERENNIAL_[A-Z0-9]+(_[A-Z0-9]+)*\b/g));
}

function filesBelow(place: string): string[] {
  if (place.includes(".yml")) return [place];
  return readdirSync(join(root, place), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}
