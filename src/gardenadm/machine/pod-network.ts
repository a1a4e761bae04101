import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { copyWhole, removeEmptyFolder, writeWhole } from "../../node-agent/whole-file.ts";
import { parseJson } from "../../parsing.ts";
import { isThere, readIfThere } from "./is-there.ts";
import { hasKubelet } from "./traces.ts";

/** What plugins of the cluster's Network and of others share: configurations, and what plugins remember. */
const FOLDERS = ["/etc/cni/net.d", "/var/lib/cni"];

/** Of these, the contents are kept, too. */
const CONFIGURATIONS = "/etc/cni/net.d";

const recordIn = (root: string): string => join(root, "/var/lib/gardenadm/pod-network-before");
const Paths = z.array(z.string());

/**
 * Notes, once, what the machine whose `/` is `root` has of other pod networks, before it is a node: files of the operator, or of
 * other programs of containers. Where a kubelet is there already, that can be told no more, and nothing is noted.
 */
export async function notePodNetwork(root: string): Promise<void> {
  const list = join(recordIn(root), "paths.json");
  if ((await isThere(list)) || (await hasKubelet(root))) return;
  const found: string[] = [];
  for (const folder of FOLDERS) {
    if (await isThere(join(root, folder))) found.push(folder);
    for (const { path, isFile } of await entriesOf(root, folder)) {
      found.push(path);
      if (isFile && folder === CONFIGURATIONS)
        await copyWhole(join(root, path), join(recordIn(root), path), await modeOf(join(root, path)));
    }
  }
  await writeWhole(list, Buffer.from(`${JSON.stringify(found)}\n`), 0o600);
}

/** A node of before such notes has none of the operator's, as far as can be told: all goes. */
export async function ownPodNetwork(root: string): Promise<void> {
  const list = join(recordIn(root), "paths.json");
  if (!(await isThere(list)) && (await hasKubelet(root))) await writeWhole(list, Buffer.from("[]\n"), 0o600);
}

/** Takes away what was not noted, and puts configurations back that others have changed; nothing where nothing was noted. */
export async function removePodNetwork(root: string): Promise<void> {
  const list = join(recordIn(root), "paths.json");
  const text = await readIfThere(list);
  if (text === undefined) return;
  const kept = new Set(Paths.parse(parseJson(text, list)));
  for (const folder of FOLDERS) {
    for (const { path } of await entriesOf(root, folder))
      if (!kept.has(path)) await rm(join(root, path), { recursive: true, force: true });
    if (!kept.has(folder)) await removeEmptyFolder(join(root, folder));
  }
  for (const { path, isFile } of await entriesOf(recordIn(root), CONFIGURATIONS))
    if (isFile) await putBack(join(recordIn(root), path), join(root, path));
}

async function putBack(from: string, to: string): Promise<void> {
  const [was, is] = await Promise.all([readFile(from), readFile(to).catch(() => undefined)]);
  if (is === undefined || !was.equals(is)) await copyWhole(from, to, await modeOf(from));
}

const modeOf = async (file: string): Promise<number> => (await stat(file)).mode & 0o7777;

/** Files and folders in a folder, at any depth, as paths below `root`; each folder before what is in it. */
async function entriesOf(root: string, folder: string) {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .map((entry) => ({
      path: join(entry.parentPath, entry.name).slice(root === "/" ? 0 : root.length),
      isFile: entry.isFile(),
    }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
}
