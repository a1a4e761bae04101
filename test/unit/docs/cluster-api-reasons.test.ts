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
  ...["DNSRecord", "Established", "Seed", "Namespaced", "Opaque", "Apply", "Warning", "Surface", "Migrate", "Provide"], // Kubernetes' own, and Events'
  ...["Mutating", "Validating", "Fail", "Ignore", "None", "Equivalent"], // of webhooks
  ...["AbortError", "TimeoutError"], // of errors
]);

/** What each file says without its comments, by its path in `src/cluster-api`. */
const sources = new Map(
  readdirSync(join(projectFolder, "src/cluster-api"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => [path, readFileSync(join(projectFolder, "src/cluster-api", path), "utf8")] as const)
    .map(([path, text]) => [path, text.replaceAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm, "")]),
);

/** Of which kinds, or of which condition of a kind, the files say reasons whose paths begin so. */
const sayers: readonly (readonly [path: string, of: readonly string[]])[] = [
  ["control-plane/", ["ShootControlPlane"]],
  ["shoot-cluster/", ["ShootCluster"]],
  ["machine-pool/", ["ShootMachinePool"]],
  ["endpoint/", ["ClusterEndpoint, and its Cluster"]],
  ["endpoint-record/", ["EndpointRecord"]],
  ["endpoint/provided.ts", ["ShootControlPlane: EndpointPublished", "ShootCluster: Ready"]],
  ...["availability", "compose", "references", "row", "rows", "write"].map(
    (file) => [`shoot/${file}.ts`, ["ShootControlPlane"]] as const,
  ),
  ...["project", "garden-view"].map(
    (file) => [`shoot/${file}.ts`, [...ofShoots(), "ShootMachinePool: Ready"]] as const,
  ),
  ["shoot/refused.ts", ofShoots()],
];

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

it.each(sayers)("every reason that %s gives has a row of the kinds that say it: %s", (path, of) => {
  const texts = textsOf(path);
  expect(texts).not.toEqual([]);
  const said = wordsIn(/"([A-Z]\w+)"/g, texts).filter((word) => reasons.has(word) && !types.has(word));
  const missing = of.flatMap((place) => said.filter((word) => !isRowOf(place, word)).map((word) => `${place} ${word}`));
  expect(missing).toEqual([]);
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

/** What control planes and infrastructures say of a garden or a project that they wait for, also while they are deleted. */
function ofShoots(): readonly string[] {
  return [
    "ShootControlPlane: ShootSynced",
    "ShootControlPlane: Deleting",
    "ShootCluster: Ready",
    "ShootCluster: Deleting",
  ];
}

/** The files that a path names or holds; those that have a line of their own are not a folder's. */
function textsOf(path: string): readonly string[] {
  const isOthers = (file: string) => sayers.some(([other]) => other === file && other !== path);
  return [...sources].filter(([file]) => file.startsWith(path) && !isOthers(file)).map(([, text]) => text);
}

/** Whether a reason has a row in the table of a kind, of its condition where one is named, or in those of all kinds. */
function isRowOf(place: string, reason: string): boolean {
  const [kind = "", condition = ""] = place.split(": ");
  const tables = section.split(/^### /m);
  const has = (title: string, first: string) =>
    tables.some((one) => one.startsWith(`${title}\n`) && new RegExp(`^\\| ${first} *\\| \`${reason}\``, "m").test(one));
  return has("All of them", ".+?") || has(kind, condition === "" ? ".+?" : `\`${condition}\``);
}

const statuses: ReadonlySet<string> = new Set(["True", "False", "Unknown"]);

function wordsIn(pattern: RegExp, texts: readonly string[] = [...sources.values()]): string[] {
  return [...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, word = ""]) => word)))];
}
