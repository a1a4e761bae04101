import { z } from "zod";
import { object } from "../schema/fields.ts";

/** A public key as a JWK (RFC 8037, X25519): with it, a Shoot's data key is wrapped for the holder of the private one. */
export const stateKey = object({
  kid: z
    .string()
    .max(100)
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/)
    .describe("KeyID tells this key from the others of its holder."),
  kty: z.literal("OKP").describe("KeyType is OKP: an octet key pair."),
  crv: z.literal("X25519").describe("Curve is the curve of the key."),
  x: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43}$/)
    .describe("X is the public key, in base64url."),
});

/** A public key as a JWK. */
export type PublicStateKey = z.infer<typeof stateKey>;

/** Public keys of one holder, the current one first. */
export const stateKeySet = object({ keys: z.array(stateKey).min(1) });
