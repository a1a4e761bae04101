import { createSecretKey, type KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";

/** A key that wraps the keys of sealed content; `id` is written beside whatever it wraps. */
export interface StateKey {
  readonly id: string;
  readonly secret: KeyObject;
}

/** Reads the file of keys, `{"keys": [{"id": …, "secret": 32 bytes as base64}]}`: the first one seals, every one opens. */
export async function readStateKeys(file: string): Promise<readonly StateKey[]> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new Error(`cannot read the keys of ShootStates: ${file} cannot be read`, { cause: error });
  });
  return parseStateKeys(text, file);
}

/** The keys in a file's text. Errors name the key that is wrong, and never what is in it. */
export function parseStateKeys(text: string, file = "the file"): readonly StateKey[] {
  const entries = entriesOf(text);
  if (entries === undefined || entries.length === 0) fault(file, 'it has to be JSON {"keys": [{"id", "secret"}, …]}');
  const keys = entries.map((entry, index) => {
    const { id, secret } = (entry ?? {}) as { id?: unknown; secret?: unknown };
    if (typeof id !== "string" || id === "") return fault(file, `key ${index + 1} has no id`);
    const bytes = Buffer.from(typeof secret === "string" ? secret : "", "base64");
    if (bytes.length !== KEY_BYTES) return fault(file, `the secret of key ${id} is not ${KEY_BYTES} bytes as base64`);
    return { id, secret: createSecretKey(bytes) };
  });
  const twice = keys.find(({ id }, index) => keys.findIndex((key) => key.id === id) !== index);
  if (twice) fault(file, `two keys have the id ${twice.id}`);
  return keys;
}

const KEY_BYTES = 32;

/** JSON.parse quotes what it could not read: that must not get into a log. */
function entriesOf(text: string): readonly unknown[] | undefined {
  try {
    const { keys } = (JSON.parse(text) ?? {}) as { keys?: unknown };
    return Array.isArray(keys) ? keys : undefined;
  } catch {
    return undefined;
  }
}

function fault(file: string, why: string): never {
  throw new Error(`cannot use the keys of ShootStates in ${file}: ${why}`);
}
