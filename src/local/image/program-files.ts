import { readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import { rolldown } from "rolldown";
import { packageRoot } from "../../package.ts";
import type { ImageFile } from "./tar.ts";

/**
 * The files below `target` with which programs of this package run there. Each is named by its folder in `src` and is
 * `dist/<program>/main.js`; beside these are the modules that programs share, in which the code of packages is, too, and the licenses
 * of those packages. Left in its hundreds of files, a program would take twice as long to start and 6 MB more for as long as it runs.
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

/** From `src` or `dist`, whichever this process runs. */
async function bundle(programs: readonly string[]) {
  const extension = extname(import.meta.url);
  const code = join(packageRoot, extension === ".ts" ? "src" : "dist");
  const mains = programs.map((program) => [`${program}/main`, join(code, program, `main${extension}`)]);
  const build = await rolldown({
    ...{ input: Object.fromEntries(mains) as Record<string, string>, cwd: packageRoot, platform: "node" },
    onLog(level, log) {
      if (level === "warn") throw new Error(`cannot bundle ${programs.join(", ")}: ${log.message}`);
    },
  });
  try {
    const names = { entryFileNames: "[name].js", chunkFileNames: "modules/[name]-[hash].js" };
    const { output } = await build.generate({ format: "esm", ...names });
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
    const names = (await readdir(folder)).filter((name) =>
      /^(licen[cs]e|notice|copyright|copying|thirdparty)/i.test(name),
    );
    return names.sort().map((name) => join(folder, name));
  });
  return (await Promise.all(found)).flat();
}
