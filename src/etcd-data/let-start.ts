import { readdir, readlink, rename, rm, symlink } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { dataVolume, settingsLink } from "../components/etcd/settings.ts";
import { makeFolder, passing, syncFolder } from "../node-agent/whole-file.ts";
import { isMarked, markData, type DataPlace } from "./place.ts";

/** The link without which the etcd of a node does not start, in a data directory. */
const linkIn = (dataDir: string): string => join(dataDir, relative(dataVolume.directory, settingsLink.path));

/** The one that it leads through, beside the write-ahead log. */
const linkInLog = (dataDir: string): string => join(dataDir, relative(dataVolume.directory, settingsLink.inLog));
const THROUGH_LOG = relative(dirname(settingsLink.path), settingsLink.inLog);

/**
 * Lets an etcd start with this data directory, which is made where there is none: it begins without data then. That is for who knows that
 * its member has never had any, or is another one than before. Outlasts a power cut, and changes nothing where it may start already.
 */
export async function letStart(dataDir: string): Promise<void> {
  if (await mayStartWith(dataDir)) return;
  const link = linkIn(dataDir);
  await makeFolder(dirname(link), 0o700);
  await putLink(link, settingsLink.target);
}

/** Lets an etcd start that has data, or of which nothing says that it ever had any; one whose data are gone is left as it is. */
export async function letFirstStart(place: DataPlace): Promise<void> {
  if (!(await isMarked(place)) || (await hasLog(place.dataDir))) await letStart(place.dataDir);
}

/**
 * Holds an etcd that is healthy to its data, so that it outlasts a power cut: it does not start again without them, nor without its
 * write-ahead log, as a member that votes and does not know what it has agreed to.
 */
export async function holdToData(place: DataPlace): Promise<void> {
  const { dataDir } = place;
  await markData(place);
  if ((await readLink(linkIn(dataDir))) !== settingsLink.target || !(await hasLog(dataDir))) return;
  await putLink(linkInLog(dataDir), settingsLink.target);
  await putLink(linkIn(dataDir), THROUGH_LOG);
}

/** Whether the etcd of a node starts with this data directory: without it, or what an etcd has made in it, it ends. */
export async function mayStartWith(dataDir: string): Promise<boolean> {
  const target = await readLink(linkIn(dataDir));
  return (target === THROUGH_LOG ? await readLink(linkInLog(dataDir)) : target) === settingsLink.target;
}

/** Whether an etcd has made anything in this data directory. */
export async function hasMember(dataDir: string): Promise<boolean> {
  return (await entriesOf(dirname(linkIn(dataDir)))).some((name) => name !== basename(settingsLink.path));
}

/** Whether there is any of the log of what an etcd has agreed to. */
export async function hasLog(dataDir: string): Promise<boolean> {
  return (await entriesOf(dirname(linkInLog(dataDir)))).some((name) => name.endsWith(".wal"));
}

const entriesOf = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder).catch(passing("ENOENT", "ENOTDIR"))) ?? [];

const readLink = async (link: string): Promise<string | undefined> =>
  await readlink(link).catch(passing("ENOENT", "ENOTDIR", "EINVAL"));

/** In the place of what is there, in one step. */
async function putLink(link: string, target: string): Promise<void> {
  const draft = `${link}.new`;
  await rm(draft, { force: true });
  await symlink(target, draft);
  await rename(draft, link);
  await syncFolder(dirname(link));
}
