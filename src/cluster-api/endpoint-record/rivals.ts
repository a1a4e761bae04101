import type { EndpointRecord } from "../../api/cluster-api/index.ts";
import { ENDPOINT_RECORD_FINALIZER } from "../../api/names.ts";
import { isLeftToMove, isPaused } from "../objects/paused.ts";
import type { Claimant } from "./claims.ts";
import { isForEndpoint } from "./dns-record.ts";
import type { Watched } from "./watched.ts";

/** By what it is judged how far a record has come with its name. */
export type Seen = Pick<Watched, "cluster" | "hasCredentials" | "dnsRecord">;

/**
 * Those of the records with one name that compete for it. One whose DNSRecord exists does, whatever else it lacks: to delete that takes the
 * name out of the DNS. Any other competes only where its Cluster is there, and while it is neither deleted, moved nor paused.
 */
export async function claimantsOf(watched: Seen, records: readonly EndpointRecord[]): Promise<readonly Claimant[]> {
  const found = await Promise.all(
    records.map(async (record): Promise<Claimant | undefined> => {
      if (await hasDnsRecord(watched, record)) return { record, stage: "published" };
      const { metadata, spec } = record;
      if (metadata.deletionTimestamp !== undefined || isLeftToMove(record) || isPaused(record)) return undefined;
      if (watched.cluster({ namespace: metadata.namespace, name: spec.cluster }) === undefined) return undefined;
      return { record, stage: watched.hasCredentials(record) ? "able" : "without credentials" };
    }),
  );
  return found.filter((one) => one !== undefined);
}

/** A record that no other competes with. */
export const alone = (record: EndpointRecord): Claimant => ({ record, stage: "able" });

/** Whether there is a DNSRecord that may have brought a record's name into the DNS. */
export async function hasDnsRecord(seen: Pick<Seen, "dnsRecord">, record: EndpointRecord): Promise<boolean> {
  if (record.metadata.finalizers?.includes(ENDPOINT_RECORD_FINALIZER) !== true) return false;
  const found = await seen.dnsRecord(record.metadata);
  return found !== undefined && isForEndpoint(found) && found.spec.name === record.spec.name;
}
