import "reflect-metadata";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import * as x509 from "@peculiar/x509";
import { extendedUsage, subject, type CertificateRequest, type KeyPair } from "./pki.ts";

/** Whether a certificate is what would be issued now: same authority, subject, hosts and usages, and less than 80 % of its life over. */
export function isFit(pair: KeyPair, authority: KeyPair, request: CertificateRequest, now: Date): boolean {
  try {
    const issuer = new X509Certificate(authority.certificate);
    const certificate = new X509Certificate(pair.certificate);
    const details = new x509.X509Certificate(pair.certificate);
    return (
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

/** Whether an authority can still sign: readable, key and certificate belong together, not expired. */
export function isUsableAuthority({ certificate, key }: KeyPair, now: Date): boolean {
  try {
    const parsed = new X509Certificate(certificate);
    return parsed.ca && parsed.checkPrivateKey(createPrivateKey(key)) && parsed.validToDate > now;
  } catch {
    return false;
  }
}

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
