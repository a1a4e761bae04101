import { join } from "node:path";
import { GARDENADM_IMAGE } from "../../api/names.ts";
import type { Logger } from "../../log.ts";
import { cacheDirectory, ensureBinaries } from "../binary/binaries.ts";
import { ensurePackages } from "../binary/packages.ts";
import type { Image } from "../image/build.ts";
import { ensureGardenadmImage, GARDENADM_FOLDER } from "../image/gardenadm-image.ts";
import { buildImages, isOfSelfHosted } from "../image/images.ts";
import { buildNodeImages } from "../image/node-images.ts";
import { ensureProviderImage } from "../image/provider-image.ts";
import type { BareMachines } from "./machines.ts";

/** What a machine takes that is given gardenadm: where from, and where its progress is told. */
export interface GardenadmSource {
  readonly log: Logger;
  readonly tell?: (message: string) => void;
}

/**
 * Gives a bare machine gardenadm, as a program in its PATH, and its containerd the images that `gardenadm init` starts and those
 * of the local provider, so that nothing has to be downloaded. Throws what the machine said where that failed.
 */
export async function giveGardenadm(
  machines: Pick<BareMachines, "exec" | "loadImages">,
  name: string,
  { log, tell = () => {} }: GardenadmSource,
): Promise<void> {
  const images = await ensureImages({ log, tell });
  await machines.loadImages(name, images);
  const { code, stderr } = await machines.exec(name, [
    "bash",
    "-c",
    TAKE_OUT,
    "take-out",
    GARDENADM_IMAGE,
    GARDENADM_FOLDER,
  ]);
  if (code !== 0) throw new Error(`cannot take gardenadm out of its image on machine ${name}: ${stderr.trim()}`);
}

/** The images that machines with gardenadm need to become a cluster with the local provider; those that are not there yet are built. */
export async function ensureImages({ log, tell = () => {} }: GardenadmSource): Promise<Image[]> {
  const cache = cacheDirectory();
  await ensureBinaries(PROGRAMS, { log, pinned: true, onProgress: tell });
  await ensurePackages({ names: ["iproute2", "iptables", "bind9-dnsutils"], onProgress: tell });
  const folder = join(cache, "images");
  const own = [await ensureGardenadmImage(folder, log), await ensureProviderImage(folder, log)];
  const others = (await buildImages(cache, log)).filter(isOfSelfHosted);
  return [...own, ...others, ...(await buildNodeImages(cache, log))];
}

const PROGRAMS = [
  "etcd",
  "etcdctl",
  "etcdutl",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubelet",
  "kubectl",
  "kube-proxy",
  "coredns",
  "gardener-resource-manager",
  "helm",
  "rclone",
] as const;

/** Whole or not at all: the folder has its name when all of it is there. */
const TAKE_OUT = `
set -eu
image=$1 folder=$2 mount=$(mktemp -d)
ctr --namespace k8s.io images mount "$image" "$mount" >/dev/null
trap 'ctr --namespace k8s.io images unmount --rm "$mount" >/dev/null; rmdir "$mount"' EXIT
rm -rf "$folder.new"
cp -a "$mount$folder" "$folder.new"
rm -rf "$folder"
mv "$folder.new" "$folder"
mkdir -p /opt/bin
ln -sf "$folder/bin/gardenadm" /opt/bin/gardenadm
`;
