import { createSecretKey, type KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { parseJson } from "./parsing.ts";

/** A key of 32 bytes; `id` is written beside what it encrypts. */
export interface Key {
  readonly id: string;
  readonly secret: KeyObject;
}

/** Reads a file of keys, `{"keys": [{"id": …, "secret": 32 bytes as base64}]}`, of which the first one is the newest. */
export async function readKeyFile(file: string): Promise<readonly Key[]> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new Error(`cannot read the keys in ${file}`, { cause: error });
  });
  return parseKeyFile(text, file);
}

/** The keys in a file's text. Errors name the key that is wrong, and never what is in it. */
export function parseKeyFile(text: string, file: string): readonly Key[] {
  const entries = entriesOf(text);
  if (entries === undefined || entries.length === 0) fault(file, 'it has to be JSON {"keys": [{"id", "secret"}, …]}');
  const keys = entries.map((entry, index) => {
    const { id, secret } = (entry ?? {}) as { id?: unknown; secret?: unknown };
    if (typeof id !== "string" || id === "") return fault(file, `key ${index + 1} has no id`);
    const bytes = Buffer.from(typeof secret === "string" ? secret : "", "base64");
    if (bytes.length !== KEY_BYTES) return fault(file, `the secret of key ${id} is not ${KEY_BYTES} bytes as base64`);
    return { id, secret: createSecretKey(bytes) };
  });
  const twice = repeatedId(keys);
  if (twice !== undefined) fault(file, `two keys have the id ${twice}`);
  return keys;
}

const KEY_BYTES = 32;

/** The entries of a set of keys, `{"keys": […]}`, in its text; undefined where it is none. */
export function entriesOf(text: string): readonly unknown[] | undefined {
  try {
    const { keys } = (parseJson(text, "the file") ?? {}) as { keys?: unknown };
    return Array.isArray(keys) ? keys : undefined;
  } catch {
    return undefined;
  }
}

/** The first id that two keys have. */
export function repeatedId(keys: readonly { readonly id: string }[]): string | undefined {
  return keys.find(({ id }, index) => keys.findIndex((key) => key.id === id) !== index)?.id;
}

function fault(file: string, why: string): never {
  throw new Error(`cannot use the keys in ${file}: ${why}`);
}
