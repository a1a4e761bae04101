import { describe, expect, test } from "vitest";
import { createLeaderLookup, createZoneServers } from "../../../src/dns/index.ts";
import { answerFrom, zoneTransports, type ZoneCopy } from "../../support/zone-model.ts";

const parent = "example.test";
const zone = `leadership.${parent}`;
const record = `shoot.${zone}`;
const texts = ["Seed=a", "Epoch=3"];
const leader = { seed: "a", epoch: 3 };
const addresses = { ns1: "10.0.0.1", ns2: "10.0.0.2", ns3: "10.0.0.3", ns9: "10.0.0.9" };
const at = addresses;

/** A server's copies of zones, or how it answers. */
type Copies = readonly ZoneCopy[] | (() => readonly ZoneCopy[] | undefined);

/** The servers of a world, by address; its resolver knows `ns1` unless told otherwise. */
function worldOf(servers: Readonly<Record<string, Copies>>) {
  const known: Record<string, readonly string[]> = { [zone]: ["ns1"] };
  const asked: string[] = [];
  const time = { now: 0 };
  const transports = zoneTransports({
    resolver: "resolver",
    known: () => known,
    addresses,
    serve(server, question) {
      asked.push(`${server} ${question.type}`);
      const copies = servers[server];
      const zones = typeof copies === "function" ? copies() : copies;
      return zones && answerFrom(zones, question);
    },
  });
  const lookup = createLeaderLookup(
    createZoneServers({ resolvers: ["resolver"] }, { transports, now: () => time.now }),
  );
  return { known, asked, time, lookup };
}

const copyOf = (hosts: readonly string[], more: Partial<ZoneCopy> = {}): ZoneCopy => ({ zone, hosts, texts, ...more });
const named = (...servers: readonly string[]) => servers.map((server) => ({ server, leader }));

describe("the servers of a zone", () => {
  test("are all that any of them lists, when all are asked", async () => {
    const { lookup } = worldOf({
      [at.ns1]: [copyOf(["ns1", "ns2"])],
      [at.ns2]: [copyOf(["ns2", "ns3"])],
      [at.ns3]: [copyOf(["ns1"])],
    });
    expect(await lookup.askAll(record)).toEqual(named(at.ns1, at.ns2, at.ns3));
  });

  test("are asked for their list only after each has said who leads", async () => {
    const { lookup, asked } = worldOf({ [at.ns1]: [copyOf(["ns1"])] });
    await lookup.askAll(record);
    expect(asked).toEqual([`${at.ns1} SOA`, `${at.ns1} TXT`, `${at.ns1} SOA`, `${at.ns1} NS`]);
  });

  test("are looked for afresh when all are asked, and remembered for a minute otherwise", async () => {
    const { lookup, asked, time, known } = worldOf({ [at.ns1]: [copyOf(["ns1"])], [at.ns2]: [copyOf(["ns2"])] });
    await lookup.ask(record);
    known[zone] = ["ns2"];
    time.now = 60_000;
    asked.length = 0;
    await lookup.ask(record);
    expect(asked).toEqual([`${at.ns1} TXT`]);
    expect(await lookup.askAll(record)).toEqual(named(at.ns2));
    time.now = 60_001;
    asked.length = 0;
    await lookup.ask(record);
    expect(asked).toEqual([`${at.ns2} SOA`, `${at.ns2} TXT`]);
  });

  test("are looked for afresh once none of them answers", async () => {
    const first: { now: readonly ZoneCopy[] | undefined } = { now: [copyOf(["ns1"])] };
    const { lookup, known } = worldOf({ [at.ns1]: () => first.now, [at.ns2]: [copyOf(["ns2"])] });
    await lookup.ask(record);
    first.now = undefined;
    await expect(lookup.ask(record)).rejects.toThrow("it does not answer");
    known[zone] = ["ns2"];
    expect(await lookup.ask(record)).toEqual(leader);
  });

  test("do not agree while one of them does not say which others there are", async () => {
    const { lookup } = worldOf({ [at.ns1]: [copyOf(["ns1", "ns2"])], [at.ns2]: () => undefined });
    const [one, two] = await lookup.askAll(record);
    expect(one).toEqual({ server: at.ns1, leader });
    expect(two?.error?.message).toContain("it does not answer");
  });

  test("cannot be asked while one of them is listed without an address", async () => {
    const { lookup, known } = worldOf({ [at.ns1]: [copyOf(["ns1"])] });
    known[zone] = ["ns1", "nowhere"];
    await expect(lookup.askAll(record)).rejects.toThrow(
      `cannot find the DNS server nowhere of ${zone}: it has no address`,
    );
  });
});

describe("where a resolver denies the zone", () => {
  const parents: ZoneCopy = { zone: parent, hosts: ["ns1", "ns9"] };
  const world = (servers: Readonly<Record<string, Copies>>) => {
    const made = worldOf(servers);
    delete made.known[zone];
    made.known[parent] = parents.hosts;
    return made;
  };

  test("the parent's servers say that it exists, and which servers it has", async () => {
    const servers = { [at.ns1]: [copyOf(["ns1", "ns2"]), parents], [at.ns2]: [copyOf(["ns1", "ns2"])], [at.ns9]: [] };
    const { lookup } = world(servers);
    expect(await lookup.askAll(record)).toEqual(named(at.ns1, at.ns2));
    expect(await lookup.ask(record)).toEqual(leader);
  });

  test("servers that know nothing of it are believed nothing", async () => {
    const { lookup } = world({ [at.ns1]: [], [at.ns9]: [] });
    await expect(lookup.askAll(record)).rejects.toThrow(/cannot find the DNS servers of .*no AA.*no AA/);
    await expect(lookup.ask(record)).rejects.toThrow("no AA");
  });

  test("a server that has the name in the parent's zone is no server of this one", async () => {
    const { lookup, known } = worldOf({ [at.ns1]: [copyOf(["ns1", "ns9"])], [at.ns9]: [{ ...parents, texts }] });
    known[zone] = ["ns1"];
    const [, nine] = await lookup.askAll(record);
    expect(nine?.error?.message).toBe(`${at.ns9} has ${record} in zone ${parent}, not in ${zone}`);
  });
});

describe("a server that is taken out of the zone", () => {
  const world = () => {
    const hosts = { now: ["ns1", "ns2"] };
    const made = worldOf({ [at.ns1]: () => [copyOf(hosts.now, { listTtl: 30 })], [at.ns2]: [copyOf(["ns1", "ns2"])] });
    return { ...made, hosts };
  };

  test("is asked until resolvers, and those who ask, have forgotten it", async () => {
    const { lookup, hosts, time } = world();
    await lookup.askAll(record);
    hosts.now = ["ns1"];
    time.now = 1.25 * (60_000 + 60_000) - 1;
    expect(await lookup.askAll(record)).toEqual(named(at.ns1, at.ns2));
  });

  test("is asked no more after that", async () => {
    const { lookup, hosts, time } = world();
    await lookup.askAll(record);
    hosts.now = ["ns1"];
    time.now = 1.25 * (60_000 + 60_000);
    expect(await lookup.askAll(record)).toEqual(named(at.ns1));
  });
});
