import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { ConfigurationError, readConfiguration } from "../../src/gardenadm/configuration/configuration.ts";
import { exampleConfiguration } from "../support/configuration.ts";
import { mutate } from "./mutate.ts";
import { createChance, type Chance } from "./random.ts";
import type { Finding, Tally } from "./report.ts";

/** In the Secret of each configuration: no fault may quote it. */
const secret = "b3BlbiBzZXNhbWU=";

/**
 * Mutated configuration folders: objects changed, doubled, left out, moved into other files and folders, and broken text. Each is
 * read, or refused with a sentence for each fault; no file is written.
 */
export async function fuzzConfigurations({ seed, count }: { seed: number; count: number }): Promise<Tally[]> {
  const chance = createChance(seed);
  const folder = await mkdtemp(join(tmpdir(), "perennial-fuzz-"));
  const findings: Finding[] = [];
  const times: number[] = [];
  const outcomes = { read: 0, refused: 0 };
  const objects = exampleConfiguration(secret);
  try {
    for (let n = 0; n < count; n += 1) {
      const files = layOut(objects, chance);
      await write(folder, files);
      const begun = performance.now();
      const { outcome, said } = await read(folder);
      times.push(performance.now() - begun);
      outcomes[outcome] += 1;
      const fault = faultOf(said) ?? ((await sameFiles(folder, files)) ? undefined : "files were written");
      if (fault !== undefined) findings.push({ case: n, input: JSON.stringify(files), outcome: fault });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return [{ what: "configuration", count, outcomes, times, findings }];
}

const hidden = [".hidden/N.yaml", ".N.yaml"] as const;
const shown = ["N.yaml", "all.yml", "deep/er/N.json"] as const;

type Files = Readonly<Record<string, string>>;

/** The objects, most of them as they are, in one file each or several in one. */
function layOut(objects: readonly object[], chance: Chance): Files {
  const files: Record<string, string> = {};
  for (const [index, object] of objects.entries()) {
    if (chance.below(60) === 0) continue;
    const changed = chance.below(6) === 0 ? mutate(object, chance) : object;
    const file = chance.oneOf(chance.below(40) === 0 ? hidden : shown).replace("N", String(index));
    const text = file.endsWith(".json") ? JSON.stringify(changed) : `---\n${stringify(changed)}`;
    files[file] = (files[file] ?? "") + (chance.below(40) === 0 ? text + text : text);
  }
  return chance.below(4) === 0 ? broken(files, chance) : files;
}

const bad = [
  "",
  "\t",
  "{",
  "&a *a",
  "!!x",
  "\0",
  "\n---\n",
  "[".repeat(20_000),
  "a: &a [*a]",
  "<<: *b",
  "__proto__: 1\n",
] as const;

function broken(files: Files, chance: Chance): Files {
  const [[file, text] = ["empty.yaml", ""]] = Object.entries(files);
  const at = chance.below(text.length + 1);

  return { ...files, [file]: text.slice(0, at) + chance.oneOf(bad) + text.slice(at + 1) };
}

async function write(folder: string, files: Files): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  await mkdir(folder, { recursive: true });
}

async function read(folder: string): Promise<{ outcome: "read" | "refused"; said: string | undefined }> {
  try {
    const { objects } = await readConfiguration(folder);
    const isWhole = objects.length > 0 && objects.every(({ kind, metadata }) => kind !== "" && metadata.name !== "");
    return { outcome: "read", said: isWhole ? undefined : "no proper error: was read, but is not whole" };
  } catch (error) {
    const isProper = error instanceof ConfigurationError && error.faults.every(({ sentence }) => sentence.length > 20);
    return { outcome: "refused", said: isProper ? error.message : `no proper error: ${String(error)}` };
  }
}

function faultOf(said: string | undefined): string | undefined {
  if (said === undefined) return undefined;
  const isBad = said.startsWith("no proper") || said.includes(secret) || said.includes("    at ");
  return isBad ? said : undefined;
}

async function sameFiles(folder: string, files: Files): Promise<boolean> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(
    paths.map(async (path) => (await readFile(path, "utf8")) === files[path.slice(folder.length + 1)]),
  );
  return paths.length === Object.keys(files).length && texts.every(Boolean);
}
