import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import type { DataKey } from "./data-key.ts";
import { parseJson } from "../../parsing.ts";

/** Content that only holders of a data key can read or make: AES-256-GCM. */
export interface Sealed {
  readonly sealed: typeof SCHEME;
  /** Id of the data key. */
  readonly key: string;
  readonly data: string;
}

/** Seals JSON values and opens them again. `place` says where a value belongs: elsewhere, it does not open. */
export interface Seal {
  seal(content: unknown, place: string): Sealed;
  /** Throws when it was sealed for another place, has been changed, its key is not there, or it takes too much memory. */
  open(sealed: unknown, place: string): unknown;
  /** Whether it was sealed under the key that seals now. */
  isCurrent(sealed: unknown): boolean;
}

/** Opens with these data keys of a Shoot, up to a bound, and seals with `current`; without one, it only opens. */
export function createSeal(keys: ReadonlyMap<string, DataKey>, current?: DataKey): Seal {
  let left = ALL_LIMIT;

  /** What is refused counts as much as it was allowed: it has cost that much to find out. */
  const unzip = (zipped: Buffer, place: string): string => {
    const limit = Math.min(OPENED_LIMIT, left);
    if (limit === 0) throw tooLarge(place, ALL_LIMIT);
    try {
      const opened = gunzipSync(zipped, { maxOutputLength: limit });
      left -= opened.length;
      return opened.toString();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_BUFFER_TOO_LARGE") throw error;
      left -= limit;
      throw tooLarge(place, limit === OPENED_LIMIT ? OPENED_LIMIT : ALL_LIMIT, error);
    }
  };

  return {
    seal(content, place) {
      if (current === undefined) throw new Error(`cannot seal ${place}: there is no data key to seal with`);
      const { id, secret } = current;
      return { sealed: SCHEME, key: id, data: encrypt(secret, gzipSync(JSON.stringify(content)), boundTo(id, place)) };
    },
    open(sealed, place) {
      if (isShared(sealed))
        throw new Error(`cannot open ${place}: it was sealed by key ${sealed.key}, which ${FORMER}`);
      if (!isSealed(sealed)) throw new Error(`cannot open ${place}: it is not sealed`);
      const key = current?.id === sealed.key ? current : keys.get(sealed.key);
      if (key === undefined)
        throw new Error(`cannot open ${place}: data key ${sealed.key} is not wrapped for this worker`);
      try {
        return parseJson(unzip(decrypt(key.secret, sealed.data, boundTo(key.id, place)), place), place);
      } catch (error) {
        if (error instanceof TooLarge) throw error;
        throw new Error(`cannot open ${place}: it was changed, or sealed for another place`, { cause: error });
      }
    },
    isCurrent: (sealed) => isSealed(sealed) && sealed.key === current?.id,
  };
}

/** Bytes of one value, decompressed: several times what an object in an etcd can have. Who sealed it may have packed zeros. */
const OPENED_LIMIT = 8_000_000;

/** Bytes of all values that one seal opens, which are at most those of one ShootState: ten times what its objects hold. */
const ALL_LIMIT = 64_000_000;

class TooLarge extends Error {}

const tooLarge = (place: string, limit: number, cause?: unknown): TooLarge =>
  new TooLarge(
    `cannot open ${place}: ${limit === OPENED_LIMIT ? "it" : "what is kept with it"} would take more than ${limit / 1_000_000} MB`,
    { cause },
  );

/** How content is sealed; another way would get another name. */
const SCHEME = "gzip+aes-256-gcm+data-key";

/** What was sealed by one key for all seeds; its format can be told, and nothing opens it. */
const FORMER = "all seeds shared before each had a key of its own: docs/state-keys.md says what to do";

function isSealed(value: unknown): value is Sealed {
  const { sealed, key, data } = (value ?? {}) as Partial<Record<keyof Sealed, unknown>>;
  return sealed === SCHEME && [key, data].every((field) => typeof field === "string");
}

function isShared(value: unknown): value is { readonly key: string } {
  const { sealed, key } = (value ?? {}) as Partial<Record<keyof Sealed, unknown>>;
  return sealed === "gzip+aes-256-gcm" && typeof key === "string";
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
