/** The `journalctl` of a bare machine whose units a runner starts: what each has written, which is in a file of its own. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { LOGS } from "../places.ts";

if (import.meta.main) {
  try {
    process.stdout.write(read(process.argv.slice(2)));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

/** The output of the units asked for, or of all, each below its name; with `--lines`, the last of each. */
export function read(words: readonly string[]): string {
  const { values } = parseArgs({
    args: [...words],
    options: {
      unit: { type: "string", short: "u", multiple: true, default: [] },
      directory: { type: "string", short: "D", default: LOGS },
      lines: { type: "string", short: "n" },
      output: { type: "string", short: "o" },
      "no-pager": { type: "boolean" },
    },
  });
  const { unit, directory, lines } = values;
  const all = existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith(".log")) : [];
  const files = unit.length === 0 ? all.toSorted() : unit.map((name) => `${name.replace(/\.service$/, "")}.log`);
  const texts = files.map((file) =>
    all.includes(file) ? lastLines(readFileSync(join(directory, file), "utf8"), lines) : "",
  );
  if (unit.length > 0) return texts.join("");
  return texts.map((text, index) => `-- ${files[index]}\n${text}`).join("");
}

function lastLines(text: string, count: string | undefined): string {
  return count === undefined
    ? text
    : text
        .split("\n")
        .slice(-Number(count) - 1)
        .join("\n");
}
