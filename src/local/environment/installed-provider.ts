import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../log.ts";
import { seedMachineName } from "../cluster/node.ts";
import type { ProgramImage } from "../image/program-image.ts";
import { ensureProviderImage } from "../image/provider-image.ts";
import { machineApiFolder } from "../machine-api/calls.ts";
import { createMachines } from "../machine/machines.ts";
import type { Environment } from "./environment.ts";

/**
 * Makes the seeds ready for a local provider in pods: their machines get its image, and the host the folders that the pods
 * share with it. These are root's alone; the kubelet would make them for all users.
 */
export async function prepareProvider(
  { environment, log }: { readonly environment: Environment; readonly log: Logger },
  seeds: readonly string[],
): Promise<ProgramImage> {
  const { stateDir } = environment;
  const image = await ensureProviderImage(join(stateDir, "images"), log); // of this checkout's code: it goes with the environment
  const folders = [
    machineApiFolder(environment),
    ...["buckets", "load-balancer-addresses"].map((name) => join(stateDir, name)),
    ...seeds.map((seed) => join(stateDir, "volumes", seed)),
  ];
  for (const folder of folders) await mkdir(folder, { recursive: true, mode: 0o700 });
  const machines = createMachines(environment, log);
  for (const seed of seeds) await machines.loadImage(seedMachineName(seed), image);
  return image;
}
