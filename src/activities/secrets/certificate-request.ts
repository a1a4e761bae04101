import "reflect-metadata";
import { KeyObject, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";
import { subject } from "./pki.ts";

/** A request for a certificate, and the private key that it is for, in PEM. */
export interface NewRequest {
  readonly request: string;
  readonly key: string;
}

/** For whom a certificate is asked, and under which names it would serve. */
export interface RequestedIdentity {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** DNS names and IP addresses; of any other sort of name, its sort and value. */
  readonly hosts: readonly string[];
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

/** Reads a request in PEM; undefined where it is none, or asks for more than a user, its groups and its names. */
export function readRequest(pem: string): RequestedIdentity | undefined {
  try {
    const request = new x509.Pkcs10CertificateRequest(pem);
    const parts = request.subjectName.toJSON();
    const others = parts.flatMap((part) => Object.keys(part)).filter((field) => field !== "CN" && field !== "O");
    const values = (field: "CN" | "O") => parts.flatMap((part) => part[field] ?? []);
    const [commonName, ...more] = values("CN");
    if (commonName === undefined || more.length > 0 || others.length > 0) return undefined;
    const names = request.extensions.filter((one) => one instanceof x509.SubjectAlternativeNameExtension);
    const hosts = names.flatMap(({ names: { items } }) => items.map(nameOf));
    return { commonName, organizations: values("O"), hosts };
  } catch {
    return undefined;
  }
}

const nameOf = ({ type, value }: x509.GeneralName): string =>
  type === "dns" || type === "ip" ? value : `${type}:${value}`;
