import { createHash } from "node:crypto";
import { access, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { execa } from "execa";
import type { Logger } from "../../log.ts";
import { cacheDirectory } from "../binary/binaries.ts";
import type { Image } from "./build.ts";
import { buildImages, pauseImage } from "./images.ts";
import { withLock } from "../binary/lock.ts";

/** A containerd root directory with all images imported and unpacked, to start machines from. */
export interface ImageStore {
  /** Makes `directory` a copy that a containerd of its own may change. Takes milliseconds where hard links can be made. */
  copyTo(directory: string): Promise<void>;
  readonly sandboxImage: string;
}

/** What prepares the store of all images, once per process; a failure is tried again by the next call. */
export function createImageStore(log: Logger): () => Promise<ImageStore> {
  let prepared: Promise<ImageStore> | undefined;
  return async () => {
    prepared ??= prepare(log).catch((error: unknown) => {
      prepared = undefined;
      throw error;
    });
    return await prepared;
  };
}

async function prepare(log: Logger): Promise<ImageStore> {
  const cache = cacheDirectory();
  const images = await buildImages(cache, log);
  const key = createHash("sha256")
    .update(images.map(({ tar }) => basename(tar)).join())
    .digest("hex")
    .slice(0, 12);
  const stores = join(cache, "images", "stores");
  const store = join(stores, key);
  await withLock(join(stores, "lock"), async () => {
    if (await exists(store)) return;
    const draft = await mkdtemp(join(stores, ".new-"));
    try {
      await importImages(draft, images);
      await rename(join(draft, "root"), store);
      log.info({ images: images.length, store }, "image store made");
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  });
  return { sandboxImage: pauseImage, copyTo: async (directory) => await copyStore(store, directory) };
}

/** Blobs and unpacked layers are never written again and can be shared; the databases are copied. */
async function copyStore(store: string, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const entry of await readdir(store)) {
    const [source, target] = [join(store, entry), join(directory, entry)];
    const shared = /^io\.containerd\.(content|snapshotter)/.test(entry);
    const linked = shared && (await execa("cp", ["-al", source, target], { reject: false })).exitCode === 0;
    if (!linked) {
      await rm(target, { recursive: true, force: true });
      await execa("cp", ["-a", "--reflink=auto", source, target]);
    }
  }
  const snapshots = "io.containerd.snapshotter.v1.overlayfs/metadata.db";
  await execa("cp", ["-a", "--remove-destination", join(store, snapshots), join(directory, snapshots)]);
}

/** Runs a containerd of its own, whose mounts end with it, until all images are in. */
async function importImages(draft: string, images: readonly Image[]): Promise<void> {
  const config = join(draft, "config.toml");
  const socket = join(draft, "containerd.sock");
  await writeFile(
    config,
    [
      "version = 2",
      `root = "${join(draft, "root")}"`,
      `state = "${join(draft, "state")}"`,
      'disabled_plugins = ["io.containerd.grpc.v1.cri"]',
      "[grpc]",
      `  address = "${socket}"`,
      "",
    ].join("\n"),
  );
  const script = [
    "set -eu",
    'containerd --config "$1" > "$2/log" 2>&1 &',
    "trap 'kill %1; wait %1 || :' EXIT",
    'until ctr --address "$3" version > /dev/null 2>&1; do kill -0 %1; sleep 0.1; done',
    'address=$3; shift 3; for tar; do ctr --address "$address" --namespace k8s.io images import "$tar"; done',
  ].join("\n");
  const tars = images.map(({ tar }) => tar);
  await execa("unshare", ["--mount", "/bin/bash", "-c", script, "import", config, draft, socket, ...tars]);
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
