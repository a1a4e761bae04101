import { readFile, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { API_SERVER_MARK } from "../../api/names.ts";
import { passing, writeWhole } from "../../node-agent/whole-file.ts";

/** The lines of `/etc/hosts` that name API servers and are ours, on the machine whose `/` is this folder. */
export async function apiServerLines(root: string): Promise<readonly string[]> {
  const { lines } = await readHosts(root);
  return lines.filter(isOurs).map((line) => line.replace("\n", ""));
}

/**
 * Has `/etc/hosts` end with these lines, in the place of those that are ours. All else in it stays as it is to the byte, and so does
 * its mode; where nothing changes, nothing is written. Throws where the file is there and cannot be read.
 */
export async function replaceApiServerLines(root: string, ours: readonly string[]): Promise<void> {
  const { file, lines } = await readHosts(root);
  const others = lines.filter((line) => !isOurs(line)).join("");
  const end = others === "" || others.endsWith("\n") || ours.length === 0 ? "" : "\n";
  const text = `${others}${end}${ours.map((line) => `${line}\n`).join("")}`;
  if (text === lines.join("")) return;
  const found = await stat(file).catch(passing("ENOENT"));
  await writeWhole(file, Buffer.from(text, ENCODING), found === undefined ? 0o644 : found.mode & 0o7777);
}

/** One in which each byte is a character: what others have written need not be UTF-8. */
const ENCODING = "latin1";

/** Lines with their ends; none where there is no file. A link is followed. */
async function readHosts(root: string): Promise<{ readonly file: string; readonly lines: readonly string[] }> {
  const path = join(root, "/etc/hosts");
  const file = (await realpath(path).catch(passing("ENOENT"))) ?? path;
  const text = (await readFile(file, ENCODING).catch(passing("ENOENT"))) ?? "";
  return { file, lines: text.split(/(?<=\n)/) };
}

const isOurs = (line: string): boolean => line.replace("\n", "").endsWith(API_SERVER_MARK);
