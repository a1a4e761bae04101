import type { FoundCertificate } from "../machine/certificates.ts";

/** In ms: to move to another cluster takes long, and from then on a certificate of a year ends later than its authority. */
const LAST_YEAR = 365 * 24 * 3_600_000;

/** What the operator does about an authority in its last year; nothing else helps. */
export function authoritySteps(certificates: readonly FoundCertificate[], now: number): string[] {
  const last = certificates.find(
    ({ isAuthority, expiresAt }) => isAuthority === true && Date.parse(expiresAt) - now < LAST_YEAR,
  );
  if (last === undefined) return [];
  return [
    `the authority in ${last.file} ends at ${last.expiresAt}, and nothing makes it anew: move to another cluster before, because this one ends with it`,
  ];
}
