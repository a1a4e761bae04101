import { hashOf } from "../../api/registration/registered.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ConfiguredObject } from "../configuration/documents.ts";
import { nameOf } from "../configuration/fault.ts";
import type { Taken } from "./collection.ts";
import { contradictions, differingFields, type DifferingField } from "./difference.ts";
import type { ConfigurationFolder } from "./folder.ts";
import { withoutServerFields } from "./stored-object.ts";

/** What becomes of a file of the configuration folder. */
export interface FileChange extends ConfiguredObject {
  /** `kept` is the operator's own, `unneeded` what an earlier run wrote; neither is touched. */
  readonly is: "added" | "changed" | "unchanged" | "kept" | "unneeded";
  /** Of a changed one, from the file to the garden; of one that is kept, from the garden to the file. */
  readonly fields: readonly DifferingField[];
}

/** What becomes of each file, sorted by path, where these objects are what is needed. Pure. */
export function planFiles(folder: ConfigurationFolder, taken: Iterable<Taken>): readonly FileChange[] {
  const needed = [...taken];
  const fileOf = chooseFiles(
    folder,
    needed.filter(({ file }) => file === undefined).map(({ object }) => object),
  );
  const changes = needed.map((one) => changeOf(one, folder, fileOf));
  const names = new Set(needed.map(({ object }) => nameOf(object)));
  const unneeded = folder.discovered.filter(({ object }) => !names.has(nameOf(object)));
  return [...changes, ...unneeded.map((one): FileChange => ({ ...one, is: "unneeded", fields: [] }))].sort(
    (one, other) => (one.file < other.file ? -1 : 1),
  );
}

function changeOf(
  { object, file, inGarden }: Taken,
  { discovered }: ConfigurationFolder,
  fileOf: ReadonlyMap<string, string>,
): FileChange {
  const called = nameOf(object);
  const now = withoutServerFields(object);
  if (file !== undefined)
    return { is: "kept", file, object, fields: inGarden === undefined ? [] : contradictions(inGarden, object) };
  const before = discovered.find((one) => nameOf(one.object) === called);
  const place = { file: fileOf.get(called) ?? "", object: now };
  if (before === undefined) return { is: "added", ...place, fields: [] };
  const fields = differingFields(before.object, now);
  return { is: fields.length === 0 ? "unchanged" : "changed", ...place, fields };
}

/**
 * The file of each object: that of an earlier run, else one of its kind and name, with the namespace where that alone would be
 * another's or the operator's. An underscore stands in no name, so that no two objects get one file.
 */
function chooseFiles(folder: ConfigurationFolder, objects: readonly KubeObject[]): ReadonlyMap<string, string> {
  const before = new Map(folder.discovered.map(({ file, object }) => [nameOf(object), file]));
  const news = objects.filter((object) => !before.has(nameOf(object)));
  const times = (file: string) => news.filter((object) => shortFile(object) === file).length;
  return new Map(
    objects.map((object) => {
      const called = nameOf(object);
      const names = times(shortFile(object)) === 1 ? fileNames(object) : fileNames(object).slice(1);
      return [called, before.get(called) ?? names.find((file) => !folder.files.has(file)) ?? lastName(object, folder)];
    }),
  );
}

const shortFile = ({ kind, metadata: { name } }: KubeObject): string => fileNamed(`${kind.toLowerCase()}-${name}`);

/** Names for an object's file, the best first. */
function fileNames(object: KubeObject): readonly string[] {
  const { kind, metadata } = object;
  const { namespace, name } = metadata;
  const inNamespace = namespace === undefined ? [] : [fileNamed(`${kind.toLowerCase()}-${namespace}_${name}`)];
  return [shortFile(object), ...inNamespace];
}

/** A name where the operator's files have taken the others. */
function lastName({ kind, metadata: { namespace = "", name } }: KubeObject, { files }: ConfigurationFolder): string {
  const numbered = (number: number) => fileNamed(`${kind.toLowerCase()}-${namespace}_${name}_${number}`);
  let number = 2;
  while (files.has(numbered(number))) number += 1;
  return numbered(number);
}

/** In bytes: a file's name has at most 255, of which its draft takes a few. */
const LONGEST = 200;

function fileNamed(words: string): string {
  if (words.length <= LONGEST) return `${words}.yaml`;
  return `${words.slice(0, LONGEST)}_${hashOf(words)}.yaml`;
}
