import { isIP } from "node:net";
import type { Machine } from "../../api/cluster-api/index.ts";

/** An API server's machine, by what a name can lead to. */
export interface Member {
  readonly name: string;
  /** Of the best kind that the Machine has; not empty. */
  readonly addresses: readonly [string, ...string[]];
  /** Whether the Machine is being deleted. */
  readonly leaves: boolean;
}

/** The kinds of addresses, of which the first that a Machine has counts. */
const kinds: readonly (readonly string[])[] = [["ExternalIP"], ["InternalIP"], ["ExternalDNS", "InternalDNS"]];

/** The Machines that have an address, by name. */
export function membersOf(machines: readonly Machine[]): Member[] {
  return machines
    .flatMap(({ metadata: { name, deletionTimestamp }, status }) => {
      const [first, ...rest] = addressesOf(status?.addresses ?? []);
      return first === undefined
        ? []
        : [{ name, addresses: [first, ...rest] as const, leaves: deletionTimestamp !== undefined }];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** IPv4 before IPv6, else as the Machine has them; what is of another form than its kind says does not count. */
function addressesOf(all: NonNullable<NonNullable<Machine["status"]>["addresses"]>): string[] {
  for (const kind of kinds) {
    const isName = kind.includes("ExternalDNS");
    const found = all.filter(({ type, address }) => kind.includes(type) && (isIP(address) === 0) === isName);
    const order = (address: string) => isIP(address) || 0;
    if (found.length > 0) return found.map(({ address }) => address).sort((a, b) => order(a) - order(b));
  }
  return [];
}

/**
 * Of these members, those that the name leads to: the ones that serve, of which one that is being deleted counts only where no other
 * does. Where none serves, all of them, because a wrong answer may be the prober's. Pure.
 */
export function chooseMembers(members: readonly Member[], serves: (member: Member) => boolean): readonly Member[] {
  const stay = members.filter(({ leaves }) => !leaves);
  const serving = members.filter(serves);
  const choices = [serving.filter(({ leaves }) => !leaves), serving, stay, members];
  return choices.find((one) => one.length > 0) ?? [];
}
