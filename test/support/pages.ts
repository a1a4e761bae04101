import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The project's folder; paths of pages begin here. */
export const projectFolder = join(import.meta.dirname, "../..");

/** Every page of the project: the three at the top, and all that `docs` holds. */
export const pages: readonly string[] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", ...pagesIn("docs")];

/** Every page in a folder and the folders below it, in alphabetical order. */
export function pagesIn(folder: string): string[] {
  const entries = readdirSync(join(projectFolder, folder), { recursive: true, encoding: "utf8" });
  return entries
    .filter((path) => path.endsWith(".md"))
    .map((path) => `${folder}/${path}`)
    .toSorted();
}

/** The text of a page. */
export const readPage = (page: string): string => readFileSync(join(projectFolder, page), "utf8");

/** A page's text without its code: what is quoted there follows rules of its own. */
export function proseOf(page: string): string {
  return withoutFences(readPage(page)).replaceAll(/`[^`]*`/g, "");
}

/** A heading: how many `#` it has, and its text as written. */
export interface Heading {
  readonly level: number;
  readonly text: string;
}

/** The headings of a page, in order. */
export function headingsOf(page: string): Heading[] {
  const lines = withoutFences(readPage(page)).matchAll(/^(#+) (.+)$/gm);
  return [...lines].map(([, marks = "", text = ""]) => ({ level: marks.length, text }));
}

/** The first block of commands below a heading of a page. Throws when there is none. */
export function commandsBelow(page: string, heading: string): string {
  const [commands] = commandBlocksBelow(page, heading);
  if (commands === undefined) throw new Error(`${page} has no commands below "${heading}"`);
  return commands;
}

/** Every block of commands below a heading of a page, in order. */
export function commandBlocksBelow(page: string, heading: string): string[] {
  const [, rest = ""] = readPage(page).split(`\n## ${heading}\n`);
  const [section = ""] = rest.split(/^## /m);
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands = ""]) => commands);
}

function withoutFences(text: string): string {
  return text.replaceAll(/^( *)```.*?^\1```$/gms, "");
}
