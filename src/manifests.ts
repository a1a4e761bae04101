import { readdir, readFile } from "node:fs/promises";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "./api/schema/meta.ts";

const deploy = new URL("../deploy/", import.meta.url);

/** The objects in a YAML file below `deploy/`. */
export async function readManifest(file: string): Promise<KubeObject[]> {
  const documents = parseAllDocuments(await readFile(new URL(file, deploy), "utf8"));
  return "empty" in documents ? [] : documents.map((document) => document.toJS() as KubeObject);
}

/** The objects in all YAML files of a folder below `deploy/`. */
export async function readManifests(folder: string): Promise<KubeObject[]> {
  const files = (await readdir(new URL(`${folder}/`, deploy))).filter((name) => name.endsWith(".yaml"));
  return (await Promise.all(files.map((name) => readManifest(`${folder}/${name}`)))).flat();
}
