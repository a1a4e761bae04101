import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { readFile, rename, rm, stat } from "node:fs/promises";
import { posix } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { pack, type Pack } from "tar-stream";

/** An image of one layer, or of two where it has a base. Paths are absolute. */
export interface ImageSpec {
  /** With registry and tag, as pods name it. */
  readonly name: string;
  /** The tar of a root file system that the files lie upon. */
  readonly base?: string;
  readonly files: readonly ImageFile[];
  /** Symbolic links: where they are, and what they lead to. */
  readonly links?: Readonly<Record<string, string>>;
  readonly entrypoint?: readonly string[];
  /** What follows the entrypoint where a pod gives no arguments. */
  readonly command?: readonly string[];
  /** The id of the user that programs run as; root unless told otherwise. */
  readonly user?: number;
}

/** A file of an image: a copy of one on the host, or text. */
export type ImageFile =
  | { readonly path: string; readonly source: string; readonly mode: number }
  | { readonly path: string; readonly text: string; readonly mode: number };

/** Writes the image as an OCI layout tar that `ctr images import` takes. All or nothing: the file appears when it is whole. */
export async function writeImageTar(image: ImageSpec, file: string): Promise<void> {
  await writeImagesTar([image], file);
}

/** Writes one OCI layout tar of all these images, with each layer once. All or nothing, as `writeImageTar`. */
export async function writeImagesTar(images: readonly ImageSpec[], file: string): Promise<void> {
  const draft = `${file}.new`;
  const own = images.map((image, index) => ({ image, layerFile: `${file}.layer-${index}` }));
  const bases = new Map<string | undefined, Layer>();
  try {
    for (const { base } of images)
      if (base !== undefined && !bases.has(base)) bases.set(base, await describeLayer(base));
    const layered: LayeredImage[] = [];
    for (const { image, layerFile } of own) {
      const base = bases.get(image.base);
      const layer = { file: layerFile, descriptor: await writeLayer(image, layerFile) };
      layered.push({ image, layers: base === undefined ? [layer] : [base, layer] });
    }
    await writeLayout(layered, draft);
    await rename(draft, file);
  } finally {
    for (const { layerFile } of own) await rm(layerFile, { force: true });
    await rm(draft, { force: true });
  }
}

/** Times in images are zero, so that the same content has the same digest. */
const epoch = new Date(0);

async function writeLayer({ files, links = {} }: ImageSpec, file: string): Promise<Descriptor> {
  const layer = pack();
  const hash = createHash("sha256");
  const hashing = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  const written = pipeline(layer, hashing, createWriteStream(file));
  const fill = async () => {
    for (const directory of parentsOf([...files.map(({ path }) => path), ...Object.keys(links)])) {
      const mode = directory === "/tmp" ? 0o1777 : 0o755;
      await addEntry(layer, { name: `${directory.slice(1)}/`, type: "directory", mode });
    }
    for (const entry of files) {
      const header = { name: entry.path.slice(1), mode: entry.mode };
      if ("text" in entry) await addEntry(layer, header, entry.text);
      else await addFile(layer, header, entry.source);
    }
    for (const [path, linkname] of Object.entries(links))
      await addEntry(layer, { name: path.slice(1), type: "symlink", linkname, mode: 0o777 });
    layer.finalize();
  };
  await Promise.all([fill(), written]);
  const { size } = await stat(file);
  return { mediaType: layerType, digest: `sha256:${hash.digest("hex")}`, size };
}

/** A layer that is a file already. */
async function describeLayer(file: string): Promise<Layer> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  const { size } = await stat(file);
  return { file, descriptor: { mediaType: layerType, digest: `sha256:${hash.digest("hex")}`, size } };
}

const layerType = "application/vnd.oci.image.layer.v1.tar";

interface Layer {
  readonly file: string;
  readonly descriptor: Descriptor;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

interface LayeredImage {
  readonly image: ImageSpec;
  readonly layers: readonly Layer[];
}

async function writeLayout(images: readonly LayeredImage[], file: string): Promise<void> {
  const described = images.map(({ image, layers }) => ({ image, layers, ...describeImage(image, layers) }));
  const layers = new Map(images.flatMap(({ layers }) => layers.map((layer) => [layer.descriptor.digest, layer])));
  const blobs = new Map(
    described.flatMap(({ config, manifest }) => [config, manifest].map((blob) => [blob.descriptor.digest, blob])),
  );
  const layout = pack();
  const written = pipeline(layout, createWriteStream(file));
  const fill = async () => {
    await addEntry(layout, { name: "oci-layout" }, JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    for (const { file, descriptor } of layers.values()) await addFile(layout, { name: blobPath(descriptor) }, file);
    for (const { descriptor, bytes } of blobs.values()) await addEntry(layout, { name: blobPath(descriptor) }, bytes);
    const manifests = described.map(({ image: { name }, manifest }) => ({
      ...manifest.descriptor,
      platform,
      annotations: { "io.containerd.image.name": name, "org.opencontainers.image.ref.name": name },
    }));
    await addEntry(layout, { name: "index.json" }, JSON.stringify({ schemaVersion: 2, manifests }));
    layout.finalize();
  };
  await Promise.all([fill(), written]);
}

const platform = { os: "linux", architecture: process.arch === "x64" ? "amd64" : process.arch };

function describeImage(image: ImageSpec, layers: readonly Layer[]): { config: Blob; manifest: Blob } {
  const config = jsonBlob("application/vnd.oci.image.config.v1+json", {
    created: epoch.toISOString(),
    ...platform,
    config: {
      Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
      ...(image.entrypoint === undefined ? {} : { Entrypoint: image.entrypoint }),
      ...(image.command === undefined ? {} : { Cmd: image.command }),
      ...(image.user === undefined ? {} : { User: String(image.user) }),
      WorkingDir: "/",
    },
    rootfs: { type: "layers", diff_ids: layers.map(({ descriptor }) => descriptor.digest) },
    history: layers.map(() => ({ created: epoch.toISOString(), created_by: "perennial" })),
  });
  const manifestType = "application/vnd.oci.image.manifest.v1+json";
  const manifest = jsonBlob(manifestType, {
    schemaVersion: 2,
    mediaType: manifestType,
    config: config.descriptor,
    layers: layers.map(({ descriptor }) => descriptor),
  });
  return { config, manifest };
}

interface Blob {
  readonly descriptor: Descriptor;
  readonly bytes: Buffer;
}

function jsonBlob(mediaType: string, value: unknown): Blob {
  const bytes = Buffer.from(JSON.stringify(value));
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  return { descriptor: { mediaType, digest, size: bytes.length }, bytes };
}

function blobPath({ digest }: Descriptor): string {
  return `blobs/${digest.replace(":", "/")}`;
}

function parentsOf(paths: readonly string[]): string[] {
  const parents = new Set<string>();
  for (const path of paths) for (let dir = posix.dirname(path); dir !== "/"; dir = posix.dirname(dir)) parents.add(dir);
  return [...parents.add("/tmp")].sort();
}

interface Header {
  readonly name: string;
  readonly mode?: number;
  readonly type?: "directory" | "symlink";
  readonly linkname?: string;
}

async function addEntry(tar: Pack, header: Header, content: string | Buffer = ""): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    tar.entry({ ...header, mtime: epoch }, content, (error) => (error ? reject(error) : resolve()));
  });
}

async function addFile(tar: Pack, header: Header, source: string): Promise<void> {
  const { size } = await stat(source);
  if (size === 0) return await addEntry(tar, header, await readFile(source));
  await new Promise<void>((resolve, reject) => {
    const entry = tar.entry({ ...header, size, mtime: epoch }, (error) => (error ? reject(error) : resolve()));
    pipeline(createReadStream(source), entry).catch(reject);
  });
}
