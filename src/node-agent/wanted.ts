import { posix } from "node:path";
import type { OperatingSystemConfig } from "../api/index.ts";

type Spec = OperatingSystemConfig["spec"];
type File = NonNullable<Spec["files"]>[number];
type Unit = NonNullable<Spec["units"]>[number];

/** What of an OperatingSystemConfig is a machine's business: its files and units, and those that its controller has added. */
export interface MachineConfig {
  readonly spec: Pick<Spec, "files" | "units">;
  readonly status?: Pick<NonNullable<OperatingSystemConfig["status"]>, "extensionFiles" | "extensionUnits"> | undefined;
}

/** What a machine is to be. The texts of units and of their drop-ins are among the files. */
export interface Wanted {
  readonly files: readonly WantedFile[];
  readonly units: readonly WantedUnit[];
}

/** A file with an absolute path; its folders are made. */
export interface WantedFile {
  readonly path: string;
  readonly mode: number;
  readonly source: Source;
}

/** Where a file's content comes from: it is here, in a Secret, or in a container image. */
export type Source =
  | { readonly bytes: Buffer }
  | { readonly secretRef: { readonly name: string; readonly dataKey: string } }
  | { readonly imageRef: { readonly image: string; readonly filePathInImage: string } };

/** A unit, with the paths of its own text and drop-ins and of the files whose change restarts it, in the order of the alphabet. */
export interface WantedUnit {
  readonly name: string;
  readonly runs: boolean;
  readonly enable?: boolean;
  readonly ownPaths: readonly string[];
  readonly filePaths: readonly string[];
}

/** Where systemd looks for units of the machine's administrator. */
export const UNIT_FOLDER = "/etc/systemd/system";

/**
 * The files and units that the machine of this host name has to have. Throws for what cannot be written, before anything is.
 * As in upstream's agent, a unit runs unless it is told to stop or not to be enabled.
 */
export function wantedOf(config: MachineConfig, hostName: string): Wanted {
  const units = unitsOf(config);
  const files = byPath([...filesFor(config, hostName).map(wantedFile), ...units.flatMap(ownFiles)]);
  const paths = new Set(files.map(({ path }) => path));
  for (const { path } of files) checkFolders(path, paths);
  return { files, units: units.map(wantedUnit) };
}

/** The files for this host name: those that the controller has added come last, and the last one of a path is the one that counts. */
export function filesFor({ spec, status }: MachineConfig, hostName: string | undefined): File[] {
  const all = [...(spec.files ?? []), ...(status?.extensionFiles ?? [])];
  return byPath(all.filter((file) => file.hostName === undefined || file.hostName === hostName));
}

/** The units, one for each name: the last word on each setting, and all drop-ins and file paths. */
export function unitsOf({ spec, status }: MachineConfig): Unit[] {
  const all = [...(spec.units ?? []), ...(status?.extensionUnits ?? [])];
  const names = [...new Set(all.map(({ name }) => name))];
  return names.map((name) => {
    const mine = all.filter((unit) => unit.name === name);
    const dropIns = mine.flatMap((unit) => unit.dropIns ?? []);
    const filePaths = [...new Set(mine.flatMap((unit) => unit.filePaths ?? []))];
    return {
      ...(Object.assign({}, ...mine) as Unit),
      ...(dropIns.length === 0 ? {} : { dropIns }),
      ...(filePaths.length === 0 ? {} : { filePaths }),
    };
  });
}

/** The bytes of an inline content; throws, naming the file, where its encoding is not known. */
export function inlineBytes(path: string, { encoding, data }: { encoding: string; data: string }): Buffer {
  if (encoding === "" || encoding === "plain") return Buffer.from(data, "utf8");
  if (encoding === "b64" || encoding === "base64") return Buffer.from(data, "base64");
  throw new Error(`cannot write file ${path}: encoding ${encoding} is not known; it may be plain, b64 or base64`);
}

const byPath = <Each extends { readonly path: string }>(files: readonly Each[]): Each[] => [
  ...new Map(files.map((file) => [file.path, file])).values(),
];

function wantedFile({ path, permissions, content }: File): WantedFile {
  if (!path.startsWith("/") || posix.normalize(path) !== path || path.endsWith("/") || path.includes("\0"))
    throw new Error(`cannot write file ${JSON.stringify(path)}: its path has to be absolute and without "." and ".."`);
  return { path, mode: permissions ?? 0o644, source: sourceOf(path, content) };
}

function sourceOf(path: string, { inline, secretRef, imageRef }: File["content"]): Source {
  if (inline !== undefined) return { bytes: inlineBytes(path, inline) };
  if (secretRef !== undefined) return { secretRef };
  if (imageRef !== undefined) return { imageRef };
  throw new Error(`cannot write file ${path}: it has no content; give it inline, secretRef or imageRef`);
}

function ownFiles({ name, content, dropIns = [] }: Unit): WantedFile[] {
  if (!/^\w[\w:.@\\-]*\.[a-z]+$/.test(name))
    throw new Error(`cannot write unit ${JSON.stringify(name)}: its name has to be one of systemd, such as a.service`);
  if (content?.trim() === "")
    throw new Error(`cannot write unit ${name}: its content is empty, which systemd takes for a unit that may not run`);
  const path = `${UNIT_FOLDER}/${name}`;
  return [
    ...(content === undefined ? [] : [textFile(path, content)]),
    ...dropIns.map((dropIn) => {
      if (!/^\w[\w.@-]*\.conf$/.test(dropIn.name))
        throw new Error(
          `cannot write drop-in ${JSON.stringify(dropIn.name)} of unit ${name}: systemd reads only those whose names end in .conf`,
        );
      return textFile(`${path}.d/${dropIn.name}`, dropIn.content);
    }),
  ];
}

const textFile = (path: string, text: string): WantedFile => ({
  path,
  mode: 0o644,
  source: { bytes: Buffer.from(text) },
});

function wantedUnit(unit: Unit): WantedUnit {
  const { name, command, enable, filePaths = [] } = unit;
  const ownPaths = [...new Set(ownFiles(unit).map(({ path }) => path))].toSorted();
  const runs = command !== "stop" && enable !== false;
  return { name, runs, ...(enable === undefined ? {} : { enable }), ownPaths, filePaths: filePaths.toSorted() };
}

function checkFolders(path: string, files: ReadonlySet<string>): void {
  const file = foldersOf(path).find((folder) => files.has(folder));
  if (file !== undefined)
    throw new Error(`cannot write file ${path}: ${file} is a file, too, and cannot be its folder`);
}

/** All folders above a path, the nearest first, without the root. */
export function foldersOf(path: string): string[] {
  const folder = posix.dirname(path);
  return folder === "/" ? [] : [folder, ...foldersOf(folder)];
}
