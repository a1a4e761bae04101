import "reflect-metadata";
import { KeyObject, randomBytes, webcrypto } from "node:crypto";
import { isIP } from "node:net";
import * as x509 from "@peculiar/x509";

/** What a control plane of a test needs, in PEM; the administrator is in group system:masters. */
export interface Certificates {
  readonly ca: string;
  readonly caKey: string;
  readonly serverCert: string;
  readonly serverKey: string;
  readonly adminCert: string;
  readonly adminKey: string;
  readonly serviceAccountKey: string;
  /** What a proxy shows to say for whom it asks. */
  readonly proxyCert: string;
  readonly proxyKey: string;
}

/** A new CA with a serving certificate for loopback, and for what else is named, and an administrator's client certificate, good for a day. */
export async function makeCertificates(hosts: readonly string[] = []): Promise<Certificates> {
  x509.cryptoProvider.set(webcrypto);
  const [caKeys, serverKeys, adminKeys, serviceAccountKeys, proxyKeys] = await Promise.all(
    [0, 1, 2, 3, 4].map(makeKeys),
  );
  if (!caKeys || !serverKeys || !adminKeys || !serviceAccountKeys || !proxyKeys) throw new Error("cannot make keys");
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(),
    name: "CN=perennial-test-ca",
    keys: caKeys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  const issue = (subject: string, keys: webcrypto.CryptoKeyPair, extensions: x509.Extension[]) =>
    x509.X509CertificateGenerator.create({
      ...validity(),
      subject,
      issuer: ca.subject,
      publicKey: keys.publicKey,
      signingKey: caKeys.privateKey,
      extensions,
    });
  const names = new x509.SubjectAlternativeNameExtension([
    { type: "ip", value: "127.0.0.1" },
    { type: "dns", value: "localhost" },
    ...hosts.map((value) => ({ type: isIP(value) === 0 ? "dns" : "ip", value }) as const),
  ]);
  const server = await issue("CN=kube-apiserver", serverKeys, [names, usage("serverAuth")]);
  const admin = await issue("CN=admin,O=system:masters", adminKeys, [usage("clientAuth")]);
  const proxy = await issue("CN=front-proxy", proxyKeys, [usage("clientAuth")]);
  return {
    ca: ca.toString("pem"),
    caKey: keyPem(caKeys),
    serverCert: server.toString("pem"),
    serverKey: keyPem(serverKeys),
    adminCert: admin.toString("pem"),
    adminKey: keyPem(adminKeys),
    serviceAccountKey: keyPem(serviceAccountKeys),
    proxyCert: proxy.toString("pem"),
    proxyKey: keyPem(proxyKeys),
  };
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

async function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

function validity() {
  const notBefore = new Date(Date.now() - 60_000);
  const notAfter = new Date(Date.now() + 24 * 3_600_000);
  return { notBefore, notAfter, serialNumber: randomBytes(8).toString("hex"), signingAlgorithm: algorithm };
}

function usage(purpose: "serverAuth" | "clientAuth"): x509.Extension {
  return new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage[purpose]]);
}

function keyPem({ privateKey }: webcrypto.CryptoKeyPair): string {
  // kube-apiserver reads service account keys in SEC 1 only.
  return KeyObject.from(privateKey).export({ type: "sec1", format: "pem" }).toString();
}
