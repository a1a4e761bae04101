import { createReadStream } from "node:fs";
import type { Image } from "../image/build.ts";
import { eachEntry, readWhole } from "./entries.ts";
import type { Descriptor, PushClient } from "./push-client.ts";

/**
 * Pushes an image to the repository `repositoryOf` its name says, under its tag. Resolves to its digest. Pushing it again
 * sends nothing but its manifest.
 */
export async function pushImage(client: PushClient, { name, tar }: Image): Promise<string> {
  const { repository, tag } = parseImageName(name);
  const small = new Map<string, Buffer>();
  await eachEntry(createReadStream(tar), async ({ path, size, content }) => {
    if (size <= LARGEST_MANIFEST) small.set(path, await readWhole(content));
    const digest = /^blobs\/sha256\/([0-9a-f]{64})$/.exec(path)?.[1];
    if (digest !== undefined)
      await client.putBlob(repository, { digest: `sha256:${digest}`, size }, () => small.get(path) ?? content);
  });
  const index = JSON.parse(small.get("index.json")?.toString() ?? "{}") as { manifests?: readonly Descriptor[] };
  const manifest = index.manifests?.[0];
  const bytes = small.get(`blobs/${manifest?.digest.replace(":", "/")}`);
  if (manifest === undefined || bytes === undefined) throw new Error(`cannot push ${tar}: it is no OCI layout`);
  return await client.putManifest(repository, { mediaType: manifest.mediaType, bytes, tag });
}

/** Where the registry keeps an image: below its own registry's name, so that two of one path do not meet. */
export function parseImageName(name: string): { readonly repository: string; readonly tag: string } {
  const [, host, path, tag] = /^([^/]+)\/([^@]+):([\w][\w.-]{0,127})$/.exec(name) ?? [];
  if (host === undefined || path === undefined || tag === undefined)
    throw new Error(`cannot push ${name}: an image is named by registry, repository and tag`);
  return { repository: `${registryPath(host)}/${path}`, tag };
}

/** The first part of the repositories of another registry's images; a port's colon is no part of a repository's name. */
export const registryPath = (host: string): string => host.replace(":", "_");

/** In bytes: the distribution protocol's own bound. */
const LARGEST_MANIFEST = 4 * 1024 * 1024;
