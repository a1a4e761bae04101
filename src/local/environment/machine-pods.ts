import { join } from "node:path";
import type { Logger } from "../../log.ts";
import { cacheDirectory, ensureBinaries } from "../binary/binaries.ts";
import { buildImages, helloImage, pauseImage, upstreamRepositories } from "../image/images.ts";
import { buildMachineImage } from "../image/machine-image.ts";
import { buildNodeImages } from "../image/node-images.ts";
import type { Processes } from "../process/processes.ts";
import { pushImage } from "../registry/images.ts";
import { startRegistry } from "../registry/registry.ts";
import { pushing } from "../registry/writer.ts";
import type { Environment } from "./environment.ts";

/**
 * Starts the environment's registry with all that machines need which are pods of a seed: their own image, the programs that
 * they take out of images, and what runs on every node. Seeds that boot after it pull from it.
 */
export async function serveMachineImages(
  { environment, processes, log }: Around,
  tell: (detail: string) => void,
): Promise<void> {
  const { registry: binary } = await ensureBinaries(["registry"], { log, onProgress: tell, pinned: true });
  tell("images of machines");
  const registry = await startRegistry(environment, processes, { binary });
  const cache = cacheDirectory();
  const machine = await buildMachineImage({ cache, folder: join(environment.stateDir, "images"), registry, log });
  const onNodes = (await buildImages(cache, log)).filter(({ name }) => runsOnNodes(name));
  const images = [machine, ...onNodes, ...(await buildNodeImages(cache, log))];
  await pushing(environment, processes, binary, async (client) => {
    for (const image of images) await pushImage(client, image);
  });
}

interface Around {
  readonly environment: Environment;
  readonly processes: Processes;
  readonly log: Logger;
}

const runsOnNodes = (image: string): boolean => nodeImages.some((name) => image.startsWith(name));

const nodeImages = [
  pauseImage,
  helloImage,
  "registry.k8s.io/kube-proxy:",
  "registry.k8s.io/coredns/coredns:",
  `${upstreamRepositories["local-path-provisioner"]}:`,
];
