import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "./api/schema/meta.ts";
import { packageRoot } from "./package.ts";

const deploy = join(packageRoot, "deploy");

/** The objects in a YAML file below `deploy/`. */
export async function readManifest(file: string): Promise<KubeObject[]> {
  const documents = parseAllDocuments(await readFile(join(deploy, file), "utf8"));
  return "empty" in documents ? [] : documents.map((document) => document.toJS() as KubeObject);
}

/** The objects in all YAML files of a folder below `deploy/`. */
export async function readManifests(folder: string): Promise<KubeObject[]> {
  const files = (await readdir(join(deploy, folder))).filter((name) => name.endsWith(".yaml"));
  return (await Promise.all(files.map((name) => readManifest(`${folder}/${name}`)))).flat();
}
