import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { mainOf, packageRoot } from "../../package.ts";
import type { ImageFile } from "./tar.ts";

/**
 * The files below `target` with which programs of this package run there. Each is named by its folder in `src` and is
 * `dist/<program>/main.js`; beside these are the modules that programs share, in which the code of packages is, too, and the licenses
 * of those packages. Left in its hundreds of files, gardenadm would take twice as long to start. Names of modules change with what is
 * in them: a program that still runs when it is replaced finds no module of another build, rather than a wrong one.
 */
export async function bundlePrograms(programs: readonly string[], target: string): Promise<ImageFile[]> {
  const { modules, sources } = await bundle(programs);
  return [
    { path: join(target, "package.json"), source: join(packageRoot, "package.json"), mode: 0o644 },
    ...modules.map(({ path, text }) => ({ path: join(target, "dist", path), text, mode: 0o644 })),
    ...(await licensesOf(sources)).map((source) => {
      const [, ...path] = source.split("/node_modules/");
      return { path: join(target, "licenses", ...path), source, mode: 0o644 };
    }),
  ];
}

async function bundle(programs: readonly string[]) {
  const input = Object.fromEntries(programs.map((program) => [`${program}/main`, mainOf(program)]));
  const build = await rolldown({
    ...{ input, cwd: packageRoot, platform: "node" },
    onLog(level, log) {
      if (level === "warn") throw new Error(`cannot bundle ${programs.join(", ")}: ${log.message}`);
    },
  });
  try {
    const names = { entryFileNames: "[name].js", chunkFileNames: "modules/[name]-[hash].js" };
    const comments = { legal: true, annotation: false, jsdoc: false }; // a program's text stays in its memory
    const { output } = await build.generate({ format: "esm", ...names, comments });
    const chunks = output.filter((file) => file.type === "chunk");
    return {
      modules: chunks.map(({ fileName, code }) => ({ path: fileName, text: code })),
      sources: chunks.flatMap(({ moduleIds }) => moduleIds),
    };
  } finally {
    await build.close();
  }
}

/** The files by which the packages of these modules say under which terms they may be passed on. */
async function licensesOf(sources: readonly string[]): Promise<string[]> {
  const folders = new Set(
    sources.flatMap((source) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(source) ?? []),
  );
  const found = [...folders].sort().map(async (folder) => {
    const names = (await readdir(folder, { recursive: true })).filter((name) => LICENSE.test(name));
    return names.sort().map((name) => join(folder, name));
  });
  return (await Promise.all(found)).flat();
}

/** Packages have code of others in folders; packages in packages are folders of their own. */
const LICENSE =
  /^(?!(?:.*\/)?node_modules\/)(?:.*\/)?(?:licen[cs]e|notice|copyright|copying|thirdparty)[^./]*(?:[.](?:md|txt|bsd|mit))?$/i;
