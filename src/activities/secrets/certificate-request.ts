import "reflect-metadata";
import { KeyObject, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";
import { subject } from "./pki.ts";

/** A request for a certificate, and the private key that it is for, in PEM. */
export interface NewRequest {
  readonly request: string;
  readonly key: string;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/** A request for a client certificate of this user and these groups, with a key of its own. */
export async function createClientRequest(commonName: string, organizations: readonly string[]): Promise<NewRequest> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const request = await x509.Pkcs10CertificateRequestGenerator.create(
    { name: subject({ commonName, organizations }), keys, signingAlgorithm: algorithm },
    webcrypto,
  );
  const key = KeyObject.from(keys.privateKey).export({ type: "pkcs8", format: "pem" }).toString();
  return { request: `${request.toString("pem").trimEnd()}\n`, key };
}
