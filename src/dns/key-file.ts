import { readFile } from "node:fs/promises";
import { canonicalName } from "./domain.ts";
import { tsigAlgorithms, type TsigAlgorithm, type TsigKey } from "./wire/tsig.ts";

/** In ms: how long a key is taken for what the file says, so that a new one is used without a restart. */
const MEMORY = 10_000;

/** The key in a file, read again from time to time. Throws when there is no key in it. */
export function createKeySource(file: string, now: () => number = () => performance.now()): () => Promise<TsigKey> {
  let known: { readonly key: TsigKey; readonly at: number } | undefined;
  return async () => {
    if (known !== undefined && now() - known.at < MEMORY) return known.key;
    const key = parseKey(file, await readFile(file, "utf8"));
    known = { key, at: now() };
    return key;
  };
}

/** Reads a key as `tsig-keygen` writes it, and named and nsupdate read it. No error quotes the file. */
export function parseKey(file: string, text: string): TsigKey {
  const name = /\bkey\s+"?([^"\s{]+)"?\s*\{/.exec(text)?.[1];
  const algorithm = /\balgorithm\s+"?([\w-]+)"?\s*;/.exec(text)?.[1]?.toLowerCase();
  const secret = /\bsecret\s+"([A-Za-z0-9+/=]+)"\s*;/.exec(text)?.[1];
  if (name === undefined || secret === undefined || !isAlgorithm(algorithm))
    throw new Error(`cannot read ${file}: it has no key of algorithm ${Object.keys(tsigAlgorithms).join(", ")}`);
  return { name: canonicalName(name), algorithm, secret: Buffer.from(secret, "base64") };
}

const isAlgorithm = (name: string | undefined): name is TsigAlgorithm =>
  name !== undefined && Object.hasOwn(tsigAlgorithms, name);
