import { join } from "node:path";
import type { ImageVector } from "../../components/index.ts";
import { extractFile } from "../../node-agent/image-file.ts";
import type { ThisMachine } from "../machine/this-machine.ts";
import { restoreFolder } from "../machine/begun-restore.ts";
import { isThere } from "../machine/is-there.ts";

/** The programs that a restore runs, of the versions that the cluster has. */
export type RestoreProgram = "etcd" | "etcdctl" | "etcdutl" | "rclone";

/** Takes a program out of its image, onto a machine that may have nothing yet; answers with its path. */
export async function ensureProgram(
  { root, ctr }: Pick<ThisMachine, "root" | "ctr">,
  images: Pick<ImageVector, "etcd" | "rclone">,
  name: RestoreProgram,
  signal: AbortSignal,
): Promise<string> {
  const path = join(restoreFolder(root), "bin", name);
  if (await isThere(path)) return path;
  const image = name === "rclone" ? images.rclone : images.etcd;
  const mount = join(restoreFolder(root), "image");
  await extractFile(ctr, { image, filePathInImage: `/usr/local/bin/${name}` }, { path, mode: 0o700, mount }, signal);
  return path;
}
