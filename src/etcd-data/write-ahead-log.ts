import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32c } from "./crc32c.ts";

/** What an etcd's write-ahead log is like. */
export interface LogState {
  /** What is wrong with it; undefined where etcd would read it. */
  readonly fault?: string;
  /** It has no entry, nor a snapshot of any: etcd was cut off at its first start, and would wait for a leader for ever. */
  readonly isEmpty: boolean;
}

/**
 * Looks at an etcd's write-ahead log; nothing is written. `etcdutl` reads it in no other way than changing it. A record that a power
 * cut has torn is not wrong: etcd drops it. Neither is a log that was cut short, which nothing in it tells. (etcd v3.6,
 * `storage/wal`: `decoder.go`, `wal.go`.)
 */
export async function readLogState(folder: string): Promise<LogState> {
  let isEmpty = true;
  const fault = await logFault(folder, ({ type, data }) => {
    if (type === ENTRY || (type === SNAPSHOT && (varintOf(data, 1)?.value ?? 0n) > 0n)) isEmpty = false;
  });
  return { isEmpty, ...(fault !== undefined && { fault }) };
}

async function logFault(folder: string, visit: (record: LogRecord) => void): Promise<string | undefined> {
  const files = (await readdir(folder)).filter((name) => LOG_FILE_NAME.test(name)).sort();
  const gap = files.find((name, index) => index > 0 && numberOf(name) !== numberOf(files[index - 1] ?? "") + 1n);
  if (gap !== undefined) return `the file before ${gap} of its write-ahead log is gone`;
  let sum = 0;
  for (const [index, name] of files.entries()) {
    const read = readLog(await readFile(join(folder, name)), sum, visit);
    sum = read.sum;
    const isTolerated = read.end === "whole" || (read.end === "torn" && index === files.length - 1);
    if (!isTolerated) return `its write-ahead log is damaged: ${name} at byte ${read.offset}`;
  }
  return undefined;
}

/** The name of a file of a log: `<number>-<index>.wal`, both in hexadecimal. */
export const LOG_FILE_NAME = /^[0-9a-f]{16}-[0-9a-f]{16}\.wal$/;
const numberOf = (name: string): bigint => BigInt(`0x${name.slice(0, 16)}`);

/** How far a file of a log could be read. */
export interface Reading {
  readonly end: "whole" | "torn" | "damaged";
  /** Where it ended. */
  readonly offset: number;
  readonly sum: number;
}

/**
 * Reads a file of a log up to where it ends, or is wrong. Each record has the checksum of all data up to it; a file begins with the
 * sum of those before it, and `before` is 0 for the first.
 */
export function readLog(file: Buffer, before: number, visit: (record: LogRecord) => void = () => {}): Reading {
  let [sum, offset] = [before, 0];
  for (;;) {
    const frame = readFrame(file, offset);
    if (typeof frame === "string") return { end: frame, offset, sum };
    const record = parseRecord(frame.bytes.subarray(0, frame.length));
    const next = record && sumWith(record, sum);
    if (record === undefined || next === undefined)
      return { end: isTorn(frame.bytes, offset + FRAME) ? "torn" : "damaged", offset, sum };
    visit(record);
    sum = next;
    offset += FRAME + frame.bytes.length;
  }
}

/** A record's bytes with their padding, and its length without; or how the file ends there. */
function readFrame(file: Buffer, offset: number) {
  if (offset === file.length) return "whole";
  if (offset + FRAME > file.length) return "torn";
  const head = file.readBigUInt64LE(offset);
  if (head === 0n) return "whole"; // space for records to come
  const length = head & 0x00ff_ffff_ffff_ffffn;
  const padding = head >> 63n === 1n ? (head >> 56n) & 0x7n : 0n;
  const end = BigInt(offset + FRAME) + length + padding;
  if (end > BigInt(file.length)) return "torn";
  return { length: Number(length), bytes: file.subarray(offset + FRAME, Number(end)) };
}

const FRAME = 8;

/** Types of records: what was written, the sum up to there, and a snapshot, whose first field is the last entry that it has. */
const [ENTRY, SUM, SNAPSHOT] = [2, 4, 5];

/** A record whose sum is right. */
export interface LogRecord {
  readonly type: number;
  readonly sum: number;
  readonly data: Buffer;
}

/** The sum behind a record; undefined where the record says another one. */
function sumWith({ type, sum, data }: LogRecord, before: number): number | undefined {
  if (type === SUM) return before === 0 || before === sum ? sum : undefined;
  const now = crc32c(data, before);
  return now === sum ? now : undefined;
}

/** A message of protobuf with `type` (1), `crc` (2) and `data` (3); undefined where it is none. */
function parseRecord(bytes: Buffer): LogRecord | undefined {
  let [type, sum, data] = [0, 0, bytes.subarray(0, 0)];
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at];
    const value = varintOf(bytes, at + 1);
    if (value === undefined) return undefined;
    at = value.end;
    if (tag === 0x08) type = Number(value.value);
    else if (tag === 0x10) sum = Number(value.value & 0xffffffffn);
    else if (tag === 0x1a && at + Number(value.value) <= bytes.length) {
      data = bytes.subarray(at, at + Number(value.value));
      at += Number(value.value);
    } else return undefined;
  }
  return { type, sum, data };
}

/** A number in a message of protobuf, and where it ends; undefined where there is none. */
export function varintOf(bytes: Buffer, start: number): { readonly value: bigint; readonly end: number } | undefined {
  let value = 0n;
  for (let at = start; at < bytes.length && at < start + 10; at += 1) {
    const byte = bytes[at] ?? 0;
    value |= BigInt(byte & 0x7f) << BigInt(7 * (at - start));
    if (byte < 0x80) return { value, end: at + 1 };
  }
  return undefined;
}

/** A sector that was never written is all zeros. */
function isTorn(bytes: Buffer, offset: number): boolean {
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(bytes.length, at + SECTOR - ((offset + at) % SECTOR));
    if (bytes.subarray(at, end).every((byte) => byte === 0)) return true;
    at = end;
  }
  return false;
}

const SECTOR = 512;
