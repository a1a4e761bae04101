import { extensionReady } from "../../activities/waits/readiness.ts";
import { TIMESTAMP_ANNOTATION } from "../../api/annotations.ts";
import { contractOf } from "../../api/extensions/kinds.ts";
import type { EndpointRecord } from "../../api/cluster-api/index.ts";
import { DNSRecord } from "../../api/index.ts";
import { inWords, refOf } from "../../kube/index.ts";
import { againIn, type Again } from "../again.ts";
import type { Said } from "../objects/conditions.ts";

/** Condition Published, or for how long, in ms, the extension may still be at it without a word. */
export type Verdict = Said | { readonly pendingFor: number };

/** Whether the extension has done what a DNSRecord says: in its own words where it has failed, and since when where it is silent. Pure. */
export function judgeDnsRecord(dnsRecord: DNSRecord, now: number): Verdict {
  const { metadata, spec } = dnsRecord;
  const readiness = extensionReady(dnsRecord, {});
  if (readiness.reached) return publishedSaid("True", "Published", `${spec.name} leads to ${spec.values.join(", ")}`);
  const what = inWords(refOf(dnsRecord));
  if (readiness.error) return publishedSaid("False", "ExtensionFailed", `${what}: ${readiness.message}`);
  const since = metadata.annotations?.[TIMESTAMP_ANNOTATION] ?? metadata.creationTimestamp ?? "";
  const left = Date.parse(since) + contractOf("DNSRecord").severeAfter - now;
  if (left > 0) return { pendingFor: left };
  const who = `the extension for DNSRecords of type ${spec.type} and class garden`;
  return publishedSaid("False", "ExtensionSilent", `${what} waits for ${who} since ${since}: ${readiness.message}`);
}

/** What is missing where the cluster serves no DNSRecords. */
export const describeNoExtension = ({ spec: { provider } }: EndpointRecord): string =>
  `this cluster serves no DNSRecords of ${DNSRecord.apiVersion}: install their definition, and an extension for type ${provider.type}`;

/**
 * When to look again where an API server has refused a DNSRecord for want of its definition: a watch tells when that comes, yet an API server
 * may take seconds from then on until it serves the kind.
 */
export const againOnceServed = (hasDefinition: boolean): Again | undefined =>
  hasDefinition ? againIn(5_000) : undefined;

/** Condition Published, with that status. */
export const publishedSaid = (status: Said["status"], reason: string, message: string): Said => ({
  ...{ type: "Published", status, reason, message },
});
