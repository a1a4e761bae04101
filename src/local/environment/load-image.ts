import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { MACHINE_SEED_LABEL } from "../../api/labels.ts";
import { createLogger } from "../../log.ts";
import { seedMachineName } from "../cluster/node.ts";
import { createMachines } from "../machine/machines.ts";
import type { Environment } from "./environment.ts";

/**
 * Gives the machines of all seeds the images of an archive, as `docker save` writes one, now and at every boot; returns the
 * machines' names, none where the seeds are clusters that existed before. A copy of the archive goes with the environment.
 */
export async function loadImage(environment: Environment, file: string): Promise<readonly string[]> {
  const machines = createMachines(environment, createLogger({ name: "local", level: "silent" }));
  const ofSeeds = (await machines.list()).filter(({ name, labels }) => isOfSeed(name, labels));
  if (ofSeeds.length === 0) return [];
  const folder = join(environment.stateDir, "images");
  const tar = join(folder, `loaded-${await digestOf(file)}.tar`);
  await mkdir(folder, { recursive: true });
  await copyFile(file, tar);
  for (const { name } of ofSeeds) await machines.loadImage(name, { name: resolve(file), tar });
  return ofSeeds.map(({ name }) => name);
}

/** Machines of Shoots carry the label of their Seed, too. */
const isOfSeed = (name: string, labels: Readonly<Record<string, string>>): boolean => {
  const seed = labels[MACHINE_SEED_LABEL];
  return seed !== undefined && name === seedMachineName(seed);
};

async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex").slice(0, 12);
}
