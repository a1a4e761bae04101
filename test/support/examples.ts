import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/api/index.ts";

const root = join(import.meta.dirname, "../..");

/** The objects of deploy/examples, in the order in which they can be created. */
export async function exampleObjects(): Promise<KubeObject[]> {
  const names = ["cloud-profile", "project", "secret-binding", "seed", "shoot"];
  const files = await Promise.all(names.map((name) => readManifests(`deploy/examples/${name}.yaml`)));
  return files.flat();
}

async function readManifests(path: string): Promise<KubeObject[]> {
  const text = await readFile(join(root, path), "utf8");
  return parseAllDocuments(text, { version: "1.1" }).map((document) => document.toJS() as KubeObject);
}
