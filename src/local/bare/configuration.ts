import { join } from "node:path";
import type { KubeObject } from "../../api/index.ts";
import { cacheDirectory } from "../binary/binaries.ts";
import { readManifest } from "../../manifests.ts";
import { selfHostedProviderRegistration } from "../cluster/provider-registration.ts";
import type { ProgramImage } from "../image/program-image.ts";
import { ensureProviderImage } from "../image/provider-image.ts";
import { packFiles, type PackedFile } from "../pack-files.ts";
import type { GardenadmSource } from "./gardenadm.ts";
import type { BareMachines } from "./machines.ts";
import { renderYaml } from "../../yaml.ts";

/** Where the example configuration is on a machine that was given one. */
export const CONFIGURATION_FOLDER = "/root/config";

/**
 * Writes the example of a self-hosted cluster, with the registration of its provider, into {@link CONFIGURATION_FOLDER}, whole and
 * for root only. Leaves a folder alone that is there, which may be an operator's work; answers whether it has written one.
 */
export async function giveConfiguration(
  machines: Pick<BareMachines, "exec">,
  name: string,
  { log }: Pick<GardenadmSource, "log">,
): Promise<boolean> {
  const image = await ensureProviderImage(join(cacheDirectory(), "images"), log);
  const stdin = await packFiles(filesOf(await exampleObjects(image)));
  const { code, stdout, stderr } = await machines.exec(name, ["bash", "-c", UNPACK, "unpack", CONFIGURATION_FOLDER], {
    stdin,
  });
  if (code !== 0) throw new Error(`cannot write ${CONFIGURATION_FOLDER} on machine ${name}: ${stderr.trim()}`);
  return stdout === "written";
}

/** The objects of a configuration for `gardenadm init`, out of deploy/examples/self-hosted. */
export async function exampleObjects(image: Pick<ProgramImage, "name" | "code">): Promise<KubeObject[]> {
  const files = ["shoot", "cloud-profile", "project"].map((file) => `examples/self-hosted/${file}.yaml`);
  const objects = (await Promise.all(files.map(readManifest))).flat();
  return [...objects, ...(await selfHostedProviderRegistration(image))];
}

/** One file for each object, for its owner only. */
export const filesOf = (objects: readonly KubeObject[]): PackedFile[] =>
  objects.map((object) => ({
    name: `${object.kind.toLowerCase()}-${object.metadata.name}.yaml`,
    content: renderYaml(object),
    mode: 0o600,
  }));

/** Whole or not at all: the folder has its name when all of it is there. */
const UNPACK = `
set -eu
folder=$1
if [ -e "$folder" ]; then cat > /dev/null; exit 0; fi
rm -rf "$folder.new"
mkdir --mode=700 "$folder.new"
tar --extract --directory "$folder.new"
mv --no-target-directory "$folder.new" "$folder"
echo written
`;
