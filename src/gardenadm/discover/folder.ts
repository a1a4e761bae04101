import { realpath } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";
import { renderYaml } from "../../yaml.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { checkObject } from "../configuration/check.ts";
import { ConfigurationError, folderError } from "../configuration/configuration.ts";
import { readDocuments, type ConfiguredObject } from "../configuration/documents.ts";
import { readFiles, type ConfigurationFile } from "../configuration/files.ts";

/** What a configuration folder holds before anything is discovered. */
export interface ConfigurationFolder {
  readonly folder: string;
  /** What the operator has written. */
  readonly written: readonly ConfiguredObject[];
  /** What `discover` wrote before: one object a file. */
  readonly discovered: readonly ConfiguredObject[];
  /** The paths of all files below the folder that hold objects. */
  readonly files: ReadonlySet<string>;
}

/** The first line of each file that `discover` writes. */
const HEADER =
  "# From the garden, by gardenadm discover, which writes it anew. Without this line, the file is yours.\n";

/** The text of a file with an object of the garden. */
export const renderFile = (object: KubeObject): string => `${HEADER}${renderYaml(object)}`;

/**
 * Reads the folder; one that is not there is empty. The manifest, if it is below it, is the operator's, whatever its first line
 * says. Throws a ConfigurationError with all that cannot be read, and with what no kind has.
 */
export async function readFolder(folder: string, manifest: string | undefined): Promise<ConfigurationFolder> {
  const { files, faults: unreadable } = await readFiles(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return { files: [], faults: [] };
    throw folderError(folder, error);
  });
  const own = manifest === undefined ? undefined : await pathBelow(folder, manifest);
  const documents = files.map((file) => ({ ...readDocuments(file), isDiscovered: isDiscovered(file, own) }));
  const checked = documents.map(({ objects, ...rest }) => ({ ...rest, objects: objects.map(checkObject) }));
  const faults = [
    ...unreadable,
    ...checked.flatMap((one) => [...one.faults, ...one.objects.flatMap((object) => object.faults)]),
  ];
  if (faults.length > 0) throw new ConfigurationError(folder, faults);
  const objectsOf = (discovered: boolean) =>
    checked
      .filter(({ isDiscovered, objects }) => (isDiscovered && objects.length === 1) === discovered)
      .flatMap(({ objects }) => objects.map(({ file, object }) => ({ file, object })));
  return {
    folder,
    written: objectsOf(false),
    discovered: objectsOf(true),
    files: new Set(files.map(({ file }) => file)),
  };
}

const isDiscovered = ({ file, text }: ConfigurationFile, manifest: string | undefined): boolean =>
  text.startsWith(HEADER) && file !== manifest;

/** The path of a file below a folder; undefined where it is elsewhere, or the folder is not there. */
async function pathBelow(folder: string, file: string): Promise<string | undefined> {
  const path = relative(await realpath(folder).catch(() => folder), await realpath(file));
  return path.startsWith("..") || isAbsolute(path) ? undefined : path;
}
