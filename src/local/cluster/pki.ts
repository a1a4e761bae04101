import "reflect-metadata";
import { createHash, randomBytes, webcrypto } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as x509 from "@peculiar/x509";
import { replaceFile } from "../replace-file.ts";

/** A certificate and its key: PEM text, and the files that hold it. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** What a certificate is for. */
export interface CertificateRequest {
  readonly name: string;
  readonly commonName: string;
  readonly organization?: string;
  /** IP addresses and DNS names: a server's certificate has some, a client's has none. */
  readonly hosts?: readonly string[];
  /** For how many ms from now it is good; ten years unless told otherwise. */
  readonly lifetime?: number;
}

/** The certificates and keys of one cluster. */
export interface Pki {
  /** A certificate authority of the cluster, made on first use. */
  authority(name: string): Promise<KeyPair>;
  /** A certificate signed by the authority; the same one again until its request or its authority changes. */
  issue(authority: KeyPair, request: CertificateRequest): Promise<KeyPair>;
  /** A key without a certificate, and its public half, as files. */
  signingKey(name: string): Promise<{ readonly keyFile: string; readonly publicKeyFile: string }>;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const tenYears = 10 * 365 * 24 * 60 * 60 * 1000;

/** Keeps certificates and keys in `folder`. */
export function createPki(folder: string): Pki {
  const keep = async (
    name: string,
    request: unknown,
    make: () => Promise<Material>,
    suffix = "crt",
  ): Promise<KeyPair> => {
    const files = { certificateFile: join(folder, `${name}.${suffix}`), keyFile: join(folder, `${name}.key`) };
    const mark = join(folder, `${name}.request`);
    const wanted = createHash("sha256").update(JSON.stringify(request)).digest("hex");
    if ((await readFile(mark, "utf8").catch(() => "")) !== wanted) {
      const { certificate, key } = await make();
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await replaceFile(files.keyFile, key, 0o600);
      await replaceFile(files.certificateFile, certificate, 0o644);
      await replaceFile(mark, wanted, 0o644);
    }
    const [certificate, key] = await Promise.all([
      readFile(files.certificateFile, "utf8"),
      readFile(files.keyFile, "utf8"),
    ]);
    return { certificate, key, ...files };
  };

  return {
    authority: async (name) => await keep(name, name, async () => await makeAuthority(name)),
    issue: async (authority, request) =>
      await keep(request.name, [authority.certificate, request], async () => await sign(authority, request)),
    signingKey: async (name) => {
      const make = async () => {
        const { pem, publicPem } = await makeKeys();
        return { certificate: publicPem, key: pem };
      };
      const { keyFile, certificateFile } = await keep(name, name, make, "pub");
      return { keyFile, publicKeyFile: certificateFile };
    },
  };
}

interface Material {
  readonly certificate: string;
  readonly key: string;
}

async function makeAuthority(name: string): Promise<Material> {
  const { keys, pem } = await makeKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(),
    name: [{ CN: [name] }],
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: `${certificate.toString("pem")}\n`, key: pem };
}

async function sign(authority: KeyPair, request: CertificateRequest): Promise<Material> {
  const { commonName, organization, hosts = [], lifetime } = request;
  const issuer = new x509.X509Certificate(authority.certificate);
  const signingKey = await webcrypto.subtle.importKey("pkcs8", pemBytes(authority.key), algorithm, false, ["sign"]);
  const { keys, pem } = await makeKeys();
  const usages = [x509.ExtendedKeyUsage.clientAuth, ...(hosts.length > 0 ? [x509.ExtendedKeyUsage.serverAuth] : [])];
  const names = hosts.map((host): x509.JsonGeneralName => ({
    type: /^[\d.]+$/.test(host) ? "ip" : "dns",
    value: host,
  }));
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity(lifetime),
    subject: [{ CN: [commonName] }, ...(organization === undefined ? [] : [{ O: [organization] }])],
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(usages),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
    ],
  });
  return { certificate: `${certificate.toString("pem")}\n`, key: pem };
}

/** An hour ago is where clocks that differ a little agree on. */
function validity(lifetime = tenYears): { serialNumber: string; notBefore: Date; notAfter: Date } {
  const now = Date.now();
  const serialNumber = `01${randomBytes(15).toString("hex")}`;
  return { serialNumber, notBefore: new Date(now - 60 * 60 * 1000), notAfter: new Date(now + lifetime) };
}

async function makeKeys() {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const der = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
  const spki = await webcrypto.subtle.exportKey("spki", keys.publicKey);
  const pem = (content: ArrayBuffer, tag: string) => `${x509.PemConverter.encode(content, tag)}\n`;
  return { keys, pem: pem(der, "PRIVATE KEY"), publicPem: pem(spki, "PUBLIC KEY") };
}

function pemBytes(pem: string): Buffer {
  return Buffer.from(pem.replace(/-----[^-]+-----/g, ""), "base64");
}
