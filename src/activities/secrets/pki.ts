import "reflect-metadata";
import { createPrivateKey, generateKeyPair, KeyObject, randomBytes, webcrypto } from "node:crypto";
import { isIP } from "node:net";
import { promisify } from "node:util";
import * as x509 from "@peculiar/x509";

/** A certificate and its private key, in PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** Whom a certificate speaks for, and as what. */
export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** DNS names and IP addresses of a server. */
  readonly hosts?: readonly string[];
  readonly usages: readonly ("server" | "client")[];
}

const hour = 60 * 60 * 1000;
const year = 365 * 24 * hour;
const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/** A certificate authority of its own, good for ten years. */
export async function issueAuthority(commonName: string, now: Date): Promise<KeyPair> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      ...lifetime(now, 10 * year),
      serialNumber: serialNumber(),
      name: subject({ commonName }),
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature,
          true,
        ),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    },
    webcrypto,
  );
  return { certificate: pem(certificate), key: privateKey(keys) };
}

/** A certificate signed by the authority, good for a year. */
export async function issueCertificate(authority: KeyPair, request: CertificateRequest, now: Date): Promise<KeyPair> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const issuer = new x509.X509Certificate(authority.certificate);
  const certificate = await x509.X509CertificateGenerator.create(
    {
      ...lifetime(now, year),
      serialNumber: serialNumber(),
      subject: subject(request),
      issuer: issuer.subjectName,
      publicKey: keys.publicKey,
      signingKey: await signingKey(authority),
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension(request.usages.map((usage) => extendedUsage[usage])),
        await x509.AuthorityKeyIdentifierExtension.create(issuer),
        ...(request.hosts?.length
          ? [new x509.SubjectAlternativeNameExtension(request.hosts.map(alternativeName))]
          : []),
      ],
    },
    webcrypto,
  );
  return { certificate: pem(certificate), key: privateKey(keys) };
}

/** A key for signing service account tokens (RSA, as OIDC providers outside the cluster expect), in PEM. */
export async function generateSigningKey(): Promise<string> {
  const { privateKey: key } = await promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

/** OIDs of the usages. */
export const extendedUsage = { server: x509.ExtendedKeyUsage.serverAuth, client: x509.ExtendedKeyUsage.clientAuth };

/** Clocks differ: a certificate is good an hour before it was issued. */
function lifetime(now: Date, duration: number) {
  return { notBefore: new Date(now.getTime() - hour), notAfter: new Date(now.getTime() + duration) };
}

/** Positive, as RFC 5280 demands. */
function serialNumber(): string {
  return `01${randomBytes(15).toString("hex")}`;
}

/** The distinguished name of a request, organizations first. */
export function subject({
  organizations = [],
  commonName,
}: Pick<CertificateRequest, "commonName" | "organizations">): x509.JsonName {
  return [...organizations.map((organization) => ({ O: [organization] })), { CN: [commonName] }];
}

function signingKey({ key }: KeyPair) {
  const der = createPrivateKey(key).export({ type: "pkcs8", format: "der" });
  return webcrypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
}

function privateKey(keys: webcrypto.CryptoKeyPair): string {
  return KeyObject.from(keys.privateKey).export({ type: "pkcs8", format: "pem" }).toString();
}

function pem(certificate: x509.X509Certificate): string {
  return `${certificate.toString("pem").trimEnd()}\n`;
}

function alternativeName(value: string) {
  return { type: isIP(value) === 0 ? ("dns" as const) : ("ip" as const), value };
}
