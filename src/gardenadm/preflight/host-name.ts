import type { Candidate } from "./candidate.ts";

/** Why the machine's name cannot be that of a Node: it is a DNS label or several, and no other machine is `localhost`. */
export function hostNameFaults({ hostName }: Pick<Candidate, "hostName">): string[] {
  if (/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/.test(hostName) && hostName !== "localhost") return [];
  return [
    `the host name ${JSON.stringify(hostName)} cannot name a Node: set another with 'hostnamectl hostname NAME', of at most 63 small letters, digits and hyphens`,
  ];
}
