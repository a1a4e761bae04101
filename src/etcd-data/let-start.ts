import { readdir, readlink, rm, symlink } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { dataVolume, settingsLink } from "../components/etcd/settings.ts";
import { makeFolder, passing, syncFolder } from "../node-agent/whole-file.ts";
import { isMarked, type DataPlace } from "./place.ts";

/** The link without which the etcd of a node does not start, in a data directory. */
const linkIn = (dataDir: string): string => join(dataDir, relative(dataVolume.directory, settingsLink.path));

/**
 * Lets an etcd start with this data directory, which is made where there is none: it begins without data then. That is for who knows that
 * its member has never had any, or is another one than before. Outlasts a power cut, and changes nothing where it may start already.
 */
export async function letStart(dataDir: string): Promise<void> {
  if (await mayStartWith(dataDir)) return;
  const link = linkIn(dataDir);
  await makeFolder(dirname(link), 0o700);
  await rm(link, { force: true });
  await symlink(settingsLink.target, link);
  await syncFolder(dirname(link));
}

/** Lets an etcd start that has data, or of which nothing says that it ever had any; one whose data are gone is left as it is. */
export async function letFirstStart(place: DataPlace): Promise<void> {
  if (!(await isMarked(place)) || (await hasMember(place.dataDir))) await letStart(place.dataDir);
}

/** Whether the etcd of a node starts with this data directory: without it, or what an etcd has made in it, it ends. */
export async function mayStartWith(dataDir: string): Promise<boolean> {
  const target = await readlink(linkIn(dataDir)).catch(passing("ENOENT", "ENOTDIR", "EINVAL"));
  return target === settingsLink.target;
}

/** Whether an etcd has made anything in this data directory. */
export async function hasMember(dataDir: string): Promise<boolean> {
  const entries = (await readdir(dirname(linkIn(dataDir))).catch(passing("ENOENT", "ENOTDIR"))) ?? [];
  return entries.some((name) => name !== basename(settingsLink.path));
}
