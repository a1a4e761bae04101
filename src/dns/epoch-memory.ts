import { parseLeader, type Leader } from "./leader.ts";

/** How many records' epochs are remembered. */
const MOST = 50_000;

/**
 * Reads what servers say of records, and remembers the highest epoch of each: a server that says less has gone back, as
 * when it was restored from a backup, and is not believed. What else stands in the record tells a Shoot from a later one
 * of its name.
 */
export function createEpochMemory() {
  const highest = new Map<string, number>();
  return (server: string, record: string, values: readonly string[]): Leader | undefined => {
    const leader = parseLeader(values);
    if (leader === undefined) return undefined;
    const others = values.filter((value) => !/^(Seed|Epoch)=/.test(value));
    const key = [record, ...others.toSorted()].join(" ");
    const known = highest.get(key) ?? 0;
    if (leader.epoch < known)
      throw new Error(`${server} has gone back: it names epoch ${leader.epoch} of ${record} after ${known} was seen`);
    highest.delete(key);
    highest.set(key, leader.epoch);
    const [oldest] = highest.keys();
    if (highest.size > MOST && oldest !== undefined) highest.delete(oldest);
    return leader;
  };
}
