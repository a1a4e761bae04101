import { open, readlink, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/**
 * The files below a folder that this process writes whole while the work is done, as paths below it, in the order in which they were
 * written. Times of files do not tell: the kernel gives those of some milliseconds the same.
 */
export async function filesWrittenBy(work: () => Promise<void>, root: string): Promise<string[]> {
  const handle = await open("/dev/null");
  const handles = Object.getPrototypeOf(handle) as Pick<FileHandle, "sync">;
  await handle.close();
  const { sync } = handles;
  const synced = new Set<string>();
  handles.sync = async function (this: FileHandle) {
    synced.add(await readlink(`/proc/self/fd/${this.fd}`));
    await sync.call(this);
  };
  try {
    await work();
  } finally {
    handles.sync = sync;
  }
  return [...synced].flatMap((path) => {
    const [, name] = /^\.(.+)\.new$/.exec(basename(path)) ?? [];
    return name !== undefined && path.startsWith(`${root}/`) ? [join(dirname(path), name).slice(root.length)] : [];
  });
}
