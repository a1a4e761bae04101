import { createHmac, timingSafeEqual } from "node:crypto";
import type { Key } from "../key-file.ts";

/** Marks task tokens with whom they were handed out to. */
export interface TaskTokens {
  /** The token as its holder gets it. */
  seal(token: Uint8Array, holder: string): Uint8Array;
  /** The token as Temporal knows it; undefined when it was not sealed for this holder. */
  open(sealed: Uint8Array, holder: string): Uint8Array | undefined;
}

/**
 * Temporal's task tokens are neither signed nor secret: who knows a workflow's ids can write one. A sealed token is a version,
 * the MAC of holder and token, and the token. The first key seals, every key opens.
 */
export function createTaskTokens(keys: readonly Key[]): TaskTokens {
  const [first] = keys;
  if (first === undefined) throw new Error("cannot seal task tokens: there is no key");
  return {
    seal: (token, holder) => Buffer.concat([VERSION, macOf(first, holder, token), token]),
    open(sealed, holder) {
      const bytes = Buffer.from(sealed);
      if (bytes.length <= HEADER || !bytes.subarray(0, VERSION.length).equals(VERSION)) return undefined;
      const [mac, token] = [bytes.subarray(VERSION.length, HEADER), bytes.subarray(HEADER)];
      return keys.some((key) => timingSafeEqual(mac, macOf(key, holder, token))) ? token : undefined;
    },
  };
}

const VERSION = Buffer.from([0xb1, 0x01]);
const MAC_BYTES = 32;
const HEADER = VERSION.length + MAC_BYTES;

/** The holder's length comes first, so that no other holder and token give the same bytes. */
function macOf({ secret }: Key, holder: string, token: Uint8Array): Buffer {
  const name = Buffer.from(holder);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(name.length);
  return createHmac("sha256", secret).update("perennial task token").update(length).update(name).update(token).digest();
}
