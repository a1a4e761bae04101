import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, type KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { PublicStateKey } from "../../api/core/state-key.ts";
import { entriesOf, repeatedId } from "../../key-file.ts";

/** A key of one holder of ShootStates: a seed's worker, or the garden's. Only its holder knows the private half. */
export interface StateKey {
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly publicKey: PublicStateKey;
}

/** Reads a file of private keys, a JWK set: what is sealed anew is sealed for the first one, every one opens. */
export async function readStateKeys(file: string): Promise<readonly StateKey[]> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new Error(`cannot read the keys of ShootStates: ${file} cannot be read`, { cause: error });
  });
  return parseStateKeys(text, file);
}

/** The keys in a file's text. Errors name the key that is wrong, and never what is in it. */
export function parseStateKeys(text: string, file = "the file"): readonly StateKey[] {
  const entries = entriesOf(text);
  if (entries === undefined || entries.length === 0) fault(file, 'it has to be a JWK set, {"keys": [{"kty", …}, …]}');
  const keys = entries.map((entry, index) => parseKey(entry, index + 1, file));
  const twice = repeatedId(keys);
  if (twice !== undefined) fault(file, `two keys have the kid ${twice}`);
  return keys;
}

/** The text of a file with a new key for this holder, which comes first; the keys of the file that there was go on opening. */
export function addStateKey(holder: string, before?: string): string {
  const older = before === undefined ? [] : checked(before);
  const kid = `${holder}-${randomBytes(4).toString("hex")}`;
  const jwk = generateKeyPairSync("x25519").privateKey.export({ format: "jwk" });
  return `${JSON.stringify({ keys: [{ kid, ...jwk }, ...older] }, null, 2)}\n`;
}

function checked(text: string): readonly unknown[] {
  parseStateKeys(text);
  return entriesOf(text) ?? [];
}

interface Jwk {
  readonly kid?: unknown;
  readonly kty?: unknown;
  readonly crv?: unknown;
  readonly x?: unknown;
  readonly d?: unknown;
  /** Of the format in which all seeds had the same key. */
  readonly secret?: unknown;
}

function parseKey(entry: unknown, position: number, file: string): StateKey {
  const { kid, kty, crv, x, d, secret } = (entry ?? {}) as Jwk;
  if (secret !== undefined)
    fault(
      file,
      `key ${position} is one that all seeds share: every seed needs a key of its own now, see docs/state-keys.md`,
    );
  if (typeof kid !== "string" || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(kid))
    return fault(file, `key ${position} has no kid of letters, digits, ".", "_" and "-"`);
  if (kty !== "OKP" || crv !== "X25519") return fault(file, `key ${kid} is not of type OKP on curve X25519`);
  const privateKey = importKey({ kty, crv, x, d });
  if (privateKey === undefined) return fault(file, `key ${kid} has no private half d, or it does not fit its x`);
  return { id: kid, privateKey, publicKey: { kid, kty, crv, x: String(x) } };
}

/** Undefined where both halves are not one key; Node's error would quote them. */
function importKey(jwk: Readonly<Record<"kty" | "crv" | "x" | "d", unknown>>): KeyObject | undefined {
  try {
    const key = createPrivateKey({ key: jwk as never, format: "jwk" });
    return createPublicKey(key).export({ format: "jwk" }).x === jwk.x ? key : undefined;
  } catch {
    return undefined;
  }
}

function fault(file: string, why: string): never {
  throw new Error(`cannot use the keys of ShootStates in ${file}: ${why}`);
}
