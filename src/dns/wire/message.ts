import { encodeName, readName } from "./name.ts";

/** The types of records that are asked for, and that of a signature, by their numbers (RFC 1035, 3596, 8945). */
export const recordTypes = { A: 1, NS: 2, CNAME: 5, SOA: 6, TXT: 16, AAAA: 28, TSIG: 250 } as const;

/** A type of records that can be asked for. */
export type RecordType = Exclude<keyof typeof recordTypes, "TSIG" | "CNAME">;

/** One question about one name. */
export interface Question {
  readonly name: string;
  readonly type: RecordType;
  /** Whether the server is to ask others; a server is asked for its own data otherwise (RD, RFC 1035). */
  readonly recursive: boolean;
}

/** One record of an answer. */
export interface Resource {
  readonly name: string;
  readonly type: number;
  /** Seconds. */
  readonly ttl: number;
  /** An address, the text of a TXT record, or the name that an NS record names; undefined for other types. */
  readonly value: string | undefined;
  /** Where the record begins in the message, and its data. */
  readonly at: number;
  readonly data: number;
  readonly end: number;
}

/** A response, as far as it is read. */
export interface Response {
  readonly id: number;
  /** The data is the server's own, and no memory of another's (AA). */
  readonly authoritative: boolean;
  /** Not everything fitted in (TC). */
  readonly truncated: boolean;
  /** 0 no error, 3 no such name; RFC 1035 and 2136 name the others. */
  readonly code: number;
  readonly question: { readonly name: string; readonly type: number };
  readonly answers: readonly Resource[];
  readonly authority: readonly Resource[];
  readonly additional: readonly Resource[];
}

/** No answer to our questions is longer, in bytes. */
export const LONGEST_MESSAGE = 16_384;

/** The question as a message (RFC 1035, 4.1). */
export function encodeQuestion(id: number, { name, type, recursive }: Question): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(recursive ? 0x0100 : 0, 2);
  header.writeUInt16BE(1, 4);
  const end = Buffer.alloc(4);
  end.writeUInt16BE(recordTypes[type], 0);
  end.writeUInt16BE(INTERNET, 2);
  return Buffer.concat([header, encodeName(name), end]);
}

/**
 * Reads a response to one question. Throws for everything else. What it takes is bounded by the message's length:
 * each record takes at least eleven bytes of it, and a name at most 255.
 */
export function decodeResponse(message: Buffer): Response {
  if (message.length > LONGEST_MESSAGE) throw new Error("the message is too long");
  const flags = message.readUInt16BE(2);
  if ((flags & 0x8000) === 0) throw new Error("the message is no response");
  if ((flags & 0x7800) !== 0) throw new Error("the message answers no query");
  if (message.readUInt16BE(4) !== 1) throw new Error("the message answers not exactly one question");
  const { name, end } = readName(message, 12);
  if (message.readUInt16BE(end + 2) !== INTERNET) throw new Error("the message is not of class IN");
  let next = end + 4;
  const section = (at: number): Resource[] => {
    const records: Resource[] = [];
    for (let left = message.readUInt16BE(at); left > 0; left--) {
      const record = readResource(message, next);
      records.push(record);
      next = record.end;
    }
    return records;
  };
  const response = {
    id: message.readUInt16BE(0),
    authoritative: (flags & 0x0400) !== 0,
    truncated: (flags & 0x0200) !== 0,
    code: flags & 0x000f,
    question: { name, type: message.readUInt16BE(end) },
    ...{ answers: section(6), authority: section(8), additional: section(10) },
  };
  if (next !== message.length) throw new Error("the message goes on after its end");
  return response;
}

const INTERNET = 1;

function readResource(message: Buffer, at: number): Resource {
  const { name, end: head } = readName(message, at);
  const type = message.readUInt16BE(head);
  const data = head + 10;
  const end = data + message.readUInt16BE(head + 8);
  if (end > message.length) throw new Error("a record is cut off");
  const ofInternet = message.readUInt16BE(head + 2) === INTERNET;
  const value = ofInternet ? readValue(message, type, data, end) : undefined;
  return { name, type, ttl: message.readUInt32BE(head + 4), value, at, data, end };
}

function readValue(message: Buffer, type: number, at: number, end: number): string | undefined {
  if (type === recordTypes.A) return readAddress(message, at, end, 4);
  if (type === recordTypes.AAAA) return readAddress(message, at, end, 16);
  if (type === recordTypes.TXT) return readText(message, at, end);
  if (type !== recordTypes.NS) return undefined;
  const target = readName(message, at);
  if (target.end !== end) throw new Error("an NS record goes on after its name");
  return target.name;
}

/** As this module takes addresses: IPv6 in brackets. */
function readAddress(message: Buffer, at: number, end: number, size: 4 | 16): string {
  if (end - at !== size) throw new Error("an address is of another length");
  if (size === 4) return message.subarray(at, end).join(".");
  const groups = Array.from({ length: 8 }, (_, group) => message.readUInt16BE(at + 2 * group).toString(16));
  return new URL(`http://[${groups.join(":")}]`).hostname;
}

function readText(message: Buffer, start: number, end: number): string {
  const strings: Buffer[] = [];
  for (let at = start; at < end;) {
    const next = at + 1 + message.readUInt8(at);
    if (next > end) throw new Error("a text is cut off");
    strings.push(message.subarray(at + 1, next));
    at = next;
  }
  return Buffer.concat(strings).toString("utf8");
}
