import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { KubeClient } from "../../kube/client.ts";
import { CertificateSigningRequest } from "../../kube/kinds.ts";
import { typeMeta } from "../../kube/path.ts";

/** A client certificate and its private key, in PEM. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** In ms: a request that has no answer by then is asked anew. */
const LONGEST_WAIT = 60_000;

/** In seconds, as upstream's agents: 30 days. */
const LIFETIME = 2_592_000;

/**
 * Asks the cluster for a client certificate of this user and these groups, and waits for it. Throws why it was denied, or that
 * nothing has answered within a minute; the key never leaves this machine.
 */
export async function requestCertificate(
  client: KubeClient,
  user: string,
  groups: readonly string[],
  signal: AbortSignal,
): Promise<ClientCertificate> {
  const { createClientRequest } = await import("../../activities/secrets/certificate-request.ts");
  const { request, key } = await createClientRequest(user, groups);
  const name = `node-agent-${randomUUID()}`;
  await client.create<CertificateSigningRequest>({
    ...typeMeta(CertificateSigningRequest),
    metadata: { name },
    spec: {
      request: Buffer.from(request).toString("base64"),
      signerName: "kubernetes.io/kube-apiserver-client",
      expirationSeconds: LIFETIME,
      usages: ["digital signature", "client auth"],
    },
  });
  const limited = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_WAIT)]);
  for (;;) {
    const answer = await client.read(CertificateSigningRequest, { name });
    const encoded = answer?.status?.certificate;
    if (encoded !== undefined && encoded !== "") return { certificate: Buffer.from(encoded, "base64").toString(), key };
    const denied = answer?.status?.conditions?.find(({ type }) => type === "Denied" || type === "Failed");
    if (denied !== undefined)
      throw new Error(`a certificate for ${user} was denied: ${denied.message ?? "no reason is said"}`);
    signal.throwIfAborted();
    if (limited.aborted) throw new Error(`CertificateSigningRequest ${name} for ${user} was not answered for a minute`);
    await delay(500, undefined, { signal }).catch(() => {});
  }
}
