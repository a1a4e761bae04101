import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { resources } from "../src/api/index.ts";
import { toCustomResourceDefinition } from "../src/api/schema/crd.ts";

/** The files of deploy/crds: name to content. */
export function crdFiles(): ReadonlyMap<string, string> {
  return new Map(
    resources.map((resource) => [
      `${resource.group}_${resource.plural}.yaml`,
      // YAML 1.1 is what Kubernetes reads: there, `no` and `12:30` need quotes.
      stringify(toCustomResourceDefinition(resource), { version: "1.1", lineWidth: 120, aliasDuplicateObjects: false }),
    ]),
  );
}

if (import.meta.main) {
  const directory = join(import.meta.dirname, "../deploy/crds");
  const files = crdFiles();
  await mkdir(directory, { recursive: true });
  for (const name of await readdir(directory)) {
    if (!files.has(name)) await rm(join(directory, name));
  }
  for (const [name, content] of files) await writeFile(join(directory, name), content);
}
