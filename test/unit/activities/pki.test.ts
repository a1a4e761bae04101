import { createPrivateKey, createPublicKey, createSign, X509Certificate } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { isFit, isUsableAuthority, isUsableSigningKey } from "../../../src/activities/secrets/certificate-fit.ts";
import {
  generateSigningKey,
  issueAuthority,
  issueCertificate,
  type CertificateRequest,
  type KeyPair,
} from "../../../src/activities/secrets/pki.ts";
import { certificatesOf } from "../../../src/activities/secrets/plan.ts";
import { exampleContext } from "../../support/control-plane-context.ts";

const now = new Date("2030-06-01T12:00:00Z");
const daysLater = (days: number) => new Date(now.getTime() + days * 24 * 60 * 60 * 1000);
const server: CertificateRequest = {
  commonName: "kube-apiserver",
  hosts: ["kube-apiserver", "*.example.svc", "10.0.0.1", "fd00:0::1"],
  usages: ["server"],
};

let authority: KeyPair;
let pair: KeyPair;
let certificate: X509Certificate;

beforeAll(async () => {
  authority = await issueAuthority("kubernetes", now);
  pair = await issueCertificate(authority, server, now);
  certificate = new X509Certificate(pair.certificate);
});

test("a certificate is signed by its authority, whose key it proves", () => {
  const issuer = new X509Certificate(authority.certificate);
  expect(issuer.ca).toBe(true);
  expect(issuer.verify(issuer.publicKey)).toBe(true);
  expect(certificate.checkIssued(issuer)).toBe(true);
  expect(certificate.verify(issuer.publicKey)).toBe(true);
  expect(certificate.checkPrivateKey(createPrivateKey(pair.key))).toBe(true);
  expect(certificate.ca).toBe(false);
});

test("a certificate names its hosts, subject and usages", async () => {
  expect(certificate.checkHost("kube-apiserver")).toBe("kube-apiserver");
  expect(certificate.checkHost("etcd-0.example.svc")).toBe("*.example.svc");
  expect(certificate.checkIP("10.0.0.1")).toBe("10.0.0.1");
  expect(certificate.checkIP("fd00::1")).toBe("fd00::1");
  expect(certificate.checkHost("other")).toBeUndefined();
  const request: CertificateRequest = { commonName: "gardener", organizations: ["system:masters"], usages: ["client"] };
  const client = new X509Certificate((await issueCertificate(authority, request, now)).certificate);
  expect(client.subject).toBe("O=system:masters\nCN=gardener");
  expect(client.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
  expect(client.subjectAltName).toBeUndefined();
});

test("a certificate fits as long as nothing about it has changed", () => {
  expect(isFit(pair, authority, server, now)).toBe(true);
  expect(isFit(pair, authority, { ...server, hosts: [...(server.hosts ?? [])].reverse() }, now)).toBe(true);
  expect(isFit(pair, authority, { ...server, hosts: [...(server.hosts ?? []), "172.30.128.1"] }, now)).toBe(false);
  expect(isFit(pair, authority, { ...server, hosts: ["kube-apiserver"] }, now)).toBe(false);
  expect(isFit(pair, authority, { ...server, commonName: "other" }, now)).toBe(false);
  expect(isFit(pair, authority, { ...server, organizations: ["system:masters"] }, now)).toBe(false);
  expect(isFit(pair, authority, { ...server, usages: ["client"] }, now)).toBe(false);
});

test("a certificate does not fit another authority of the same name, or another key", async () => {
  expect(isFit(pair, await issueAuthority("kubernetes", now), server, now)).toBe(false);
  expect(isFit({ ...pair, key: authority.key }, authority, server, now)).toBe(false);
  expect(isFit({ certificate: "", key: "" }, authority, server, now)).toBe(false);
});

test("a certificate is renewed after 80 % of its year", () => {
  expect(isFit(pair, authority, server, daysLater(291))).toBe(true);
  expect(isFit(pair, authority, server, daysLater(293))).toBe(false);
});

test("an authority is used for ten years", () => {
  expect(isUsableAuthority(authority, daysLater(3649))).toBe(true);
  expect(isUsableAuthority(authority, daysLater(3651))).toBe(false);
  expect(isUsableAuthority({ ...authority, key: pair.key }, now)).toBe(false);
});

test("nothing stands next to a certificate or a signing key: programs in Go would read every block of the file", async () => {
  const other = await issueAuthority("kubernetes", now);
  const garbled = (text: string) =>
    text.replace("-----BEGIN CERTIFICATE", "-----BEGIN CERTIFICATE-----\n?\n-----BEGIN CERTIFICATE");
  for (const spoil of [
    (text: string) => text + other.certificate,
    (text: string) => other.certificate + text,
    (text: string) => `# a comment\n${text}`,
    (text: string) => text.replace(/\n(?=[A-Za-z])/, "\nProc-Type: 4,ENCRYPTED\n\n"),
    garbled,
  ]) {
    expect(isFit({ ...pair, certificate: spoil(pair.certificate) }, authority, server, now)).toBe(false);
    expect(isUsableAuthority({ ...authority, certificate: spoil(authority.certificate) }, now)).toBe(false);
  }
  const key = await generateSigningKey();
  const publicKey = createPublicKey(await generateSigningKey())
    .export({ type: "spki", format: "pem" })
    .toString();
  expect(isUsableSigningKey(key)).toBe(true);
  expect(isUsableSigningKey(createPrivateKey(key).export({ type: "pkcs1", format: "pem" }).toString())).toBe(true);
  for (const text of [key + publicKey, publicKey + key, publicKey, authority.key, ""])
    expect(isUsableSigningKey(text)).toBe(false);
});

test("a signing key signs as OIDC providers expect", async () => {
  const key = createPrivateKey(await generateSigningKey());
  expect(key.asymmetricKeyType).toBe("rsa");
  expect(createSign("RSA-SHA256").update("token").sign(key).length).toBe(256);
});

test("the API server's certificate is good for every name under which it is reached", () => {
  const plans = certificatesOf(exampleContext());
  const hosts = plans.find(({ name }) => name === "kube-apiserver")?.request.hosts;
  expect(hosts).toEqual(
    expect.arrayContaining([
      "kube-apiserver",
      "kube-apiserver.shoot--dev--example.svc",
      "kubernetes.default.svc",
      "10.190.0.1",
      "172.30.128.1",
      "api.example.dev.internal.perennial.test",
      "api.example.dev.perennial.test",
      "127.0.0.1",
    ]),
  );
});

test("there is no kubeconfig for an address that is not known yet", () => {
  const { apiServerAddress: _, ...context } = exampleContext();
  const names = certificatesOf(context).map(({ name }) => name);
  expect(names).toContain("gardener");
  expect(names).not.toContain("gardener-internal");
});
