import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { basename } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { EnvHttpProxyAgent, fetch } from "undici";
import type { Logger } from "../../log.ts";
import { unpack } from "./archive.ts";
import type { BinaryPin, ReleasePin } from "./pin.ts";

/** A binary that is wanted as `file`. */
export interface BinarySource {
  readonly name: string;
  readonly pin: BinaryPin;
  readonly file: string;
  readonly log: Logger;
  readonly onProgress: (message: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * Downloads the official release and checks it against the checksum published next to it. Returns undefined when the
 * binary is in place, else why not; hosts that cannot be reached are asked once and remembered in `unreachable`.
 */
export async function downloadBinary(
  source: BinarySource,
  unreachable: Map<string, string>,
): Promise<string | undefined> {
  const { release, unreleased = "is published as an image only" } = source.pin;
  if (release === undefined) return `${source.name} ${unreleased}`;
  return await download(source, release, unreachable);
}

async function download(
  source: BinarySource,
  release: ReleasePin,
  unreachable: Map<string, string>,
): Promise<string | undefined> {
  const { name, pin, log, signal } = source;
  const url = forThisMachine(release.url);
  const { host } = new URL(url);
  const known = unreachable.get(host);
  if (known !== undefined) return known;
  const dispatcher = new EnvHttpProxyAgent({
    connect: { timeout: 5_000 },
    headersTimeout: 15_000,
    bodyTimeout: 30_000,
  });
  const get = async (address: string) =>
    await fetch(address, { dispatcher, ...(signal === undefined ? {} : { signal }) });
  try {
    const listed = await get(forThisMachine(release.checksums));
    if (!listed.ok) return `${host} answers ${listed.status} for the checksum of ${name} ${pin.version}`;
    const wanted = findChecksum(await listed.text(), basename(url));
    if (wanted === undefined) return `${host} lists no checksum for ${basename(url)}`;
    const response = await get(url);
    if (!response.ok || response.body === null) return `${host} answers ${response.status} for ${name} ${pin.version}`;
    const archive = release.member === undefined ? source.file : `${source.file}.${basename(url)}`;
    const length = Number(response.headers.get("content-length") ?? 0);
    const hash = createHash("sha256");
    await pipeline(Readable.fromWeb(response.body), meter(source, length, hash), createWriteStream(archive));
    const actual = hash.digest("hex");
    if (actual !== wanted) return `${basename(url)} has checksum ${actual} where ${host} lists ${wanted}`;
    if (release.member !== undefined) await unpack(archive, forThisMachine(release.member), source.file);
    return undefined;
  } catch (error) {
    signal?.throwIfAborted();
    const reason = `${host} cannot be reached (${causeOf(error)})`;
    unreachable.set(host, reason);
    log.info({ host, reason }, "no release download");
    return reason;
  } finally {
    await dispatcher.destroy();
  }
}

/** The checksum of `file` in the text of a checksum file: `<sha256>  <file>` lines, or a lone checksum. */
export function findChecksum(text: string, file: string): string | undefined {
  const lines = text.split("\n").map((line) => line.trim().split(/\s+/));
  const named = lines.find(([, name]) => name !== undefined && basename(name.replace(/^\*/, "")) === file);
  const lone = lines.find(([sum, name]) => sum !== undefined && sum !== "" && name === undefined);
  const checksum = (named ?? lone)?.[0]?.toLowerCase();
  return checksum !== undefined && /^[0-9a-f]{64}$/.test(checksum) ? checksum : undefined;
}

/** Fills in `{os}` and `{arch}` with Go's names of this machine's. */
export function forThisMachine(template: string): string {
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  return template.replaceAll("{os}", process.platform).replaceAll("{arch}", arch);
}

function meter(
  { name, pin, onProgress }: BinarySource,
  length: number,
  hash: ReturnType<typeof createHash>,
): Transform {
  let received = 0;
  let told = -1;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      received += chunk.length;
      const percent = length === 0 ? 0 : Math.floor((received / length) * 20) * 5;
      if (percent !== told) onProgress(`downloading ${name} ${pin.version}${length === 0 ? "" : ` (${percent}%)`}`);
      told = percent;
      done(null, chunk);
    },
  });
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
