import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { basename, join } from "node:path";
import { readSettings, type Settings } from "../machine/unit.ts";
import { MACHINE_UNITS, OWN_UNITS, VOLATILE_UNITS } from "./places.ts";

/** A unit as its files describe it. */
export interface UnitFile {
  readonly name: string;
  /** Its text and that of its drop-ins, each with its path. */
  readonly parts: readonly { readonly path: string; readonly text: string }[];
  readonly settings: Settings;
}

/** Whether a unit is started at boot; static is one that says nothing about it, and undefined one that there is not. */
export type Enablement = "enabled" | "disabled" | "static" | "masked";

const FOLDERS = [OWN_UNITS, VOLATILE_UNITS, MACHINE_UNITS];

/** As `systemctl` takes names: a service's may be without its ending. */
export const fullName = (name: string): string => (/\.[a-z]+$/.test(name) ? name : `${name}.service`);

/** The unit of this name, or of which this is another name; undefined where there is none or it is masked. */
export function findUnit(name: string): UnitFile | undefined {
  const path = pathOf(name);
  if (path === undefined || isMask(path)) return undefined;
  const own = basename(realpathSync(path));
  const parts = [path, ...dropIns(own)].map((file) => ({ path: file, text: readFileSync(file, "utf8") }));
  return { name: own, parts, settings: readSettings(parts.map(({ text }) => text).join("\n")) };
}

/** The names of all units that there are files of, those of timers and targets among them, sorted. */
export function unitNames(): string[] {
  const names = FOLDERS.flatMap((folder) => (existsSync(folder) ? readdirSync(folder) : []));
  return [...new Set(names.filter((name) => ENDING.test(name)))].toSorted();
}

const ENDING = /\.(service|timer|path|target)$/;

/** The units that a boot starts. */
export function wantedAtBoot(): string[] {
  const targets = existsSync(OWN_UNITS) ? readdirSync(OWN_UNITS).filter((name) => name.endsWith(".target.wants")) : [];
  return [...new Set(targets.flatMap((target) => readdirSync(join(OWN_UNITS, target))))].toSorted();
}

/** How the unit stands to boots. */
export function enablementOf(name: string): Enablement | undefined {
  const path = pathOf(name);
  if (path === undefined) return undefined;
  if (isMask(path)) return "masked";
  const unit = findUnit(name);
  if (unit === undefined) return undefined;
  const links = linksOf(unit);
  if (links.length === 0) return "static";
  return links.every((link) => isLink(link)) ? "enabled" : "disabled";
}

/** Has boots start the unit; throws where there is none. */
export function enable(name: string): void {
  const path = pathOf(name);
  const unit = findUnit(name);
  if (path === undefined || unit === undefined)
    throw new Error(`Failed to enable unit: Unit file ${name} does not exist.`);
  for (const link of linksOf(unit)) {
    mkdirSync(join(link, ".."), { recursive: true });
    rmSync(link, { force: true });
    symlinkSync(realpathSync(path), link);
  }
}

/** Takes away all that has boots start it. */
export function disable(name: string): void {
  const folders = existsSync(OWN_UNITS)
    ? readdirSync(OWN_UNITS).filter((each) => /\.(wants|requires)$/.test(each))
    : [];
  for (const folder of folders) rmSync(join(OWN_UNITS, folder, name), { force: true });
}

/** Hides the unit, or one that may come, from all that starts it. */
export function mask(name: string): void {
  const path = join(OWN_UNITS, name);
  if (isLink(path)) rmSync(path);
  if (existsSync(path)) throw new Error(`Failed to mask unit: File '${path}' already exists.`);
  mkdirSync(OWN_UNITS, { recursive: true });
  symlinkSync("/dev/null", path);
}

/** Undoes `mask`. */
export function unmask(name: string): void {
  const path = join(OWN_UNITS, name);
  if (isMask(path)) rmSync(path);
}

function pathOf(name: string): string | undefined {
  return FOLDERS.map((folder) => join(folder, name)).find((path) => isMask(path) || existsSync(path));
}

function dropIns(name: string): string[] {
  const folders = FOLDERS.map((folder) => join(folder, `${name}.d`)).filter((folder) => existsSync(folder));
  const files = folders.flatMap((folder) => readdirSync(folder).map((file) => ({ file, path: join(folder, file) })));
  return files
    .filter(({ file }) => file.endsWith(".conf"))
    .toSorted((one, other) => (one.file < other.file ? -1 : 1))
    .map(({ path }) => path);
}

function linksOf({ name, settings }: UnitFile): string[] {
  const wanted = settings.words("WantedBy").map((target) => join(OWN_UNITS, `${target}.wants`, name));
  const required = settings.words("RequiredBy").map((target) => join(OWN_UNITS, `${target}.requires`, name));
  return [...wanted, ...required, ...settings.words("Alias").map((alias) => join(OWN_UNITS, alias))];
}

const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
const isMask = (path: string): boolean => isLink(path) && readlinkSync(path) === "/dev/null";
