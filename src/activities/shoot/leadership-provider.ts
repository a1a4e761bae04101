import { configurationProblem } from "../step-error.ts";

/**
 * Throws unless a type of DNS provider can keep leadership records. It has to change a record set only if that still is
 * what was read, and each of its servers has to be one server: docs/concepts.md says why.
 */
export function requireLeadershipProvider(type: string, record: string): void {
  if (type === "rfc2136") return;
  const why = unfit[type] ?? "nothing is known of how it changes record sets, and of which servers answer for it";
  throw configurationProblem(
    `cannot keep leadership record ${record} in DNS of type ${type}: ${why}; put the leadership domain into a zone of ` +
      "servers that take RFC 2136 updates (type rfc2136), such as BIND, Knot or PowerDNS",
  );
}

const overwrites = "its extension overwrites record sets without comparing them";
const anycast = "each address of its servers is many servers, of which a flow reaches one and a seed another";

/** Gardener's other types of DNS providers, and what keeps each from being used. */
const unfit: Readonly<Record<string, string>> = {
  "alicloud-dns": `${overwrites}, and ${anycast}`,
  "aws-route53": `${overwrites}, and ${anycast}`,
  "azure-dns": `${overwrites}, and ${anycast}`,
  "azure-private-dns": `${overwrites}, and only a resolver, which remembers, answers for it`,
  "cloudflare-dns": `${overwrites}, and ${anycast}`,
  "google-clouddns": `${overwrites}, and ${anycast}`,
  "infoblox-dns": overwrites,
  "netlify-dns": `${overwrites}, and ${anycast}`,
  "openstack-designate": overwrites,
  powerdns: overwrites,
};
