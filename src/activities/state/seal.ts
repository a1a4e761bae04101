import { createCipheriv, createDecipheriv, createSecretKey, randomBytes, type KeyObject } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import type { StateKey } from "./keys.ts";

/** Content that only holders of a key can read or make: AES-256-GCM under a key of its own, which `key` has wrapped. */
export interface Sealed {
  readonly sealed: typeof SCHEME;
  /** Id of the wrapping key. */
  readonly key: string;
  readonly wrapped: string;
  readonly data: string;
}

/** Seals JSON values and opens them again. `place` says where a value belongs: elsewhere, it does not open. */
export interface Seal {
  seal(content: unknown, place: string): Sealed;
  /** Throws when it was sealed for another place, has been changed, or its key is not there. */
  open(sealed: unknown, place: string): unknown;
  /** Whether it was sealed under the key that seals now. */
  isCurrent(sealed: unknown): boolean;
}

/** Envelope encryption: every value has a key of its own, so that a wrapping key can be changed and is seldom used. */
export function createSeal(keys: readonly StateKey[]): Seal {
  const [current] = keys;
  if (current === undefined) throw new Error("cannot seal a ShootState: there is no key");

  return {
    seal(content, place) {
      const secret = randomBytes(32);
      const zipped = gzipSync(JSON.stringify(content));
      return {
        sealed: SCHEME,
        key: current.id,
        wrapped: encrypt(current.secret, secret, boundTo(current.id, place)),
        data: encrypt(createSecretKey(secret), zipped, place),
      };
    },
    open(sealed, place) {
      if (!isSealed(sealed)) throw new Error(`cannot open ${place}: it is not sealed`);
      const key = keys.find(({ id }) => id === sealed.key);
      if (key === undefined) throw new Error(`cannot open ${place}: ${lacking(sealed.key, keys)}`);
      try {
        const secret = decrypt(key.secret, sealed.wrapped, boundTo(key.id, place));
        const zipped = decrypt(createSecretKey(secret), sealed.data, place);
        return JSON.parse(gunzipSync(zipped).toString()) as unknown;
      } catch (error) {
        throw new Error(
          `cannot open ${place}: it was changed, or sealed for another place or by another key ${key.id}`,
          {
            cause: error,
          },
        );
      }
    },
    isCurrent: (sealed) => isSealed(sealed) && sealed.key === current.id,
  };
}

function lacking(id: string, keys: readonly StateKey[]): string {
  const ours = keys.map((key) => key.id).join(", ");
  return `key ${id} is not among this worker's (${ours}): add it to the file of PERENNIAL_STATE_KEYS_FILE and start the worker again`;
}

/** How content is sealed; another way would get another name. */
const SCHEME = "gzip+aes-256-gcm";

function isSealed(value: unknown): value is Sealed {
  const { sealed, key, wrapped, data } = (value ?? {}) as Partial<Record<keyof Sealed, unknown>>;
  return sealed === SCHEME && [key, wrapped, data].every((field) => typeof field === "string");
}

const boundTo = (key: string, place: string): string => `${key} ${place}`;

/** Nonce, tag and ciphertext in one, as base64. */
function encrypt(key: KeyObject, plain: Uint8Array, place: string): string {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(place));
  const text = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString("base64");
}

function decrypt(key: KeyObject, sealed: string, place: string): Buffer {
  const bytes = Buffer.from(sealed, "base64");
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE), { authTagLength: TAG })
    .setAAD(Buffer.from(place))
    .setAuthTag(bytes.subarray(NONCE, NONCE + TAG));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]);
}

const ALGORITHM = "aes-256-gcm";
const NONCE = 12;
const TAG = 16;
