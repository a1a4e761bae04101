import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { buildDebian, npmFolder } from "./base.ts";
import { ensureBinaries } from "../../src/local/binary/binaries.ts";
import { versions } from "../../src/local/binary/versions.ts";
import { createLogger } from "../../src/log.ts";
import { cachedTar } from "./cached-tar.ts";
import type { Containers } from "./containers.ts";

const root = join(import.meta.dirname, "../..");

/** The image's name, as the manifests and the compose file have it. */
export async function imageName(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { readonly version: string };
  return `perennial.dev/perennial:${version}`;
}

/**
 * The tar of the project's image, as `podman load`, `docker load` and `ctr images import` take it: built from
 * deploy/Dockerfile on a base of Debian's packages and npm's Node, and seen to start. The one in the cache where nothing
 * that goes into it has changed.
 */
export async function ensureImage(): Promise<string> {
  return await cachedTar({
    ...{ image: await imageName(), name: "perennial", key: await contentKey() },
    async build(containers) {
      await buildImage(containers);
      await checkImage(containers);
    },
  });
}

/** Builds deploy/Dockerfile, of which NODE_IMAGE and HELM_IMAGE are build arguments: here one image is both. */
async function buildImage(containers: Containers): Promise<void> {
  const node = join(root, "node_modules", `node-linux-${process.arch}`, "bin/node");
  const { helm } = await ensureBinaries(["helm"], {
    log: createLogger({ name: "image", level: "warn" }),
    pinned: true,
  });
  const base = "perennial.dev/node";
  await buildDebian(containers, {
    ...{ tag: base, packages: ["ca-certificates", "libstdc++6"], files: { node, helm, npm: npmFolder() } },
    more: [
      "COPY npm /usr/local/lib/node_modules/npm",
      "COPY node helm /usr/local/bin/",
      "RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm",
      "RUN echo node:x:1000:1000::/home/node:/bin/sh >> /etc/passwd && echo node:x:1000: >> /etc/group",
      "",
    ].join("\n"),
  });
  await containers.build({
    ...{ tag: await imageName(), folder: root },
    options: [
      ...["--file", join(root, "deploy/Dockerfile"), "--build-arg", `NODE_IMAGE=${base}`],
      ...["--build-arg", `HELM_IMAGE=${base}`],
      ...(await trust(containers)).flatMap((volume) => ["--volume", `${volume}:ro`]),
    ],
  });
}

/** npm in the image's build trusts whom this machine trusts; nothing of it gets into the image. */
async function trust({ folder }: Containers): Promise<string[]> {
  const authorities = "/etc/ssl/certs/ca-certificates.crt";
  const settings = join(folder, "npmrc");
  await writeFile(settings, `cafile=${authorities}\n`);
  return [`${authorities}:${authorities}`, `${settings}:/usr/local/etc/npmrc`];
}

/** The image starts: it and its Helm say their versions, and each process loads all of its code and then asks for its configuration. */
async function checkImage(containers: Containers): Promise<void> {
  const start = async (...args: string[]) =>
    await containers.run("podman", [
      ...["run", "--rm", "--network", "none", "--read-only", "--cap-drop", "ALL", await imageName()],
      ...args,
    ]);
  process.stderr.write(`${await start("dist/cli/main.js", "--version")}\n`);
  const helm = await containers.run("podman", ["run", "--rm", "--entrypoint", "helm", await imageName(), "version"]);
  if (!helm.includes(versions.helm)) throw new Error(`the image's Helm is not ${versions.helm}: ${helm}`);
  for (const args of [["manager"], ["worker", "garden"], ["worker", "seed"], ["fence"], ["gateway"]]) {
    const [folder = "", ...rest] = args;
    const answer = await start(`dist/${folder}/main.js`, ...rest).catch((error: unknown) => String(error));
    if (!answer.includes("cannot read the configuration"))
      throw new Error(`the image does not start its ${args.join(" ")}: ${answer}`);
  }
}

/** Changes with whatever is copied into the image. */
async function contentKey(): Promise<string> {
  const hash = createHash("sha256").update(process.version);
  const sources = (await readdir(join(root, "src"), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const others = ["deploy/Dockerfile", "package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json"];
  for (const file of [...others.map((file) => join(root, file)), ...sources.sort()])
    hash.update(relative(root, file)).update(await readFile(file));
  return hash.digest("hex").slice(0, 12);
}
