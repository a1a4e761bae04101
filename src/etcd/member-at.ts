import { X509Certificate } from "node:crypto";
import { connect } from "node:tls";
import { certificatesIn } from "../parsing.ts";

/** In ms: a member that is there answers a handshake at once. */
const LONGEST = 3_000;

/**
 * Whether a member of the etcd with these authorities, in PEM, is at a URL: it shows a certificate that one of them has signed, whatever it
 * thinks of the caller, and even if that has expired. It tells a member that is off from one that cannot be asked.
 */
export async function isMemberAt(url: string, authorities: string, signal: AbortSignal): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once("secureConnect", () => resolve(isSignedBy(authorities, socket.getPeerX509Certificate())));
      socket.on("error", () => resolve(false));
      AbortSignal.any([signal, AbortSignal.timeout(LONGEST)]).addEventListener("abort", () => resolve(false));
    });
  } finally {
    socket.destroy();
  }
}

function isSignedBy(authorities: string, certificate: X509Certificate | undefined): boolean {
  if (certificate === undefined) return false;
  return certificatesIn(authorities).some((pem) => certificate.verify(new X509Certificate(pem).publicKey));
}
