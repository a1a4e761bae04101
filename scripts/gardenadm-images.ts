/**
 * `npm run image:gardenadm -- FOLDER`: for machines of one's own, the images that no registry has, as `gardenadm.tar` and
 * `provider-local.tar`, and an example configuration in `config`, unless that is there.
 */
import { copyFile, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exitCodes } from "../src/cli/exit.ts";
import { exampleObjects, filesOf } from "../src/local/bare/configuration.ts";
import { cacheDirectory, ensureBinaries } from "../src/local/binary/binaries.ts";
import { ensurePackages } from "../src/local/binary/packages.ts";
import { ensureGardenadmImage } from "../src/local/image/gardenadm-image.ts";
import { ensureProviderImage } from "../src/local/image/provider-image.ts";
import { createLogger } from "../src/log.ts";

const [folder, ...others] = process.argv.slice(2);
if (folder === undefined || others.length > 0) {
  process.stderr.write("error: name the folder to write to: npm run image:gardenadm -- FOLDER\n");
  process.exit(exitCodes.usage);
}

const log = createLogger({ name: "image", level: "silent" });
const tell = (message: string) => process.stderr.write(`${message}\n`);
await ensureBinaries(["helm"], { log, pinned: true, onProgress: tell });
await ensurePackages({ names: ["iproute2", "iptables", "bind9-dnsutils"], onProgress: tell });
const images = join(cacheDirectory(), "images");
const provider = await ensureProviderImage(images, log);
await mkdir(folder, { recursive: true });
await copyWhole((await ensureGardenadmImage(images, log)).tar, "gardenadm.tar");
await copyWhole(provider.tar, "provider-local.tar");
await writeConfiguration(join(folder, "config"));

async function copyWhole(tar: string, name: string): Promise<void> {
  const target = join(folder ?? "", name);
  await copyFile(tar, `${target}.new`);
  await rename(`${target}.new`, target);
  process.stdout.write(`${target}\n`);
}

async function writeConfiguration(target: string): Promise<void> {
  await rm(`${target}.new`, { recursive: true, force: true });
  await mkdir(`${target}.new`, { mode: 0o700 });
  for (const { name, content, mode } of filesOf(await exampleObjects(provider)))
    await writeFile(join(`${target}.new`, name), content, { mode });
  try {
    await rename(`${target}.new`, target);
    process.stdout.write(`${target}\n`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
    await rm(`${target}.new`, { recursive: true });
    process.stdout.write(`${target} is there already, and stays\n`);
  }
}
