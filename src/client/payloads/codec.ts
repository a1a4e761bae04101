import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Payload, PayloadCodec } from "@temporalio/common";
import proto from "@temporalio/proto";
import type { Key } from "../../key-file.ts";

/**
 * Encrypts payloads with AES-256-GCM before they leave a process: Temporal, its database and its UI see none. The first key
 * encrypts; each payload says the id of its key, and every key decrypts. What was written in the clear before stays readable.
 */
export function createCodec(keys: readonly Key[]): PayloadCodec {
  const [current] = keys;
  if (current === undefined) throw new Error("cannot encrypt payloads: there is no key");
  return {
    encode: async (payloads) => payloads.map((payload) => encrypt(payload, current)),
    decode: async (payloads) => payloads.map((payload) => (isEncrypted(payload) ? decrypt(payload, keys) : payload)),
  };
}

/** Whether a payload is one that {@link createCodec} made. */
export function isEncrypted({ metadata }: Payload): boolean {
  return textOf(metadata?.["encoding"]) === ENCODING;
}

const ENCODING = "binary/encrypted";

/** Bytes: those of the nonce come first, those of the tag last. */
const [NONCE, TAG] = [12, 16];

/** Its type says `Payload` is a class, whose instances Temporal's own codecs do not make either. */
const { Payload: Message } = proto.temporal.api.common.v1;

function encrypt(payload: Payload, { id, secret }: Key): Payload {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv("aes-256-gcm", secret, nonce, { authTagLength: TAG }).setAAD(Buffer.from(id));
  const data = Buffer.concat([
    nonce,
    cipher.update(Message.encode(payload).finish()),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return { metadata: { encoding: Buffer.from(ENCODING), "encryption-key-id": Buffer.from(id) }, data };
}

function decrypt({ metadata, data }: Payload, keys: readonly Key[]): Payload {
  const id = textOf(metadata?.["encryption-key-id"]);
  const key = keys.find((one) => one.id === id);
  if (key === undefined) throw new Error(`cannot decrypt a payload: there is no key ${JSON.stringify(id)}`);
  const bytes = Buffer.from(data ?? []);
  try {
    if (bytes.length < NONCE + TAG) throw new Error("it is too short");
    const decipher = createDecipheriv("aes-256-gcm", key.secret, bytes.subarray(0, NONCE), { authTagLength: TAG });
    decipher.setAAD(Buffer.from(key.id)).setAuthTag(bytes.subarray(bytes.length - TAG));
    const plain = Buffer.concat([decipher.update(bytes.subarray(NONCE, bytes.length - TAG)), decipher.final()]);
    return Message.decode(plain);
  } catch (cause) {
    throw new Error(`cannot decrypt a payload: it was changed, or encrypted by another key ${key.id}`, { cause });
  }
}

const textOf = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString();
