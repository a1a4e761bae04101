import { RENEWAL_UNIT, type NodeRole } from "../../api/names.ts";
import { renewsItself, type FoundCertificate } from "../machine/certificates.ts";

/** A machine with its certificates. */
interface Certified {
  readonly role?: NodeRole;
  /** The first to expire first. */
  readonly certificates: readonly FoundCertificate[];
  /** The unit that renews them is on the machine. */
  readonly canRenew?: boolean;
}

/** When it is, in ms since the epoch, and the command line that renews certificates where no unit does. */
interface Renewal {
  readonly now: number;
  readonly begin: string;
}

/** What the operator does about certificates that end. */
export function certificateSteps(report: Certified, renewal: Renewal): string[] {
  return [
    ...ownCertificateSteps(report, renewal.now),
    ...otherCertificateSteps(report, renewal),
    ...authoritySteps(report.certificates, renewal.now),
  ];
}

/** In ms: certificates that expire sooner ask for something. */
const SOON = 30 * 24 * 3_600_000;

/** In ms: by then, what renews itself has long done so. */
const LATE = 2 * 24 * 3_600_000;

const isOver = ({ expiresAt }: FoundCertificate, now: number): boolean => Date.parse(expiresAt) <= now;

/** A worker whose own certificates are over gets no other by them. */
export const isLockedOut = ({ role, certificates }: Certified, now: number): boolean =>
  role === "worker" && certificates.some((one) => renewsItself(one.file) && isOver(one, now));

/** Of those which kubelet and agent renew by themselves. */
function ownCertificateSteps(report: Certified, now: number): string[] {
  const own = report.certificates.filter(({ file }) => renewsItself(file));
  const [late] = own.filter(({ expiresAt }) => Date.parse(expiresAt) - now < LATE);
  if (late === undefined) return [];
  const said = `the certificate in ${late.file}, which is renewed by itself, ${isOver(late, now) ? "ended" : "ends"} at ${late.expiresAt}`;
  return [
    isLockedOut(report, now)
      ? `${said}: join again, by the line that 'gardenadm token create --print-join-command' prints on a node of the control plane`
      : `${said}: journalctl --unit gardener-node-agent.service --unit kubelet.service`,
  ];
}

function otherCertificateSteps({ certificates, canRenew }: Certified, { now, begin }: Renewal): string[] {
  const ends = certificates.filter(
    ({ file, expiresAt, isAuthority }) =>
      isAuthority !== true && !renewsItself(file) && Date.parse(expiresAt) - now < SOON,
  );
  const [first] = ends;
  if (first === undefined) return [];
  const { file, expiresAt } = first;
  return [
    `${ends.length} certificates end soon, ${file} first, at ${expiresAt}; renew them: ${canRenew === true ? `systemctl start ${RENEWAL_UNIT}` : begin}`,
  ];
}

/** In ms: to move to another cluster takes long, and from then on a certificate of a year ends later than its authority. */
const LAST_YEAR = 365 * 24 * 3_600_000;

/** What the operator does about an authority in its last year; nothing else helps. */
function authoritySteps(certificates: readonly FoundCertificate[], now: number): string[] {
  const last = certificates.find(
    ({ isAuthority, expiresAt }) => isAuthority === true && Date.parse(expiresAt) - now < LAST_YEAR,
  );
  if (last === undefined) return [];
  return [
    `the CA in ${last.file} expires at ${last.expiresAt} and cannot be renewed: move to another cluster before then, because this one stops working`,
  ];
}
