/** Writes every generated file of the repository; with `--check` it only says which of them are out of date. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { perennial } from "../src/cli/perennial.ts";
import { registry } from "../src/cli/registry.ts";
import { gardenadm } from "../src/gardenadm/gardenadm.ts";
import { apiReference } from "./api-reference.ts";
import { cliReference } from "./cli-reference.ts";
import { configurationReference } from "./configuration-reference.ts";
import { flowReference } from "./flow-reference.ts";
import { dnsRecordsFile, reservedKeysFile } from "./garden-policies.ts";
import { crdFiles, crdFolders } from "./generate-crds.ts";
import { verdictReference } from "./verdict-reference.ts";

const root = join(import.meta.dirname, "..");
const folders = Object.keys(crdFolders) as (keyof typeof crdFolders)[];

const files = await generatedFiles();
const stale = process.argv.includes("--check") ? await findStale(files) : await write(files);
if (stale.length > 0) {
  console.error(`out of date: ${stale.join(", ")}: run \`npm run generate\` and commit what it writes`);
  process.exitCode = 1;
}

async function generatedFiles(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ...folders.flatMap((folder) =>
      [...crdFiles(folder)].map(([name, content]) => [join(folder, name), content] as const),
    ),
    ["deploy/garden/dns-records.yaml", dnsRecordsFile()],
    ["deploy/garden/reserved-keys.yaml", reservedKeysFile()],
    ["docs/api.md", apiReference()],
    [
      "docs/cli.md",
      await cliReference({ ...perennial, groups: registry }, { title: "The command line", folder: "src/cli" }),
    ],
    ["docs/gardenadm.md", await cliReference(gardenadm, { title: "gardenadm", folder: "src/gardenadm" })],
    ["docs/configuration.md", configurationReference()],
    ["docs/flows.md", flowReference()],
    ["docs/verified.md", verdictReference()],
  ]);
}

async function findStale(wanted: ReadonlyMap<string, string>): Promise<string[]> {
  const stale = await leftoverCrds(wanted);
  for (const [path, content] of wanted) {
    const found = await readFile(join(root, path), "utf8").catch(() => undefined);
    if (found !== content) stale.push(path);
  }
  return stale;
}

async function write(wanted: ReadonlyMap<string, string>): Promise<[]> {
  for (const path of await leftoverCrds(wanted)) await rm(join(root, path));
  for (const [path, content] of wanted) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  return [];
}

/** Files of resources that are gone. */
async function leftoverCrds(wanted: ReadonlyMap<string, string>): Promise<string[]> {
  const found = folders.map(async (folder) => {
    const names = await readdir(join(root, folder)).catch(() => []);
    return names.map((name) => join(folder, name));
  });
  return (await Promise.all(found)).flat().filter((path) => !wanted.has(path));
}
