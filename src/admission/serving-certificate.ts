import "reflect-metadata";
import { KeyObject, randomBytes, webcrypto } from "node:crypto";
import { isIP } from "node:net";
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import type { ServingCertificate } from "./server.ts";

/**
 * Makes a certificate for a webhook server that can be reached under `hosts` (names or IP addresses), signed by itself:
 * it is its own CA bundle. Good for a year; for a server whose certificate no other tool manages.
 */
export async function makeServingCertificate(
  hosts: readonly string[],
  issued = new Date(),
): Promise<ServingCertificate & { readonly caBundle: string }> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const now = issued.getTime();
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: randomBytes(16).toString("hex"),
      name: "CN=perennial-admission",
      notBefore: new Date(now - hour), // clocks differ
      notAfter: new Date(now + 365 * 24 * hour),
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
        new SubjectAlternativeNameExtension(
          hosts.map((value) => ({ type: isIP(value) === 0 ? ("dns" as const) : ("ip" as const), value })),
        ),
      ],
    },
    webcrypto,
  );
  const cert = certificate.toString("pem");
  const key = KeyObject.from(keys.privateKey).export({ type: "pkcs8", format: "pem" }).toString();
  return { cert, key, caBundle: cert };
}

const hour = 60 * 60 * 1000;
