import "reflect-metadata";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import * as x509 from "@peculiar/x509";
import { extendedUsage, subject, type CertificateRequest, type KeyPair } from "./pki.ts";

/**
 * Reports whether a certificate is what would be issued now: same authority, subject, hosts and usages, less than 80 % of its life
 * over, and nothing next to it.
 */
export function isFit(pair: KeyPair, authority: KeyPair, request: CertificateRequest, now: Date): boolean {
  try {
    const issuer = new X509Certificate(authority.certificate);
    const certificate = new X509Certificate(pair.certificate);
    const details = new x509.X509Certificate(pair.certificate);
    return (
      isAlone(pair.certificate, certificate) &&
      certificate.checkIssued(issuer) &&
      certificate.verify(issuer.publicKey) &&
      certificate.checkPrivateKey(createPrivateKey(pair.key)) &&
      details.subject === new x509.Name(subject(request)).toString() &&
      same(hostsOf(details), (request.hosts ?? []).map(canonicalHost)) &&
      same(
        certificate.keyUsage ?? [],
        request.usages.map((usage) => extendedUsage[usage]),
      ) &&
      isFresh(certificate, now)
    );
  } catch {
    // What cannot be read cannot be used either: it is made anew.
    return false;
  }
}

/** Reports whether an authority can still sign: one certificate that has not expired, and its key. */
export function isUsableAuthority({ certificate, key }: KeyPair, now: Date): boolean {
  try {
    const parsed = new X509Certificate(certificate);
    const isKept = isAlone(certificate, parsed) && parsed.validToDate > now;
    return isKept && parsed.ca && parsed.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** Reports whether a text is one RSA key in PEM and nothing else: an API server trusts the tokens of each key in the file. */
export function isUsableSigningKey(text: string): boolean {
  try {
    const key = createPrivateKey(text);
    const forms = (["pkcs8", "pkcs1"] as const).map((type) => key.export({ type, format: "pem" }).toString());
    return key.asymmetricKeyType === "rsa" && forms.includes(text);
  } catch {
    return false;
  }
}

/** Reports whether a text is the certificate's own PEM. Programs in Go load each block of a file, and others wrote what is kept. */
const isAlone = (text: string, certificate: X509Certificate): boolean => text === certificate.toString();

function hostsOf(certificate: x509.X509Certificate): string[] {
  const names = certificate.getExtension(x509.SubjectAlternativeNameExtension)?.names.items ?? [];
  return names.map(({ value }) => canonicalHost(value));
}

/** IPv6 addresses have many spellings. */
function canonicalHost(host: string): string {
  return isIP(host) === 6 ? new URL(`http://[${host}]`).hostname : host;
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return JSON.stringify([...new Set(a)].toSorted()) === JSON.stringify([...new Set(b)].toSorted());
}

function isFresh({ validFromDate, validToDate }: X509Certificate, now: Date): boolean {
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
  return now.getTime() >= from && now.getTime() < from + 0.8 * (to - from);
}
