import { isIP } from "node:net";
import type { Member } from "./members.ts";

/** The types of records that lead to an API server, the preferred first. */
export const recordTypes = ["A", "AAAA", "CNAME"] as const;

/** One of {@link recordTypes}. */
export type RecordType = (typeof recordTypes)[number];

/** What a record is to say, or says. */
export interface Values {
  readonly recordType: RecordType;
  /** Sorted, and not empty. */
  readonly values: readonly string[];
}

/** The record for a name, and the members that it cannot hold. */
export interface Wanted {
  /** Undefined where nothing can be said. */
  readonly record?: Values;
  /** Those members whom records of that type cannot hold: a name has records of one type. */
  readonly leftOut: readonly Member[];
}

/**
 * The record that leads to these members: of the type that it has if all of them have an address for it, else of the first type for
 * which they have. Where there is none it keeps its type, for those who can. A CNAME leads to one of them only, and stays with it. Pure.
 */
export function valuesFor(members: readonly Member[], present?: Values): Wanted {
  const has = (type: RecordType) => (member: Member) => addressFor(member, type) !== undefined;
  const order = [...(present ? [present.recordType] : []), ...recordTypes];
  const recordType = order.find((type) => members.every(has(type))) ?? present?.recordType;
  if (recordType === undefined) return { leftOut: members };
  const leftOut = members.filter((member) => !has(recordType)(member));
  const all = [...new Set(members.flatMap((member) => addressFor(member, recordType) ?? []))].sort();
  const [only] = all.filter((one) => present?.values.includes(one)).concat(all);
  const values = recordType === "CNAME" && only !== undefined ? [only] : all;
  return { ...(values.length > 0 && { record: { recordType, values } }), leftOut };
}

const addressFor = ({ addresses }: Member, type: RecordType): string | undefined =>
  addresses.find((address) => typeOf(address) === type);

/** The type of records that hold an address. */
export const typeOf = (address: string): RecordType => (["CNAME", "A", "AAAA"] as const)[typeIndex(address)];

const typeIndex = (address: string): 0 | 1 | 2 => (({ 4: 1, 6: 2 }) as const)[isIP(address)] ?? 0;
