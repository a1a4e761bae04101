import { request } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import type { ClusterEndpoint } from "../../api/cluster-api/index.ts";
import { findCondition, type Said } from "../objects/conditions.ts";
import { makeAuthority, type AuthorityOf } from "./authority.ts";
import type { Trust } from "./trust.ts";
import { isSameEndpoint, renderEndpoint, type Endpoint } from "./value.ts";

/** Whether an endpoint serves, and why not. */
export type Serving = Said & { readonly type: "Serving" };

/**
 * Asks an endpoint for `/readyz`, without credentials, in a TLS handshake for its host under the Cluster's authority. 401 and 403
 * are answers, too. Never throws; `timeout` is in ms.
 */
export async function probeEndpoint(
  endpoint: Endpoint,
  trust: Trust,
  { timeout = 5_000, ...o }: ProbeOptions = {},
): Promise<Serving> {
  const place = renderEndpoint(endpoint);
  const answer = await ask(endpoint, trust, { timeout, ...o }).catch((error: unknown) => error as Fault);
  if (typeof answer !== "number") return serving("False", ...explain(place, answer));
  if ([200, 401, 403].includes(answer)) return serving("True", "Answers", `${place} answers`);
  return serving("False", "NotReady", `${place} answers /readyz with status ${answer}`);
}

/** How an endpoint is asked. */
export interface ProbeOptions {
  /** In ms. */
  readonly timeout?: number | undefined;
  /** What finds addresses of names; the system's resolver unless told otherwise. */
  readonly lookup?: LookupFunction | undefined;
  /** Ends the question early. */
  readonly signal?: AbortSignal | undefined;
  /** What gives the authority of a Trust; it is made anew for each question unless told otherwise. */
  readonly authorityOf?: AuthorityOf | undefined;
}

/** The reason of an endpoint that does not answer in time. */
export const TIMEOUT = "Timeout";

/** The reason of an endpoint that cannot be asked, for want of an authority to check with. */
export const WAITING_FOR_KUBECONFIG = "WaitingForKubeconfig";

/** What is said of an endpoint that cannot be asked, because the Cluster has no kubeconfig yet. */
export const unproved = (cluster: string): Serving =>
  serving(
    "Unknown",
    WAITING_FOR_KUBECONFIG,
    `there is no usable Secret ${cluster}-kubeconfig, so no authority to check with`,
  );

/** What is said of an endpoint before its first answer. */
export const unasked: Serving = { type: "Serving", status: "Unknown", reason: "Probing", message: "was not asked yet" };

/** What an earlier process found out and wrote, as long as the endpoint is the same. */
export function writtenServing({ metadata, status }: ClusterEndpoint): Serving | undefined {
  const found = findCondition(status?.conditions, "Serving");
  if (found === undefined || found.observedGeneration !== metadata.generation) return undefined;
  return { type: "Serving", status: found.status, reason: found.reason, message: found.message };
}

const serving = (status: Serving["status"], reason: string, message: string): Serving => ({
  ...{ type: "Serving", status, reason, message },
});

type Fault = Error & { readonly code?: string };

/** A kubeconfig that leads to this endpoint under another name, as where a third party's endpoint wins, is checked by that name. */
function ask(
  endpoint: Endpoint,
  trust: Trust,
  { timeout = 0, lookup, signal: ended, authorityOf = makeAuthority }: ProbeOptions,
): Promise<number> {
  const { server, serverName } = trust;
  const named = serverName !== undefined && isSameEndpoint(server, endpoint) ? checkedBy(serverName) : {};
  const { host, port } = endpoint;
  const found = lookup === undefined ? named : { ...named, lookup };
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.any([AbortSignal.timeout(timeout), ...(ended ? [ended] : [])]);
    const checked = { secureContext: authorityOf(trust), ...found };
    const asked = request({ host, port, path: "/readyz", agent: false, signal, ...checked }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
      asked.destroy();
    });
    asked.on("error", reject).end();
  });
}

/** Of names in a handshake an address is none (RFC 6066), yet a certificate may be for one. */
const checkedBy = (name: string) => ({
  checkServerIdentity: (_: string, certificate: PeerCertificate) => checkServerIdentity(name, certificate),
  ...(isIP(name) === 0 && { servername: name }),
});

/** Reason and message; without numbers that differ from time to time, so that a condition changes only when its reason does. */
function explain(place: string, { code = "", name, message }: Fault): [reason: string, message: string] {
  if (name === "AbortError" || name === "TimeoutError") return [TIMEOUT, `${place} does not answer in time`];
  if (code === "ECONNREFUSED") return ["ConnectionRefused", `${place} refuses connections`];
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return ["NameNotFound", `the name of ${place} is not found`];
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return ["CertificateForOtherNames", `the certificate of ${place} is for other names`];
  if (certificateFaults.test(code))
    return ["CertificateNotTrusted", `the certificate of ${place} is not trusted: ${message}`];
  if (noTls.test(code)) return ["NoTLS", `${place} does not speak TLS`];
  return ["Unreachable", `${place} cannot be reached: ${code || message}`];
}

const certificateFaults = /CERT|UNABLE_TO_|INVALID_CA|CRL|SIGNATURE/;

/** What OpenSSL says of an answer that is no handshake. */
const noTls = /^(?:EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_HTTP_REQUEST)$/;
