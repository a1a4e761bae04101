import type { Logger } from "../../log.ts";
import { cacheDirectory } from "../binary/binaries.ts";
import { tunnelBinaries } from "../binary/versions.ts";
import { buildImages, upstreamRepositories } from "../image/images.ts";
import { createMachines } from "../machine/machines.ts";
import type { Environment } from "./environment.ts";

/**
 * Gives the images of both ends of the tunnel to the machines of seeds and Shoots that boot without them: those of an environment that came up
 * before the tunnel was asked for. Machines that are made later have them. Returns how many machines it gave them to.
 */
export async function giveTunnelImages(environment: Environment, log: Logger): Promise<number> {
  const repositories = tunnelBinaries.map((binary) => `${upstreamRepositories[binary]}:`);
  const all = await buildImages(cacheDirectory(), log);
  const images = all.filter(({ name }) => repositories.some((repository) => name.startsWith(repository)));
  const machines = createMachines(environment, log);
  const running = (await machines.list()).filter((machine) => machine.running);
  for (const { name } of running) for (const image of images) await machines.loadImage(name, image);
  return running.length;
}
