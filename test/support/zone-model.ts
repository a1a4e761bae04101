import type { Transports } from "../../src/dns/transport.ts";
import { transportsTo, type AnsweredRecord, type AskedQuestion, type WrittenAnswer } from "./dns-messages.ts";

/** What one server has of a zone. */
export interface ZoneCopy {
  readonly zone: string;
  /** The names of the zone's servers. */
  readonly hosts: readonly string[];
  /** The values of the one TXT record that there is; none when it has no record. */
  readonly texts?: readonly string[] | undefined;
  /** In s. */
  readonly ttl?: number;
  /** Of its NS records, in s. */
  readonly listTtl?: number;
}

/** The answer of a server that has these zones, the lowest first: nothing of its own for a name in none of them. */
export function answerFrom(zones: readonly ZoneCopy[], { name, type }: AskedQuestion): WrittenAnswer {
  const copy = zones.find(({ zone }) => name === zone || name.endsWith(`.${zone}`));
  if (copy === undefined) return { authoritative: false };
  const { zone, hosts, texts = [], ttl = 0, listTtl = 60 } = copy;
  const soa: AnsweredRecord = { name: zone, type: "SOA", ttl: 60, value: hosts[0] ?? zone };
  const answers: AnsweredRecord[] = [];
  if (type === "TXT") answers.push(...texts.map((value) => ({ name, type, ttl, value }) as const));
  if (type === "NS" && name === zone)
    answers.push(...hosts.map((value) => ({ name, type, ttl: listTtl, value }) as const));
  if (type === "SOA" && name === zone) answers.push(soa);
  return answers.length > 0 ? { answers } : { authority: [soa] };
}

/** The transports to servers by address, each a function of the question, beside resolvers that know what they are told. */
export function zoneTransports(o: {
  readonly resolver: string;
  /** The servers of the zones that the resolver knows. */
  readonly known: () => Readonly<Record<string, readonly string[]>>;
  readonly addresses: Readonly<Record<string, string>>;
  readonly serve: (
    server: string,
    question: AskedQuestion,
  ) => Promise<WrittenAnswer | undefined> | WrittenAnswer | undefined;
}): Transports {
  return transportsTo(async (server, question) => {
    if (server !== o.resolver) return await o.serve(server, question);
    const { name, type } = question;
    const address = o.addresses[name];
    const known = { A: address === undefined ? [] : [address], NS: o.known()[name] ?? [] }[type] ?? [];
    return {
      authoritative: false,
      answers: known.map((value) => ({ name, type: type as "A" | "NS", ttl: 60, value })),
    };
  });
}
