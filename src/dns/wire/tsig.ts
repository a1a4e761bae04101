import { createHmac, timingSafeEqual } from "node:crypto";
import { decodeResponse, recordTypes, type Response } from "./message.ts";
import { encodeName, readName } from "./name.ts";

/** A key that a server shares with those who ask it. */
export interface TsigKey {
  readonly name: string;
  readonly algorithm: TsigAlgorithm;
  readonly secret: Buffer;
}

/** The algorithms that RFC 8945, 6 recommends; those by MD5 and SHA-1 are refused. */
export const tsigAlgorithms = { "hmac-sha256": "sha256", "hmac-sha384": "sha384", "hmac-sha512": "sha512" } as const;

/** One of {@link tsigAlgorithms}. */
export type TsigAlgorithm = keyof typeof tsigAlgorithms;

/** A signed message, and the signature that its answer is bound to. */
export interface Signed {
  readonly message: Buffer;
  readonly mac: Buffer;
}

/** How far the clocks of both sides may be apart, in s (RFC 8945, 10). */
const FUDGE = 300;

/** Adds the signature (TSIG) to a message; `now` is in s since 1970. */
export function signMessage(message: Buffer, key: TsigKey, now: number): Signed {
  const times = encodeTimes(now, FUDGE);
  const mac = digest(key, [message, variables(key, times, NO_ERROR, NOTHING)]);
  const id = message.subarray(0, 2);
  const data = Buffer.concat([encodeName(key.algorithm), times, uint16(mac.length), mac, id, NO_ERROR, uint16(0)]);
  const record = Buffer.concat([encodeName(key.name), TSIG_ANY, Buffer.alloc(4), uint16(data.length), data]);
  const signed = Buffer.concat([message, record]);
  signed.writeUInt16BE(message.readUInt16BE(10) + 1, 10);
  return { message: signed, mac };
}

/**
 * Reads a response and holds its signature against the key and the question's own signature (RFC 8945, 5.3). So the
 * answer is the server's, unchanged, and to this very question. Throws, saying why, for everything else.
 */
export function readSigned(message: Buffer, key: TsigKey, questionMac: Buffer, now: number): Response {
  const response = decodeResponse(message);
  const last = response.additional.at(-1);
  if (last?.type !== recordTypes.TSIG) throw new Error("the answer is not signed");
  const { name: algorithm, end } = readName(message, last.data);
  if (last.name !== key.name || algorithm !== key.algorithm) throw new Error("the answer is signed with another key");
  const times = message.subarray(end, end + 8);
  const mac = message.subarray(end + 10, end + 10 + message.readUInt16BE(end + 8));
  const rest = end + 10 + mac.length;
  const error = message.subarray(rest + 2, rest + 4);
  const other = message.subarray(rest + 6, last.end);
  if (other.length !== message.readUInt16BE(rest + 4)) throw new Error("the signature is cut off");
  const unsigned = Buffer.from(message.subarray(0, last.at));
  unsigned.writeUInt16BE(message.readUInt16BE(10) - 1, 10);
  message.copy(unsigned, 0, rest, rest + 2); // a forwarder may have changed the id
  const wanted = digest(key, [uint16(questionMac.length), questionMac, unsigned, variables(key, times, error, other)]);
  if (mac.length !== wanted.length || !timingSafeEqual(mac, wanted)) throw new Error(refusal(error));
  if (!error.equals(NO_ERROR)) throw new Error(refusal(error));
  if (Math.abs(times.readUIntBE(0, 6) - now) > times.readUInt16BE(6)) throw new Error(refusal(BAD_TIME));
  return response;
}

const NOTHING = Buffer.alloc(0);
const NO_ERROR = uint16(0);
const BAD_TIME = uint16(18);
const ANY_CLASS = uint16(255);
const TSIG_ANY = Buffer.concat([uint16(recordTypes.TSIG), ANY_CLASS]);

/** What a server says of a question that it did not take, by number (RFC 8945, 3). */
function refusal(error: Buffer): string {
  const code = error.readUInt16BE(0);
  if (code === 16) return "the server says that the signature is wrong (BADSIG)";
  if (code === 17) return "the server does not know the key (BADKEY)";
  return code === 18 ? "the clocks are more than 300 s apart (BADTIME)" : "the answer's signature is wrong";
}

function digest({ algorithm, secret }: TsigKey, parts: readonly Buffer[]): Buffer {
  return createHmac(tsigAlgorithms[algorithm], secret).update(Buffer.concat(parts)).digest();
}

/** What is signed besides the message (RFC 8945, 4.3.3). */
function variables(key: TsigKey, times: Buffer, error: Buffer, other: Buffer): Buffer {
  const ttl = Buffer.alloc(4);
  const names = [encodeName(key.name), ANY_CLASS, ttl, encodeName(key.algorithm)];
  return Buffer.concat([...names, times, error, uint16(other.length), other]);
}

function encodeTimes(now: number, fudge: number): Buffer {
  const times = Buffer.alloc(8);
  times.writeUIntBE(now, 0, 6);
  times.writeUInt16BE(fudge, 6);
  return times;
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
