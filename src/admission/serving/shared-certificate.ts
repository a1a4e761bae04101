import { X509Certificate } from "node:crypto";
import { isAlreadyExists, isConflict, refTo, Secret, typeMeta, type KubeClient } from "../../kube/index.ts";
import type { ServingCertificate } from "../server.ts";
import { makeServingCertificate } from "../serving-certificate.ts";

/** What the webhooks serve, and what API servers check it with: the certificate before is good for them, too. */
export interface SharedCertificate extends ServingCertificate {
  readonly caBundle: string;
}

/** The Secret that keeps the certificate, and the hosts that it has to name. */
export interface CertificatePlace {
  readonly namespace: string;
  readonly name: string;
  readonly hosts: readonly string[];
}

/**
 * The certificate in the Secret, if it is for these hosts and has a month to live; else a new one, put
 * in its place. All replicas get the same, whichever makes it.
 */
export async function shareCertificate(
  client: KubeClient,
  { namespace, name, hosts }: CertificatePlace,
  now = new Date(),
): Promise<SharedCertificate> {
  const ref = refTo(Secret, { namespace, name });
  for (let attempt = 1; ; attempt += 1) {
    const secret = await client.read(ref);
    const present = certificateIn(secret);
    if (present && isFit(present.cert, hosts, now)) return present;
    const made = await makeServingCertificate(hosts, now);
    const caBundle = present === undefined ? made.cert : `${made.cert.trimEnd()}\n${present.cert}`;
    const data = { "tls.crt": encode(made.cert), "tls.key": encode(made.key), "ca.crt": encode(caBundle) };
    const metadata = { ...secret?.metadata, name, namespace };
    const wanted: Secret = { ...typeMeta(Secret), metadata, type: "kubernetes.io/tls", data };
    try {
      await (secret === undefined ? client.create(wanted) : client.replace(wanted));
      return { ...made, caBundle };
    } catch (error) {
      // Another replica has made one meanwhile.
      if ((!isAlreadyExists(error) && !isConflict(error)) || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

const MOST_ATTEMPTS = 5;

/** The certificate that such a Secret holds; undefined where it holds none. */
export function certificateIn(secret: Secret | undefined): SharedCertificate | undefined {
  const { "tls.crt": cert, "tls.key": key, "ca.crt": bundle } = secret?.data ?? {};
  if (cert === undefined || key === undefined) return undefined;
  return { cert: decode(cert), key: decode(key), caBundle: decode(bundle ?? cert) };
}

const MONTH = 30 * 24 * 3_600_000;

/** Whether a certificate names these hosts and has a month to live. */
export function isFit(pem: string, hosts: readonly string[], now: Date): boolean {
  const certificate = new X509Certificate(pem);
  const named = hosts.every((host) => certificate.checkHost(host) ?? certificate.checkIP(host));
  return named && Date.parse(certificate.validTo) - now.getTime() > MONTH;
}

const encode = (text: string): string => Buffer.from(text).toString("base64");
const decode = (base64: string): string => Buffer.from(base64, "base64").toString();
