import { constants, type ServerHttp2Stream } from "node:http2";
import { promisify } from "node:util";
import { gunzip, type ZlibOptions } from "node:zlib";
import { status, type Metadata, type StatusObject } from "@grpc/grpc-js";
import { Refusal } from "./refusal.ts";

/** How a message is read. */
export interface Reading {
  /** Called with the length that the message has, and has after decompression, before any of it is kept; throws to refuse it. */
  readonly reserve: (bytes: number) => void;
  /** How a compressed message is compressed. */
  readonly encoding: string;
  /** In ms: how long it may take to arrive. */
  readonly within: number;
}

/** Reads the one message of a unary call. Throws `Refusal`, or the stream's own error when the caller goes away. */
export async function readMessage(stream: ServerHttp2Stream, reading: Reading): Promise<Uint8Array> {
  const { within } = reading;
  const late = Promise.withResolvers<never>();
  const sentence = `a request has to arrive within ${within / 1000} seconds: send less at a time, or over a faster connection`;
  const timer = setTimeout(() => late.reject(new Refusal(status.DEADLINE_EXCEEDED, sentence)), within);
  try {
    return await Promise.race([assemble(stream, reading), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function assemble(stream: ServerHttp2Stream, reading: Reading): Promise<Uint8Array> {
  const prefix = Buffer.alloc(PREFIX);
  let read = 0;
  let message: Buffer | undefined;
  for await (const piece of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const copied = message === undefined ? piece.copy(prefix, read) : 0;
    read += piece.length;
    if (read < PREFIX) continue;
    message ??= begin(prefix, reading);
    if (read > PREFIX + message.length) throw malformed("has more than one message");
    piece.copy(message, read - PREFIX - (piece.length - copied), copied);
  }
  if (message === undefined || read < PREFIX + message.length) throw malformed("ends within its message");
  return prefix[0] === 0 ? message : await decompressed(message, reading);
}

/** In bytes: one says whether the message is compressed, four say how long it is. */
const PREFIX = 5;

function begin(prefix: Buffer, reading: Reading): Buffer {
  if (prefix[0] !== 0 && reading.encoding !== "gzip")
    throw new Refusal(status.UNIMPLEMENTED, "messages may be compressed by gzip, and by nothing else");
  const length = prefix.readUInt32BE(1);
  reserve(length, reading);
  return Buffer.allocUnsafe(length);
}

function reserve(length: number, reading: Reading): void {
  if (length > LARGEST_MESSAGE)
    throw new Refusal(
      status.RESOURCE_EXHAUSTED,
      `a message has ${length} bytes, and may have ${LARGEST_MESSAGE}: send less at a time`,
    );
  reading.reserve(length);
}

/** In bytes: as much as Temporal's frontend accepts. */
const LARGEST_MESSAGE = 4 * 1024 * 1024;

/** A message of gzip ends with the length that it has (RFC 1952); one that becomes longer is no message. */
async function decompressed(message: Buffer, reading: Reading): Promise<Uint8Array> {
  if (message.length < TRAILER) throw malformed("is no message of gzip");
  const length = message.readUInt32LE(message.length - TRAILER);
  reserve(length, reading);
  try {
    return await unzip(message, { maxOutputLength: Math.max(length, 1) });
  } catch {
    throw malformed("is no message of gzip, or becomes longer than it says");
  }
}

const unzip = promisify<Buffer, ZlibOptions, Buffer>(gunzip);

/** In bytes. */
const TRAILER = 4;

const malformed = (how: string) => new Refusal(status.INVALID_ARGUMENT, `a unary call ${how}`);

/** Answers a call with a message, and ends it when the caller does not read it within that time, in ms. A caller that has gone gets nothing. */
export function sendMessage(stream: ServerHttp2Stream, message: Uint8Array, within: number): void {
  if (stream.destroyed || stream.closed) return;
  const cut = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), within).unref();
  stream.once("close", () => clearTimeout(cut));
  stream.respond(HEADERS, { waitForTrailers: true });
  stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  const prefix = Buffer.alloc(PREFIX);
  prefix.writeUInt32BE(message.length, 1);
  stream.cork();
  stream.write(prefix);
  stream.end(message);
  stream.uncork();
}

/** A call's end without a message. */
export type Status = Pick<StatusObject, "code" | "details"> & { readonly metadata?: Metadata };

/** Answers a call with a status; what is still arriving of its request is not read. A caller that has gone gets nothing. */
export function sendStatus(stream: ServerHttp2Stream, { code, details, metadata }: Status): void {
  if (stream.destroyed || stream.closed) return;
  const said = { "grpc-status": String(code), "grpc-message": percentEncoded(details) };
  stream.respond({ ...metadata?.toHttp2Headers(), ...HEADERS, ...said }, { endStream: true });
  stream.resume();
  if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
}

const HEADERS = { ":status": 200, "content-type": "application/grpc", "grpc-accept-encoding": "identity,gzip" };

/** gRPC's encoding of a status message. */
const percentEncoded = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replaceAll(/%(?:20|22|2C|2F|3A|3B|3D)/g, decodeURIComponent);
