import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { commandLines } from "../../api/command-lines.ts";
import type { Logger } from "../../log.ts";
import { packageRoot } from "../../package.ts";
import { findProgram } from "../binary/path.ts";
import { collectIptables } from "./iptables.ts";
import { buildImage, type Image } from "./build.ts";
import { once } from "./once.ts";
import type { ImageFile, ImageSpec } from "./tar.ts";
import { cachedVersions } from "../machine/programs.ts";
import { versions } from "../binary/versions.ts";

/** The image that holds a pod's namespaces. */
export const pauseImage = `registry.k8s.io/pause:${versions.pause}`;

/** The image of the demo's user pod: answers "hello from <host name>" on port 8080. */
export const helloImage = "perennial.dev/hello:1";

/** The repositories that the images of programs of others are published in, by the programs. */
export const upstreamRepositories = {
  "gardener-resource-manager": gardener("resource-manager"),
  "gardener-extension-provider-local": gardener("extensions/provider-local"),
  "cloud-controller-manager-local": gardener("cloud-controller-manager-local"),
  "machine-controller-manager": gardener("machine-controller-manager"),
  "machine-controller-manager-provider-local": gardener("machine-controller-manager-provider-local"),
  "proxy-server": "registry.k8s.io/kas-network-proxy/proxy-server",
  "proxy-agent": "registry.k8s.io/kas-network-proxy/proxy-agent",
  "local-path-provisioner": "docker.io/rancher/local-path-provisioner",
} as const;

function gardener(path: string): string {
  return `europe-docker.pkg.dev/gardener-project/releases/gardener/${path}`;
}

/** Builds the images of all cached versions of the control plane's binaries, and our own, into <cache>/images; those that are there already are kept. */
export async function buildImages(cache: string, log: Logger): Promise<Image[]> {
  const folder = join(cache, "images");
  await mkdir(folder, { recursive: true });
  const images: Image[] = [];
  for (const image of await describeImages(folder)) images.push(await buildImage(image, folder, log));
  return images;
}

/** Of these images, those that `gardenadm init` starts, besides extensions: the control plane, and what makes its nodes ready. */
export const isOfSelfHosted = ({ name }: Pick<Image, "name">): boolean =>
  ofKubernetes.test(name) ||
  name.startsWith(`${upstreamRepositories["gardener-resource-manager"]}:`) ||
  name.startsWith(`${RCLONE}:`);

/** What reaches object stores. */
const RCLONE = "docker.io/rclone/rclone";

const ofKubernetes =
  /^registry[.]k8s[.]io\/(etcd|kube-apiserver|kube-controller-manager|kube-scheduler|pause|kube-proxy|coredns\/coredns):/;

async function describeImages(folder: string): Promise<ImageSpec[]> {
  const kubernetes = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];
  const controlPlane = await Promise.all(
    kubernetes.map((name) => perVersion([name], (version) => `registry.k8s.io/${name}:v${version}`)),
  );
  const iptables = await collectIptables();
  const kubeProxy = await perVersion(["kube-proxy"], (version) => `registry.k8s.io/kube-proxy:v${version}`);
  const etcd = await perVersion(["etcd", "etcdctl", "etcdutl"], (version) => `registry.k8s.io/etcd:${version}-0`);
  const coredns = await perVersion(["coredns"], (version) => `registry.k8s.io/coredns/coredns:v${version}`);
  return [
    ...controlPlane.flat(),
    ...kubeProxy.map((image) => ({ ...image, files: [...image.files, ...iptables.files], links: iptables.links })),
    ...etcd,
    ...coredns.map((image) => ({
      ...image,
      entrypoint: ["/usr/local/bin/coredns"],
      links: { "/coredns": "/usr/local/bin/coredns" },
    })),
    ...(await Promise.all(Object.entries(upstreamRepositories).map(upstreamImages))).flat(),
    ...(await rcloneImages()),
    await ownImage(folder, "pause", pauseImage),
    await ownImage(folder, "hello", helloImage),
  ];
}

/** An image of a program of others, where its binary is in the cache: only what asks for one has it built. */
async function upstreamImages([name, repository]: readonly [name: string, repository: string]): Promise<ImageSpec[]> {
  if ((await cachedVersions(name)).length === 0) return [];
  const images = await perVersion([name], (version) => `${repository}:v${version}`);
  // Deployments name some of them by the root, where their own images have them.
  const links = { [`/${name}`]: `/usr/local/bin/${name}` };
  return images.map((image) => ({ ...image, entrypoint: [`/usr/local/bin/${name}`], links }));
}

/** Where its binary is in the cache; a patch of ours that it is built with is no part of its version. */
async function rcloneImages(): Promise<ImageSpec[]> {
  if ((await cachedVersions("rclone")).length === 0) return [];
  const images = await perVersion(["rclone"], (version) => `${RCLONE}:${version.replace(/-.*$/, "")}`);
  return images.slice(-1);
}

/** An image for each version of the first binary; the others are in it at the same version. */
async function perVersion(
  [main = "", ...others]: readonly string[],
  name: (version: string) => string,
): Promise<ImageSpec[]> {
  const found = await cachedVersions(main);
  if (found.length === 0)
    throw new Error(
      `cannot build the image of ${main}: its binary is not in the cache; \`${commandLines.localUp()}\` gets it`,
    );
  return found.map(({ version, path }) => ({
    name: name(version),
    files: [...baseFiles, ...[main, ...others].map((binary) => program(binary, path.replaceAll(main, binary)))],
  }));
}

/** What is in the image of the program that holds a pod's namespaces. */
export const describePause = async (folder: string): Promise<Omit<ImageSpec, "name">> =>
  await describeOwn(folder, "pause");

async function ownImage(folder: string, binary: string, name: string): Promise<ImageSpec> {
  return { name, ...(await describeOwn(folder, binary)) };
}

async function describeOwn(folder: string, binary: string): Promise<Omit<ImageSpec, "name">> {
  const path = `/${binary}`;
  const source = await buildProgram(folder, binary);
  return { files: [...baseFiles, { path, source, mode: 0o755 }], entrypoint: [path] };
}

function program(name: string, source: string): ImageFile {
  return { path: `/usr/local/bin/${name}`, source, mode: 0o755 };
}

/** What programs expect of a file system. */
export const baseFiles: readonly ImageFile[] = [
  {
    path: "/etc/passwd",
    text: "root:x:0:0:root:/:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n",
    mode: 0o644,
  },
  { path: "/etc/group", text: "root:x:0:\nnobody:x:65534:\n", mode: 0o644 },
  { path: "/etc/nsswitch.conf", text: "hosts: files dns\n", mode: 0o644 },
];

/** Builds deploy/images/<name>/main.go, once per version of it. */
async function buildProgram(folder: string, name: string): Promise<string> {
  const source = join(packageRoot, "deploy/images", name, "main.go");
  const key = createHash("sha256")
    .update(await readFile(source))
    .digest("hex")
    .slice(0, 12);
  const binary = join(folder, `${name}-${key}`);
  await once(binary, async () => {
    const go = await findProgram("go", ["/usr/local/go/bin"]);
    if (go === undefined)
      throw new Error(`cannot build the image of ${name} without Go: install it from https://go.dev/dl`);
    await execa(go, ["build", "-trimpath", "-ldflags", "-s -w", "-o", `${binary}.new`, source], {
      env: { CGO_ENABLED: "0", GO111MODULE: "off", GOFLAGS: "" },
    });
    await execa("mv", [`${binary}.new`, binary]);
  });
  return binary;
}
