/**
 * Completes package-lock.json with the optional packages of other platforms, and takes out `engines` that mislead npm.
 *
 * npm leaves an optional package out of the lock when the registry it asked has no copy of it (a mirror that carries
 * Linux builds only). `npm ci` then refuses that lock everywhere, because package and lock seem to differ. The missing
 * entries are known exactly from the parents that name them: this writes them, without integrity, as optional.
 *
 * npm compares each package's `engines` with the Node that it runs on itself, and prints five lines for each that asks
 * for a newer one. The project runs on the Node that comes with its packages, so that is what they are compared with here.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { dropEngines, type EngineManifest } from "./lock-engines.ts";

interface LockEntry {
  readonly version?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  engines?: { readonly node?: string };
}

interface Lock {
  packages: Record<string, LockEntry & Record<string, unknown>>;
}

const pathOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const lock = JSON.parse(readFileSync(pathOf("package-lock.json"), "utf8")) as Lock;
const manifest = JSON.parse(readFileSync(pathOf("package.json"), "utf8")) as EngineManifest;
const added = missingOptional(lock);
for (const [name, version] of added) {
  lock.packages[`node_modules/${name}`] = { version, ...platformOf(name), optional: true };
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
const dropped = dropEngines(lock, manifest);
if (added.size + dropped.length > 0) {
  writeFileSync(pathOf("package-lock.json"), `${JSON.stringify(lock, null, 2)}\n`);
}
console.log(
  `package-lock.json: ${added.size} optional packages added, engines of ${dropped.length} packages taken out`,
);

function missingOptional({ packages }: Lock): Map<string, string> {
  const missing = new Map<string, string>();
  for (const { optionalDependencies = {} } of Object.values(packages)) {
    for (const [name, range] of Object.entries(optionalDependencies)) {
      const version = range.replace(/^[\^~]/, "");
      if (packages[`node_modules/${name}`] === undefined && platformOf(name)) missing.set(name, version);
    }
  }
  return missing;
}

/** The platform in a package's name (`core-darwin-arm64`, `binding-win32-x64-msvc`), or undefined when it names none. */
function platformOf(name: string): { os: [string]; cpu?: [string] } | undefined {
  const platform = /(?:^|[-/])(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)-([a-z0-9]+)/;
  const [, os, cpu] = platform.exec(name) ?? [];
  if (os === undefined || cpu === undefined) return undefined;
  return { os: [os], cpu: [cpu] };
}
