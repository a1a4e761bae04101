import { areTwoShoots, createAsk, formatLeader, isLeader, parseLeader, type Leader } from "../../dns/index.ts";
import { endpointOf, updateRecords, type NameServer } from "./name-server.ts";

/** Where a leadership record is kept, and how. */
export interface LeaderRecord {
  readonly server: NameServer;
  readonly zone: string | undefined;
  readonly name: string;
  /** Seconds. */
  readonly ttl: number;
  readonly signal: AbortSignal;
}

/**
 * Makes the record name this leader, or no leader if `present` is false, by compare-and-swap on the server: nothing changes
 * unless the record still is what was read, and what was read is no later epoch and no other seed's claim to this one. The
 * record of another Shoot of that name is left alone: which of the two is the earlier one, no record can tell.
 */
export async function updateLeader(
  { server, zone, name, ttl, signal }: LeaderRecord,
  leader: Leader,
  present: boolean,
): Promise<void> {
  const { records } = await createAsk()(endpointOf(server), { name, type: "TXT", recursive: false });
  const before = records.map(({ value = "" }) => value).toSorted();
  const current = parseLeader(before);
  if (current && areTwoShoots(current, leader)) {
    if (!present) return;
    throw new Error(
      `cannot let ${leader.seed} lead: ${name} is the record of another Shoot of that name, with uid ${current.shoot}; once nothing of that Shoot is left in any seed, delete these TXT records`,
    );
  }
  if (current && current.epoch >= leader.epoch && !isLeader(current, leader)) {
    const { seed, epoch } = current;
    throw new Error(
      `cannot let ${leader.seed} lead in epoch ${leader.epoch}: ${name} says that ${seed} leads in epoch ${epoch}`,
    );
  }
  const values = present ? formatLeader(leader) : [];
  const isRight = before.join() === values.toSorted().join() && records.every((record) => record.ttl === ttl);
  if (present && isRight) return;
  signal.throwIfAborted();
  await updateRecords(server, zone, { name, type: "TXT", values, ttl }, { before, signal });
}
