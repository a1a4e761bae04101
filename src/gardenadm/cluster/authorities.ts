import { createHash, X509Certificate } from "node:crypto";
import { CliError } from "../../cli/exit.ts";
import { certificatesIn } from "../../parsing.ts";

/** The hash of the public key of each certificate of a bundle in PEM, as kubeadm's `--discovery-token-ca-cert-hash` has it. */
export const authorityHashes = (bundle: string, called: string): string[] =>
  authoritiesIn(bundle, called).map(({ hash }) => hash);

/** Each certificate of a bundle in PEM, alone, with its hash; `called` says what has them. Throws a CliError where there is none. */
export function authoritiesIn(bundle: string, called: string): { readonly pem: string; readonly hash: string }[] {
  const certificates = certificatesIn(bundle);
  if (certificates.length === 0) throw noAuthority(called);
  try {
    return certificates.map((found) => {
      const certificate = new X509Certificate(found);
      const key = certificate.publicKey.export({ type: "spki", format: "der" });
      return { pem: certificate.toString(), hash: `sha256:${createHash("sha256").update(key).digest("hex")}` };
    });
  } catch (cause) {
    throw noAuthority(called, cause);
  }
}

const noAuthority = (called: string, cause?: unknown): CliError =>
  new CliError("usage", `${called} has no certificates of an authority in PEM`, { cause });
