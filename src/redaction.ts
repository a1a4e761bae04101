/** What stands for a secret. */
export const REDACTED = "[redacted]";

/** Fields that may hold credentials, whatever they belong to: Secrets, kubeconfigs, headers, keys of ours. */
export const secretFields = new Set([
  ...["kubeconfig", "token", "key", "clientKey", "privateKey", "password", "authorization", "data", "stringData"],
  ...["client-key-data", "client-certificate-data", "Authorization", "secret", "keys", "d"],
]);

/** Levels beyond which nothing is shown: no record of ours goes that deep. */
const DEEPEST = 12;

/**
 * The same value without what may be a credential: fields by their names, at any depth, and texts by their looks. What
 * is no plain object, such as an Error, stays as it is.
 */
export function redacted(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return withoutSecrets(value);
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value) && !isPlain(value)) return value;
  if (depth === DEEPEST) return REDACTED;
  if (Array.isArray(value)) return value.map((one) => redacted(one, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, secretFields.has(name) ? REDACTED : redacted(one, depth + 1)]),
  );
}

/** The text without what looks like a credential: PEM, passwords and signatures in URLs, bearer tokens, JWTs, assignments to a secret's name. */
export function withoutSecrets(text: string): string {
  return text
    .replaceAll(/-----BEGIN [^-]+-----[\s\S]*?(-----END [^-]+-----|$)/g, REDACTED)
    .replaceAll(/(:\/\/[^:@/\s]+):[^@/\s]+@/g, `$1:${REDACTED}@`)
    .replaceAll(/:\/\/[^:@/?\s]+@/g, `://${REDACTED}@`)
    .replaceAll(/([?&](?:x-amz-)?(?:sig|signature|credential))=[^\s"'&]+/gi, `$1=${REDACTED}`)
    .replaceAll(/\b(bearer|basic) [^\s"',]+/gi, REDACTED)
    .replaceAll(/[\w.-]+/g, withoutTokens)
    .replaceAll(/(password|passwd|token|secret|authorization)(["']?\s*[=:]\s*["']?)[^\s"',]+/gi, `$1$2${REDACTED}`);
}

/** A word without JWTs. Each part of it is looked at once: one pattern for all three would take a long word's length squared. */
function withoutTokens(word: string): string {
  if (!word.includes("eyJ")) return word;
  const parts = word.split(".");
  const kept: string[] = [];
  for (let at = 0; at < parts.length; at++) {
    const [part = "", payload = ""] = parts.slice(at, at + 2);
    const start = part.search(/\beyJ[\w-]/);
    const isToken = start >= 0 && payload !== "" && at + 2 < parts.length;
    kept.push(isToken ? part.slice(0, start) + REDACTED : part);
    if (isToken) at += 2;
  }
  return kept.join(".");
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
