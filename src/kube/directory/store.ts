import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { TypeRef } from "../../api/schema/kind.ts";
import { isNamedObject, type KubeObject } from "../../api/schema/meta.ts";
import { parseJson, parseYaml } from "../../parsing.ts";
import type { ObjectRef } from "../path.ts";
import { entriesIn, readIfPresent, removeDrafts, removeDurably, writeDurably } from "./files.ts";
import { CLUSTER_FOLDER, fileOf, folderOf } from "./places.ts";
import type { Call } from "./refusals.ts";
import { renderYaml } from "../../yaml.ts";

/** The objects of a directory, one file each. What has been saved is on the disk. */
export interface ObjectStore {
  /** Runs a piece of work when all that came before has ended: nothing else of this process is done meanwhile. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  load(ref: ObjectRef, call: Call): Promise<KubeObject | undefined>;
  /** By namespace and name. */
  loadAll(type: TypeRef, namespace: string | undefined, call: Call): Promise<KubeObject[]>;
  /** The objects of all kinds in a namespace, or everywhere. */
  loadEvery(namespace?: string): Promise<KubeObject[]>;
  save(object: KubeObject, call: Call): Promise<void>;
  drop(ref: ObjectRef, call: Call): Promise<void>;
  /** The version of the newest change. */
  version(): Promise<number>;
  /** A version that no change has had, and that none gets again, whatever happens to this process. */
  nextVersion(): Promise<number>;
}

/** The store in a directory, which is made by the first write. A process that only reads writes nothing. */
export function createObjectStore(directory: string): ObjectStore {
  const root = resolve(directory);
  const versions = createVersions(root, () => loadEvery());
  let last: Promise<unknown> = Promise.resolve();
  let swept = false;

  async function loadFile(path: string): Promise<KubeObject | undefined> {
    const text = await readIfPresent(join(root, path));
    return text === undefined ? undefined : parseObject(text, join(root, path));
  }

  async function loadFolder(path: string): Promise<KubeObject[]> {
    const objects: KubeObject[] = [];
    for (const name of (await entriesIn(join(root, path))).filter((entry) => entry.endsWith(".yaml"))) {
      const object = await loadFile(join(path, name));
      if (object !== undefined) objects.push(checkPlace(object, join(path, name)));
    }
    return objects.sort(byName);
  }

  async function loadEvery(namespace?: string): Promise<KubeObject[]> {
    const objects: KubeObject[] = [];
    for (const place of namespace === undefined ? await entriesIn(root) : [namespace])
      for (const folder of await entriesIn(join(root, place))) objects.push(...(await loadFolder(join(place, folder))));
    return objects;
  }

  function checkPlace(object: KubeObject, path: string): KubeObject {
    const { apiVersion, kind, metadata } = object;
    const call = { what: `read ${join(root, path)}`, server: root };
    if (fileOf({ apiVersion, kind, ...metadata } as ObjectRef, call) === path) return object;
    throw new Error(
      `cannot read ${join(root, path)}: it holds ${kind} ${metadata.namespace ?? ""}/${metadata.name}; move it to its place or mend it`,
    );
  }

  async function sweep(): Promise<void> {
    if (swept) return;
    await removeDrafts(root);
    swept = true;
  }

  return {
    alone: (work) => {
      const result = last.then(work);
      last = result.catch(() => undefined);
      return result;
    },
    load: async (ref, call) => {
      const path = fileOf(ref, call);
      const object = await loadFile(path);
      return object === undefined ? undefined : checkPlace(object, path);
    },
    loadAll: async (type, namespace, call) => {
      folderOf(type, namespace, call); // also where there is nothing yet, a wrong name is one
      const places = namespace === undefined ? await entriesIn(root) : [namespace];
      const objects: KubeObject[] = [];
      for (const place of places)
        objects.push(...(await loadFolder(folderOf(type, place === CLUSTER_FOLDER ? undefined : place, call))));
      return objects;
    },
    loadEvery,
    save: async (object, call) => {
      const ref = { ...object, ...object.metadata } as unknown as ObjectRef;
      const path = fileOf(ref, call);
      await sweep();
      await writeDurably(join(root, path), renderObject(object, path));
    },
    drop: async (ref, call) => {
      await sweep();
      await versions.next();
      await removeDurably(join(root, fileOf(ref, call)));
    },
    version: versions.current,
    nextVersion: versions.next,
  };
}

/** The group of a folder's objects does not tell their order; their names do. */
const byName = (a: KubeObject, b: KubeObject): number => (a.metadata.name < b.metadata.name ? -1 : 1);

/** YAML for people; JSON where YAML would not give back what went in, such as some control characters. */
function renderObject(object: KubeObject, file: string): string {
  const text = renderYaml(object);
  try {
    if (isDeepStrictEqual(parseObject(text, file), object)) return text;
  } catch {
    // YAML that cannot be read is told by JSON, too.
  }
  return `${JSON.stringify(object, undefined, 2)}\n`;
}

/** A file holds one object, as plain data: the parser makes dates of what looks like one. */
function parseObject(text: string, file: string): KubeObject {
  const document: unknown = text.startsWith("{") ? parseFlow(text, file) : plainYaml(text, file);
  if (!isNamedObject(document))
    throw new Error(`${file} is no object: it needs an apiVersion, a kind and metadata.name`);
  return document;
}

function parseFlow(text: string, file: string): unknown {
  try {
    return parseJson(text, file);
  } catch {
    return plainYaml(text, file);
  }
}

function plainYaml(text: string, file: string): unknown {
  return parseJson(JSON.stringify(parseYaml(text, file) ?? null), file);
}

/** Versions are taken from blocks, of which the end is on the disk before one of them is used. */
function createVersions(root: string, all: () => Promise<readonly KubeObject[]>) {
  const file = join(root, ".resource-version");
  let [current, end]: [number | undefined, number] = [undefined, 0];

  async function begin(): Promise<number> {
    const text = await readIfPresent(file);
    const noted = text === undefined ? 0 : Number(text.trim());
    if (!Number.isSafeInteger(noted) || noted < 0)
      throw new Error(`${file} holds no number; remove it, and versions go on from the highest one of an object`);
    if (noted > 0) return noted;
    const used = (await all()).map(({ metadata }) => Number(metadata.resourceVersion ?? 0));
    return Math.max(0, ...used.filter((version) => Number.isSafeInteger(version)));
  }

  return {
    async current(): Promise<number> {
      current ??= end = await begin();
      return current;
    },
    async next(): Promise<number> {
      current ??= end = await begin();
      if (current >= end) {
        await writeDurably(file, `${current + BLOCK}\n`);
        end = current + BLOCK;
      }
      return ++current;
    },
  };
}

const BLOCK = 1000;
