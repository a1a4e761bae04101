import { formatLeader, isLeader, parseLeader, type Leader } from "../../dns/index.ts";
import { queryRecords, updateRecords, type NameServer } from "./name-server.ts";

/** Where a leadership record is kept, and how. */
export interface LeaderRecord {
  readonly server: NameServer;
  readonly zone: string | undefined;
  readonly name: string;
  /** Seconds. */
  readonly ttl: number;
  readonly signal: AbortSignal;
  /** The time to live is known to be right: then a record that names the leader needs no update. */
  readonly settled: boolean;
}

/**
 * Makes the record name this leader, or no leader if `present` is false, by compare-and-swap on the server: nothing changes
 * unless the record still is what was read, and what was read is no later epoch and no other seed's claim to this one.
 */
export async function updateLeader(
  { server, zone, name, ttl, signal, settled }: LeaderRecord,
  leader: Leader,
  present: boolean,
): Promise<void> {
  const before = await queryRecords(server, { name, type: "TXT" });
  const current = parseLeader(before);
  if (current && current.epoch >= leader.epoch && !isLeader(current, leader)) {
    const { seed, epoch } = current;
    throw new Error(
      `cannot let ${leader.seed} lead in epoch ${leader.epoch}: ${name} says that ${seed} leads in epoch ${epoch}`,
    );
  }
  if (settled && present && isLeader(current, leader) && before.length === 2) return;
  const values = present ? formatLeader(leader) : [];
  signal.throwIfAborted();
  await updateRecords(server, zone, { name, type: "TXT", values, ttl }, { before, signal });
}
