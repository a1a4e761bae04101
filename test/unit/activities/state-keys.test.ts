import { describe, expect, it } from "vitest";
import { addStateKey, parseStateKeys } from "../../../src/activities/state/keys.ts";

const file = addStateKey("seed-1");
const [jwk] = (JSON.parse(file) as { keys: Record<string, string>[] }).keys;
const other = (JSON.parse(addStateKey("seed-2")) as { keys: Record<string, string>[] }).keys[0];
const withKeys = (...keys: unknown[]) => JSON.stringify({ keys });

describe("a file of state keys", () => {
  it("is made with one key, and gets a further one that comes first", () => {
    const [key] = parseStateKeys(file);
    expect(key?.id).toMatch(/^seed-1-[0-9a-f]{8}$/);
    expect(key?.publicKey).toEqual({ kid: key?.id, kty: "OKP", crv: "X25519", x: jwk?.["x"] });
    const rotated = parseStateKeys(addStateKey("seed-1", file));
    expect(rotated).toHaveLength(2);
    expect(rotated[1]?.id).toBe(key?.id);
  });

  it.each([
    ["nothing", "", "has to be a JWK set"],
    ["no keys", withKeys(), "has to be a JWK set"],
    ["no kid", withKeys({ ...jwk, kid: undefined }), "key 1 has no kid"],
    ["a kid that names no key", withKeys({ ...jwk, kid: "a b" }), "key 1 has no kid"],
    ["a key of another type", withKeys({ ...jwk, crv: "Ed25519" }), "is not of type OKP on curve X25519"],
    ["a public key only", withKeys({ ...jwk, d: undefined }), "has no private half d"],
    ["halves of two keys", withKeys({ ...jwk, x: other?.["x"] }), "it does not fit its x"],
    ["a kid twice", withKeys(jwk, jwk), "two keys have the kid seed-1-"],
    ["the key of all seeds", withKeys({ id: "2026", secret: "AAAA" }), "key 1 is one that all seeds share"],
  ])("with %s is refused", (_, text, reason) => {
    expect(() => parseStateKeys(text, "keys.json")).toThrow(reason);
  });

  it("is never quoted in an error", () => {
    const secret = String(jwk?.["d"]);
    expect.assertions(3);
    for (const text of [
      withKeys({ ...jwk, d: `${secret}a` }),
      withKeys({ ...jwk, x: other?.["x"] }),
      `{"keys": "${secret}`,
    ]) {
      try {
        parseStateKeys(text);
      } catch (error) {
        expect(inspectAll(error)).not.toContain(secret.slice(0, 8));
      }
    }
  });
});

/** An error with its causes, as a log shows it. */
function inspectAll(error: unknown): string {
  return error instanceof Error ? `${error.stack} ${inspectAll(error.cause)}` : String(error);
}
