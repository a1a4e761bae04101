import { createSecretKey, randomBytes, type KeyObject } from "node:crypto";
import { CompactEncrypt, compactDecrypt } from "jose";
import type { PublicStateKey } from "../../api/core/state-key.ts";
import type { StateKey } from "./keys.ts";

/** A key that seals what is kept of one Shoot. It is of one epoch: another leader makes another. */
export interface DataKey {
  readonly id: string;
  readonly secret: KeyObject;
}

/** Which data key of which Shoot: what a wrapped key says of itself, and cannot be made to say otherwise. */
export interface DataKeyPlace {
  /** The Shoot's uid. */
  readonly uid: string;
  /** The data key's id. */
  readonly id: string;
}

/** A new data key for what is sealed in this epoch. */
export function makeDataKey(epoch: number): DataKey {
  return { id: `${epoch}.${randomBytes(6).toString("hex")}`, secret: createSecretKey(randomBytes(32)) };
}

/** The epoch that a data key is of, by its id. */
export const epochOfDataKey = (id: string): number => Number(id.split(".")[0]);

/** Wraps a data key for one holder: a JWE (RFC 7516) that its private key opens, and that names the Shoot. */
export async function wrapDataKey({ id, secret }: DataKey, uid: string, holder: PublicStateKey): Promise<string> {
  const { kid } = holder;
  return await new CompactEncrypt(secret.export())
    .setProtectedHeader({ alg: WRAPPING, enc: ENCRYPTION, kid, shoot: uid, "data-key": id })
    .encrypt(holder);
}

/** Opens a wrapped data key; throws when it is not for this key, or of another place. */
export async function unwrapDataKey(wrapped: string, { uid, id }: DataKeyPlace, own: StateKey): Promise<DataKey> {
  const { plaintext, protectedHeader } = await compactDecrypt(wrapped, own.privateKey, {
    keyManagementAlgorithms: [WRAPPING],
    contentEncryptionAlgorithms: [ENCRYPTION],
  });
  if (protectedHeader["shoot"] !== uid || protectedHeader["data-key"] !== id)
    throw new Error(`cannot open data key ${id} of Shoot ${uid}: what is there is another Shoot's, or another key`);
  return { id, secret: createSecretKey(plaintext) };
}

const WRAPPING = "ECDH-ES+A256KW";
const ENCRYPTION = "A256GCM";
