import type { Logger } from "../../log.ts";
import { cacheDirectory } from "../binary/binaries.ts";
import { tunnelBinaries } from "../binary/versions.ts";
import { buildImages, upstreamRepositories } from "../image/images.ts";
import { createMachines } from "../machine/machines.ts";
import type { Environment } from "./environment.ts";

/**
 * Gives the images of both ends of the tunnel to the machines of seeds and Shoots that have booted without them: those of an environment
 * that an earlier version brought up. Machines that are made later have them.
 */
export async function giveTunnelImages(environment: Environment, log: Logger): Promise<void> {
  const repositories = tunnelBinaries.map((binary) => `${upstreamRepositories[binary]}:`);
  const all = await buildImages(cacheDirectory(), log);
  const images = all.filter(({ name }) => repositories.some((repository) => name.startsWith(repository)));
  const machines = createMachines(environment, log);
  const running = (await machines.list()).filter((machine) => machine.running);
  for (const { name } of running) {
    const present = await machines.imagesOf(name);
    for (const image of images) if (!present.includes(image.name)) await machines.loadImage(name, image);
  }
}
