import { formatLeader, type Leader } from "../../src/dns/index.ts";
import type { Transports } from "../../src/dns/transport.ts";
import type { WrittenAnswer } from "./dns-messages.ts";
import type { ModelProcess } from "./model-process.ts";
import type { Schedule } from "./split-brain-schedule.ts";
import type { VirtualTime } from "./virtual-time.ts";
import { answerFrom, zoneTransports, type ZoneCopy } from "./zone-model.ts";

/** What a server holds: who leads, and which servers there are. */
interface Version {
  readonly leader: Leader;
  readonly hosts: readonly string[];
}

/** The ways in which a network, or code that checks less, may fail the protocol. */
export interface ZoneFaults {
  /** Each address is two servers: the flow reaches one, seeds the other. */
  readonly anycast?: boolean;
  /** Caches pass their answers off as the servers' own, as for code that looks neither at AA nor at the time to live. */
  readonly forgedCaches?: boolean;
  /** Servers say that the name is in the parent's zone, as for code that does not ask them. */
  readonly forgedCuts?: boolean;
  /** Servers list only what resolvers know, as for code that asks only these. */
  readonly oldLists?: boolean;
}

/** One process's way to the zone. */
export interface Path {
  readonly process: ModelProcess;
  readonly isFlow: boolean;
  /** How long its resolver goes on without knowing of a change of the servers, in ms. */
  readonly ignorance: number;
  /** How long a cache before it keeps answers, in ms; 0 where there is none. */
  readonly cache: number;
  readonly isCutOff: (host: string) => boolean;
  /** A question about the record has been sent; and it has reached a server. */
  readonly onSent: () => void;
  readonly onArrival: () => void;
}

/** The zone that all records are in, and the one above it. */
const PARENT = "example.org";
const ZONE = `leadership.${PARENT}`;

/** The record of the one Shoot. */
export const RECORD = `shoot.${ZONE}`;

/** How long, in ms, a question is waited for. */
const PATIENCE = 2_000;

/** How long, in ms, a secondary that has stopped copying takes. */
const STOPPED = 100 * 60_000;

/** How long, in s, resolvers may keep the list of servers. */
const LIST_TTL = 60;

const [JOINING, RESOLVER] = ["joining", "resolver"];

/** The servers of the zone, as they copy it from their primary, and what processes get to hear of them. */
export function createZone(time: VirtualTime, schedule: Schedule, faults: ZoneFaults) {
  const { lags, joins } = schedule;
  const original = ["primary", ...lags.map((_, index) => `secondary-${index}`)];
  const every = [...original, JOINING];
  const addresses = Object.fromEntries(every.map((host, index) => [host, `10.0.0.${index + 1}`]));
  const hostAt = Object.fromEntries(Object.entries(addresses).map(([host, address]) => [address, host]));
  const first: Version = { leader: { seed: "A", epoch: 1 }, hosts: original };
  const held = new Map<string, Version>(original.map((host) => [host, first]));
  /** What the second server of an address holds. */
  const others = new Map<string, Version>(held);
  const gone = new Set<string>();
  let latest = first;
  let changedAt = Infinity;
  let before: readonly string[] = original;
  let turn = 0;
  const packet = () => schedule.packets[turn++ % schedule.packets.length] ?? { lost: false, there: 0, back: 0 };

  /** A server that takes long for one version may have a later one before it, which it keeps. */
  const copy = (copies: Map<string, Version>, host: string, version: Version) => {
    if (gone.has(host) || version.leader.epoch < (copies.get(host)?.leader.epoch ?? 0)) return;
    copies.set(host, version);
  };

  const write = (changed: Partial<Version>) => {
    const version = { ...latest, ...changed };
    latest = version;
    held.set("primary", version);
    others.set("primary", version);
    const spread = (host: string, lag: number) => {
      time.at(time.now() + lag, () => copy(held, host, version));
      time.at(time.now() + (faults.anycast ? schedule.otherLag : lag), () => copy(others, host, version));
    };
    for (const [index, lag] of lags.entries())
      spread(`secondary-${index}`, index === 0 && schedule.leaves !== undefined ? STOPPED : lag);
    if (held.has(JOINING)) spread(JOINING, joins?.lag ?? 0);
  };

  const list = (hosts: readonly string[]) => {
    before = latest.hosts;
    changedAt = time.now();
    write({ hosts });
  };

  const knownBy = ({ ignorance }: Path) => (time.now() < changedAt + ignorance ? before : latest.hosts);

  /** The servers of the parent's zone know both: the primary is one of them. */
  const zonesOf = (host: string, { isFlow }: Path): ZoneCopy[] => {
    const version = (isFlow ? held : others).get(host);
    if (version === undefined) return [];
    const hosts = faults.oldLists === true ? version.hosts.filter((name) => name !== JOINING) : version.hosts;
    const texts = formatLeader(version.leader);
    const child = { zone: ZONE, hosts, texts, listTtl: LIST_TTL };
    if (host !== "primary") return [child];
    const parent = { zone: PARENT, hosts: ["primary"] };
    return faults.forgedCuts === true ? [{ ...parent, texts }] : [child, parent];
  };

  const createTransports = (path: Path): Transports => {
    const cached = new Map<string, { readonly answer: WrittenAnswer; readonly at: number }>();
    const deniedUntil = schedule.denials[path.isFlow ? 0 : 1] ?? 0;

    /** A question travels, is answered from what the server holds when it arrives, and the answer travels back. */
    const travel = (host: string, answer: () => WrittenAnswer | undefined, isOfRecord: boolean) =>
      new Promise<WrittenAnswer | undefined>((resolve) => {
        const { lost, there, back } = packet();
        if (isOfRecord) path.onSent();
        const silence = time.at(time.now() + PATIENCE, () => path.process.deliver(() => resolve(undefined)));
        if (lost || path.isCutOff(host) || there + back >= PATIENCE) return;
        time.at(time.now() + there, () => {
          const answered = answer();
          if (answered === undefined) return;
          silence.cancel();
          time.at(time.now() + back, () => path.process.deliver(() => resolve(answered)));
          if (isOfRecord) path.onArrival();
        });
      });

    return zoneTransports({
      resolver: RESOLVER,
      addresses,
      known: () =>
        time.now() < deniedUntil ? { [PARENT]: ["primary"] } : { [ZONE]: knownBy(path), [PARENT]: ["primary"] },
      async serve(address, question) {
        const host = hostAt[address] ?? "";
        const key = `${address} ${question.type} ${question.name}`;
        const known = cached.get(key);
        if (known && time.now() - known.at < path.cache)
          return { ...known.answer, authoritative: faults.forgedCaches === true };
        const answer = await travel(
          host,
          () => {
            const zones = zonesOf(host, path);
            return zones.length === 0 ? undefined : answerFrom(zones, question);
          },
          question.type === "TXT",
        );
        if (answer && path.cache > 0) cached.set(key, { answer, at: time.now() });
        return answer;
      },
    });
  };

  return {
    createTransports,
    resolver: RESOLVER,
    change: (leader: Leader) => write({ leader }),
    /** A server joins: it copies the zone as it does. */
    join() {
      list([...latest.hosts, JOINING]);
      for (const copies of [held, others]) copies.set(JOINING, latest);
    },
    /** A secondary is taken out of the list, gets no changes any more, and goes on answering. */
    leave(host: string) {
      if (!original.includes(host) || host === "primary") return;
      gone.add(host);
      list(latest.hosts.filter((name) => name !== host));
    },
    /** A server is restored from a backup for a while. */
    goBack(host: string, leader: Leader, length: number) {
      const version = held.get(host);
      if (version === undefined || version.leader.epoch <= leader.epoch) return;
      for (const copies of [held, others]) copies.set(host, { ...version, leader });
      time.at(time.now() + length, () => {
        for (const copies of [held, others]) copy(copies, host, latest);
      });
    },
  };
}
