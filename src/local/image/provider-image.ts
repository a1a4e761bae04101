import { realpath } from "node:fs/promises";
import type { Logger } from "../../log.ts";
import { findProgram } from "../binary/path.ts";
import { AGENT_PROGRAM } from "./agent-program.ts";
import { baseFiles } from "./images.ts";
import { collectIptables } from "./iptables.ts";
import { findLibraries } from "./libraries.ts";
import { bundlePrograms } from "./program-files.ts";
import { ensureProgramImage, type ProgramContent, type ProgramImage } from "./program-image.ts";
import type { ImageFile } from "./tar.ts";

/**
 * The local provider as an image, with the agent that it lets run on nodes; its tar is in `folder`. Built where there is none of
 * this code yet. Needs no Docker.
 */
export async function ensureProviderImage(folder: string, log: Logger): Promise<ProgramImage> {
  return await ensureProgramImage((version) => `perennial.dev/provider-local:${version}`, describeImage, folder, log);
}

async function describeImage(): Promise<ProgramContent> {
  const node = await realpath(process.execPath);
  const tools = await findTools();
  const libraries = await findLibraries([node, ...tools.map(({ source }) => source)]);
  const iptables = await collectIptables();
  const files: ImageFile[] = [
    ...baseFiles,
    { path: NODE, source: node, mode: 0o755 },
    ...tools,
    ...libraries.map((source) => ({ path: source, source, mode: 0o755 })),
    ...iptables.files,
    ...(await bundlePrograms([PROVIDER, AGENT], TARGET)),
    { path: AGENT_PROGRAM, text: `#!/bin/sh\nexec ${commandOf(AGENT).join(" ")}\n`, mode: 0o755 },
  ];
  return {
    files: [...new Map(files.map((file) => [file.path, file])).values()],
    links: iptables.links,
    entrypoint: commandOf(PROVIDER),
  };
}

type FileOfHost = Extract<ImageFile, { readonly source: string }>;

const [PROVIDER, AGENT] = ["provider-local", "provider-local/network-agent"];
const TARGET = "/perennial";
const NODE = "/usr/local/bin/node";
const FRUGAL = ["--disable-warning=ExperimentalWarning", "--max-semi-space-size=4"];
const commandOf = (program: string): string[] => [NODE, ...FRUGAL, `${TARGET}/dist/${program}/main.js`];

/** What the provider changes DNS records with, and its agent routes. */
async function findTools(): Promise<FileOfHost[]> {
  const needed = { nsupdate: "bind9-dnsutils", ip: "iproute2" };
  return await Promise.all(
    Object.entries(needed).map(async ([name, debianPackage]) => {
      const program = await findProgram(name);
      if (program === undefined)
        throw new Error(`cannot build the image of provider-local without ${name}: install ${debianPackage}`);
      return { path: `/usr/local/bin/${name}`, source: await realpath(program), mode: 0o755 };
    }),
  );
}
