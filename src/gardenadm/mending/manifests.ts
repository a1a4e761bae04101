import { mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import type { EtcdRole } from "../../components/index.ts";
import { STATIC_POD_MANIFESTS } from "../../components/node/kubelet-config.ts";

/**
 * Takes the manifests of static pods away from the kubelet of the machine whose `/` is this folder, into a folder beside them: all,
 * or those of these names. It ends their pods then.
 */
export async function putManifestsAside(root: string, aside: string, names?: readonly string[]): Promise<void> {
  const folder = join(root, STATIC_POD_MANIFESTS);
  await mkdir(aside, { recursive: true, mode: 0o700 });
  for (const file of await readdir(folder))
    if (file.endsWith(".yaml") && !file.startsWith(".") && (names?.includes(file) ?? true))
      await rename(join(folder, file), join(aside, file));
}

/** Gives back what was put aside, so that the kubelet starts it; nothing where nothing is. */
export async function putManifestsBack(root: string, aside: string): Promise<void> {
  const files = await readdir(aside).catch(() => []);
  for (const file of files) await rename(join(aside, file), join(root, STATIC_POD_MANIFESTS, file));
}

/** Where the manifest of an etcd is while its data are mended. */
export const mendedAside = (root: string, role: EtcdRole): string =>
  join(root, `/var/lib/gardenadm/backup/manifests-${role}`);
