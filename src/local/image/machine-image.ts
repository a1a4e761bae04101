import { mkdir, rename } from "node:fs/promises";
import { execa } from "execa";
import type { Logger } from "../../log.ts";
import { cachedVersions } from "../machine/programs.ts";
import { mirrorFiles } from "../registry/mirrors.ts";
import type { Registry } from "../registry/registry.ts";
import { buildImage, type Image } from "./build.ts";
import { once } from "./once.ts";
import { ensureRootFilesystem } from "./root-filesystem.ts";

/** The image of machines that are privileged pods, as upstream's provider-local makes them. */
export const machineImage = "perennial.dev/machine:1";

/**
 * Builds the image of a machine with a real systemd. As a pod's it wants user data at /etc/machine/userdata, an emptyDir at
 * /var/lib/containerd and one in memory at /run (upstream's pkg/provider-local/machine-provider/local). It pulls from the registry.
 */
export async function buildMachineImage({ cache, folder, registry, log }: MachineImageSource): Promise<Image> {
  const root = await ensureRootFilesystem(cache);
  const base = `${root}.tar`;
  await once(base, async () => {
    const draft = `${base}.new`;
    await execa("tar", ["--create", "--numeric-owner", "--sort=name", `--file=${draft}`, `--directory=${root}`, "."]);
    await rename(draft, base);
  });
  const mirrors = Object.entries(mirrorFiles(registry)).map(([path, text]) => ({ path, text, mode: 0o644 }));
  // A pod's readiness is asked for with it.
  const kubectl = (await cachedVersions("kubectl")).at(-1);
  const programs = kubectl === undefined ? [] : [{ path: "/usr/bin/kubectl", source: kubectl.path, mode: 0o755 }];
  const entrypoint = ["/usr/local/bin/entrypoint", "/sbin/init"];
  await mkdir(folder, { recursive: true });
  return await buildImage({ name: machineImage, base, files: [...mirrors, ...programs], entrypoint }, folder, log);
}

/** What the image of machines is made from. */
export interface MachineImageSource {
  /** Where its root file system is kept for all environments. */
  readonly cache: string;
  /** Where it is built: in the environment whose registry it names. */
  readonly folder: string;
  readonly registry: Registry;
  readonly log: Logger;
}
