import { createReadStream, createWriteStream } from "node:fs";
import { open, rm, type FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip, createInflateRaw } from "node:zlib";
import { extract } from "tar-stream";

/** Writes one member of a `.zip`, or else gzipped tar, archive to a file, and removes the archive. Throws when there is no such member. */
export async function unpack(archive: string, member: string, file: string): Promise<void> {
  const found = archive.endsWith(".zip")
    ? await unpackZip(archive, member, file)
    : await unpackTar(archive, member, file);
  await rm(archive);
  if (!found) throw new Error(`${basename(archive)} holds no ${member}`);
}

async function unpackTar(archive: string, member: string, file: string): Promise<boolean> {
  let found = false;
  const entries = extract();
  entries.on("entry", (header, stream, next) => {
    const wanted = header.name.replace(/^\.\//, "") === member;
    found ||= wanted;
    if (!wanted) stream.resume().on("end", next);
    else pipeline(stream, createWriteStream(file)).then(() => next(), next);
  });
  await pipeline(createReadStream(archive), createGunzip(), entries);
  return found;
}

async function unpackZip(archive: string, member: string, file: string): Promise<boolean> {
  const handle = await open(archive);
  try {
    const entry = (await readDirectory(handle)).find(({ name }) => name === member);
    if (entry === undefined) return false;
    const header = await read(handle, entry.offset, 30);
    const start = entry.offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
    const packed = createReadStream(archive, { start, end: start + entry.size - 1 });
    if (entry.stored) await pipeline(packed, createWriteStream(file));
    else await pipeline(packed, createInflateRaw(), createWriteStream(file));
    return true;
  } finally {
    await handle.close();
  }
}

interface ZipEntry {
  readonly name: string;
  /** Bytes that it takes in the archive. */
  readonly size: number;
  readonly stored: boolean;
  /** Where its own header begins. */
  readonly offset: number;
}

/** The table at the end of the archive, which is found from behind: only a comment may follow its own end. */
async function readDirectory(handle: FileHandle): Promise<ZipEntry[]> {
  const { size } = await handle.stat();
  const length = Math.min(size, 22 + 0xffff);
  const tail = await read(handle, size - length, length);
  const end = tail.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  if (end < 0) throw new Error("the archive is no zip file");
  const table = await read(handle, tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12));
  const entries: ZipEntry[] = [];
  for (let at = 0; at < table.length;) {
    const [name, extra, comment] = [28, 30, 32].map((field) => table.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    entries.push({
      name: table.toString("utf8", at + 46, at + 46 + name),
      size: table.readUInt32LE(at + 20),
      stored: table.readUInt16LE(at + 10) === 0,
      offset: table.readUInt32LE(at + 42),
    });
    at += 46 + name + extra + comment;
  }
  return entries;
}

async function read(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer;
}
