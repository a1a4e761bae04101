import { generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import type { SecretData } from "./store.ts";

/** A new key for SSH (RSA, 4096 bits, as every provider takes it): `id_rsa` in PEM (PKCS #1), `id_rsa.pub` as a line of authorized keys. */
export async function generateSshKeyPair(): Promise<SecretData> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)("rsa", { modulusLength: 4096 });
  return {
    id_rsa: privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
    "id_rsa.pub": `ssh-rsa ${encodePublicKey(publicKey).toString("base64")}\n`,
  };
}

/** The format of RFC 4253, section 6.6: name, exponent and modulus, each behind its length. */
function encodePublicKey(key: KeyObject): Buffer {
  const { e = "", n = "" } = key.export({ format: "jwk" });
  const numbers = [e, n].map((number) => positive(Buffer.from(number, "base64url")));
  return Buffer.concat([Buffer.from("ssh-rsa"), ...numbers].flatMap((part) => [lengthOf(part), part]));
}

/** A number whose first bit is set would be a negative one. */
const positive = (number: Buffer): Buffer =>
  (number[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), number]) : number;

function lengthOf(part: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(part.length);
  return length;
}
