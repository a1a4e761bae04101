import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../log.ts";
import { cachedVersions } from "../machine/programs.ts";
import { buildImage, type Image } from "./build.ts";
import type { ImageSpec } from "./tar.ts";

/** Where Gardener's own images are published. */
const releases = "europe-docker.pkg.dev/gardener-project/releases";

/**
 * Builds the images from which a machine takes its programs, of all cached versions: Gardener's node agent, and hyperkube with
 * kubelet and kubectl. Names and paths are those of Gardener 1.150 (imagevector/containers.yaml, nodeinit).
 */
export async function buildNodeImages(cache: string, log: Logger): Promise<Image[]> {
  const folder = join(cache, "images");
  await mkdir(folder, { recursive: true });
  const images: Image[] = [];
  for (const image of [...(await nodeAgents()), ...(await hyperkubes())])
    images.push(await buildImage(image, folder, log));
  return images;
}

async function nodeAgents(): Promise<ImageSpec[]> {
  const name = "gardener-node-agent";
  return (await cachedVersions(name)).map(({ version, path }) => ({
    name: `${releases}/gardener/node-agent:v${version}`,
    files: [{ path: `/${name}`, source: path, mode: 0o755 }],
    entrypoint: [`/${name}`],
  }));
}

async function hyperkubes(): Promise<ImageSpec[]> {
  const kubectls = new Map((await cachedVersions("kubectl")).map(({ version, path }) => [version, path]));
  return (await cachedVersions("kubelet")).flatMap(({ version, path }) => {
    const kubectl = kubectls.get(version);
    if (kubectl === undefined) return [];
    return {
      name: `${releases}/hyperkube:v${version}`,
      files: [
        { path: "/kubelet", source: path, mode: 0o755 },
        { path: "/kubectl", source: kubectl, mode: 0o755 },
      ],
    };
  });
}
