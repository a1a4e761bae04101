import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { clusterApiResources } from "../src/api/cluster-api/index.ts";
import { resources } from "../src/api/index.ts";
import { toCustomResourceDefinition } from "../src/api/schema/crd.ts";
import type { Resource } from "../src/api/schema/resource.ts";

/** The folders with our CustomResourceDefinitions: those of every garden, and those of management clusters of Cluster API. */
export const crdFolders = {
  "deploy/crds": resources,
  "deploy/cluster-api/crds": clusterApiResources,
} as const satisfies Readonly<Record<string, readonly Resource[]>>;

/** The files of a folder: name to content. */
export function crdFiles(folder: keyof typeof crdFolders): ReadonlyMap<string, string> {
  return new Map(
    crdFolders[folder].map((resource) => [
      `${resource.group}_${resource.plural}.yaml`,
      // YAML 1.1 is what Kubernetes reads: there, `no` and `12:30` need quotes.
      stringify(toCustomResourceDefinition(resource), { version: "1.1", lineWidth: 120, aliasDuplicateObjects: false }),
    ]),
  );
}

if (import.meta.main)
  for (const folder of Object.keys(crdFolders) as (keyof typeof crdFolders)[]) await writeFolder(folder);

async function writeFolder(folder: keyof typeof crdFolders): Promise<void> {
  const directory = join(import.meta.dirname, "..", folder);
  const files = crdFiles(folder);
  await mkdir(directory, { recursive: true });
  for (const name of await readdir(directory)) {
    if (!files.has(name)) await rm(join(directory, name));
  }
  for (const [name, content] of files) await writeFile(join(directory, name), content);
}
