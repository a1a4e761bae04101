import "reflect-metadata";
import { createPrivateKey, randomBytes, webcrypto } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as x509 from "@peculiar/x509";
import { refOf, Secret, type KubeClient } from "../../src/kube/index.ts";
import { parseYaml } from "../../src/parsing.ts";

/** Certificates that stand for others: the same in all but the time for which they are good. In PEM, by the one that they stand for. */
export type AgedCertificates = ReadonlyMap<string, string>;

/** For how long a certificate is good, in days from now; before now where negative. */
export interface Life {
  readonly from: number;
  readonly to: number;
}

interface Authority {
  readonly certificate: string;
  readonly key: string;
}

/** The authorities of a cluster, out of its Secrets. */
export async function authoritiesOf(client: KubeClient): Promise<Authority[]> {
  const secrets = await client.list(Secret, { namespace: "kube-system" });
  return secrets.flatMap(({ data = {} }) => {
    const [certificate, key] = [data["ca.crt"], data["ca.key"]].map(textOf);
    return certificate === "" || key === "" || certificate === undefined || key === undefined
      ? []
      : [{ certificate, key }];
  });
}

/** Puts certificates of this life in the place of those in the cluster's Secrets, and answers which stands for which. */
export async function ageSecrets(client: KubeClient, life: Life): Promise<AgedCertificates> {
  const authorities = await authoritiesOf(client);
  const aged = new Map<string, string>();
  for (const secret of await client.list(Secret, { namespace: "kube-system" })) {
    const pem = textOf(secret.data?.["tls.crt"]);
    if (pem === "" || secret.data?.["ca.key"] !== undefined) continue;
    aged.set(pem, await agedCertificate(pem, authorities, life));
    const data = Object.fromEntries(
      Object.entries(secret.data ?? {}).map(([key, value]) => [
        key,
        Buffer.from(exchanged(textOf(value), aged)).toString("base64"),
      ]),
    );
    // Those that are versions of their content are made anew in any case.
    if (secret["immutable"] !== true) await client.patch(refOf(secret), { data });
  }
  return aged;
}

/** The same in files below these paths of a machine whose `/` is `root`. */
export async function ageFiles(root: string, paths: readonly string[], aged: AgedCertificates): Promise<void> {
  for (const path of paths) {
    const files = await readdir(join(root, path), { recursive: true }).catch(() => [""]);
    for (const file of files) {
      const text = await readFile(join(root, path, file), "utf8").catch(() => "");
      const other = exchanged(text, aged);
      if (other !== text) await writeFile(join(root, path, file), other);
    }
  }
}

/** The certificates in a file: in PEM, or inside a kubeconfig. */
export function certificatesIn(text: string): string[] {
  const plain = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? [];
  if (plain.length > 0) return plain;
  const { users = [] } = (parseYaml(text, "a kubeconfig") ?? {}) as {
    readonly users?: readonly { readonly user?: Readonly<Record<string, string>> }[];
  };
  return users.map(({ user }) => textOf(user?.["client-certificate-data"])).filter((pem) => pem !== "");
}

/** A certificate of the same subject, key, names and authority, which is good from and to these days. */
export async function agedCertificate(
  pem: string,
  authorities: readonly Authority[],
  { from, to }: Life,
): Promise<string> {
  const present = new x509.X509Certificate(pem);
  const authority = await issuerOf(present, authorities);
  const der = createPrivateKey(authority.key).export({ type: "pkcs8", format: "der" });
  const made = await x509.X509CertificateGenerator.create(
    {
      serialNumber: `01${randomBytes(15).toString("hex")}`,
      subject: present.subjectName,
      issuer: present.issuerName,
      notBefore: new Date(Date.now() + from * DAY),
      notAfter: new Date(Date.now() + to * DAY),
      publicKey: present.publicKey,
      signingKey: await webcrypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]),
      signingAlgorithm: algorithm,
      extensions: present.extensions,
    },
    webcrypto,
  );
  return `${made.toString("pem").trimEnd()}\n`;
}

async function issuerOf(certificate: x509.X509Certificate, authorities: readonly Authority[]): Promise<Authority> {
  for (const authority of authorities) {
    const { publicKey } = new x509.X509Certificate(authority.certificate);
    if (await certificate.verify({ publicKey, signatureOnly: true }, webcrypto)) return authority;
  }
  throw new Error(`no authority has signed ${certificate.subject}`);
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

const DAY = 86_400_000;

const textOf = (value: string | undefined): string => Buffer.from(value ?? "", "base64").toString();

/** As it stands, and in base64. */
function exchanged(text: string, aged: AgedCertificates): string {
  return [...aged].reduce(
    (left, [from, to]) =>
      left.replaceAll(from, to).replaceAll(Buffer.from(from).toString("base64"), Buffer.from(to).toString("base64")),
    text,
  );
}
