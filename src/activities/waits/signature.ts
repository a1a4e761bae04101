import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { WAIT_ANNOTATION } from "../../api/annotations.ts";
import type { StateKey } from "../state/keys.ts";

/** Signs what this worker will read again in a place where others can write. */
export interface Signer {
  sign(text: string): string;
  verify(text: string, signature: string): boolean;
}

/**
 * An HMAC under keys that only this seed's worker has: derived from its private keys, so that a new process knows them
 * again, and for this one purpose. The first signs, each one verifies, so that a wait outlives a change of the key.
 */
export function createSigner(keys: readonly StateKey[]): Signer {
  const secrets = keys.map(({ privateKey }) => {
    const { d = "" } = privateKey.export({ format: "jwk" });
    return Buffer.from(hkdfSync("sha256", Buffer.from(d, "base64url"), "", WAIT_ANNOTATION, 32));
  });
  const [current] = secrets;
  if (current === undefined) throw new Error("cannot sign waits: there is no key");
  const mac = (secret: Buffer, text: string) => createHmac("sha256", secret).update(text).digest();
  return {
    sign: (text) => mac(current, text).toString("base64url"),
    verify(text, signature) {
      const given = Buffer.from(signature, "base64url");
      return secrets.some((secret) => {
        const right = mac(secret, text);
        return given.length === right.length && timingSafeEqual(given, right);
      });
    },
  };
}
