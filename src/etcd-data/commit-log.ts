import { open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32c } from "./crc32c.ts";
import { LOG_FILE_NAME, readLog, varintOf } from "./write-ahead-log.ts";

/**
 * Says at the end of an etcd's write-ahead log that all entries in it are committed. A leader answers a client before its followers
 * know that what they wrote is committed, and `--force-new-cluster` drops what is not: without this, a survivor would lose the last
 * writes, which it has. Only for a copy of the log of one that stays alone. Throws where the log is damaged.
 */
export async function commitLog(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => LOG_FILE_NAME.test(name)).sort();
  const last = names.at(-1);
  if (last === undefined) throw new Error(`there is no write-ahead log in ${folder}`);
  const state = new Map<number, bigint>();
  let [sum, offset, index, length] = [0, 0, 0n, 0];
  for (const name of names) {
    const file = await readFile(join(folder, name));
    const read = readLog(file, sum, ({ type, data }) => {
      const fields = fieldsOf(data);
      if (type === ENTRY) index = fields.get(3) ?? 0n;
      if (type === STATE) for (const number of [1, 2, 3]) state.set(number, fields.get(number) ?? 0n);
    });
    if (read.end === "damaged") throw new Error(`the write-ahead log is damaged: ${name} at byte ${read.offset}`);
    [sum, offset, length] = [read.sum, read.offset, file.length];
  }
  if (index <= (state.get(3) ?? 0n)) return;
  const data = message([...state.entries()].map(([number, value]) => [number, number === 3 ? index : value]));
  await append(join(folder, last), offset, length, recordOf(data, crc32c(data, sum)));
}

/** Types of records. */
const [ENTRY, STATE] = [2, 3];

/** The numbers in a message of protobuf, by field; others are passed over. */
function fieldsOf(bytes: Buffer): ReadonlyMap<number, bigint> {
  const fields = new Map<number, bigint>();
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at] ?? 0;
    const value = varintOf(bytes, at + 1);
    if (value === undefined) break;
    at = value.end + ((tag & 7) === 2 ? Number(value.value) : 0);
    if ((tag & 7) === 0) fields.set(tag >> 3, value.value);
  }
  return fields;
}

function message(fields: readonly (readonly [number, bigint])[]): Buffer {
  return Buffer.from(fields.flatMap(([number, value]) => [number << 3, ...varint(value)]));
}

function varint(value: bigint): number[] {
  return value < 0x80n ? [Number(value)] : [Number((value & 0x7fn) | 0x80n), ...varint(value >> 7n)];
}

/** A record in its frame, which ends where the next may begin: at a multiple of eight bytes. */
function recordOf(data: Buffer, sum: number): Buffer {
  const content = Buffer.concat([
    message([
      [1, BigInt(STATE)],
      [2, BigInt(sum)],
    ]),
    Buffer.from([0x1a, data.length]),
    data,
  ]);
  const padding = (8 - (content.length % 8)) % 8;
  const frame = Buffer.alloc(8 + content.length + padding);
  const mark = padding === 0 ? 0n : BigInt(0x80 | padding) << 56n;
  frame.writeBigUInt64LE(BigInt(content.length) | mark);
  content.copy(frame, 8);
  return frame;
}

/** What a torn record has left behind it would be read as further records. */
async function append(path: string, offset: number, length: number, record: Buffer): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.truncate(offset);
    await file.write(record, 0, record.length, offset);
    await file.truncate(Math.max(length, offset + record.length));
    await file.sync();
  } finally {
    await file.close();
  }
}
