import { describe, expect, test } from "vitest";
import { createLeaderLookup, createZoneServers, formatLeader, parseLeader } from "../../../src/dns/index.ts";

describe("a leadership record", () => {
  test("keeps to GEP-1's form of the value", () => {
    expect(formatLeader({ seed: "seed-01", epoch: 7 })).toEqual(["Seed=seed-01", "Epoch=7"]);
  });

  test.each([
    [[]],
    [["Seed=a"]],
    [["Epoch=1"]],
    [["Seed=", "Epoch=1"]],
    [["Seed=a", "Epoch=0"]],
    [["Seed=a", "Epoch=01"]],
    [["Seed=a", "Epoch=1.5"]],
    [["Seed=a", "Epoch=-1"]],
    [["Seed=a", "Epoch=1e3"]],
    [["Seed=a", "Seed=b", "Epoch=1"]],
    [["Seed=a", "Epoch=1", "Epoch=2"]],
    [["Seed=a Epoch=1"]],
  ])("of %j names no seed", (values) => {
    expect(parseLeader(values)).toBeUndefined();
  });
});

describe("a look-up", () => {
  const says = (answers: Readonly<Record<string, string[] | undefined | Error>>) =>
    createLeaderLookup(createZoneServers({ servers: Object.keys(answers) }), async (server) => {
      const answer = answers[server];
      if (answer instanceof Error) throw answer;
      return answer;
    });

  test("takes an answer from whichever server gives one", async () => {
    const lookup = says({ one: new Error("timeout"), two: ["Seed=a", "Epoch=3"] });
    expect(await lookup.ask("r")).toEqual({ seed: "a", epoch: 3 });
  });

  test("fails with every server's reason when none answers", async () => {
    const lookup = says({ one: new Error("one is silent"), two: new Error("two refuses") });
    await expect(lookup.ask("r")).rejects.toThrow("cannot ask who leads r: one is silent; two refuses");
  });

  test("takes a leader that one server names rather than that another names none", async () => {
    const lookup = says({
      empty: undefined,
      unclear: ["Seed=a"],
      silent: new Error("silent"),
      one: ["Seed=a", "Epoch=3"],
    });
    expect(await lookup.ask("r")).toEqual({ seed: "a", epoch: 3 });
  });

  test("takes it for an answer that there is no record", async () => {
    expect(await says({ one: undefined }).ask("r")).toBeUndefined();
    expect(await says({ one: undefined, two: new Error("silent") }).ask("r")).toBeUndefined();
  });

  test("says what to set when an IPv6 address of a server cannot be reached", async () => {
    const [answer] = await says({ "[2001:db8::1]": new Error("cannot ask it: ECONNREFUSED") }).askAll("r");
    expect(answer?.error?.message).toMatch(/^cannot ask it: ECONNREFUSED; .*PERENNIAL_ZONE_SERVERS/);
  });

  test("asks all and says what each answers", async () => {
    const silent = new Error("silent");
    const lookup = says({ one: ["Seed=a", "Epoch=3"], two: undefined, three: silent });
    expect(await lookup.askAll("r")).toEqual([
      { server: "one", leader: { seed: "a", epoch: 3 } },
      { server: "two" },
      { server: "three", error: silent },
    ]);
  });
});

describe("the servers of a zone", () => {
  const zone = "leadership.test";
  const seedA = ["Seed=a", "Epoch=3"];

  /** Resolvers know `ns1`; each server lists what it is told to. */
  const zoneOf = (lists: Readonly<Record<string, string[] | Error>>, known = ["ns1"]) => {
    const asked: string[] = [];
    const time = { now: 0 };
    const servers = createZoneServers(
      {},
      {
        async nameServers([server], name) {
          asked.push(`${server ?? "resolver"} ${name}`);
          if (name !== zone) return undefined;
          const list = server === undefined ? known : lists[server];
          if (list instanceof Error) throw list;
          return list;
        },
        addresses: async (_, host) => (host === "nowhere" ? [] : [`at-${host}`]),
        now: () => time.now,
      },
    );
    return { asked, time, lookup: createLeaderLookup(servers, async () => seedA), servers };
  };

  const leader = { seed: "a", epoch: 3 };

  test("are all that any of them lists, when all are asked", async () => {
    const { lookup } = zoneOf({ "at-ns1": ["ns1", "ns2"], "at-ns2": ["ns2", "ns3"], "at-ns3": ["ns1"] });
    const answers = await lookup.askAll(`shoot.${zone}`);
    expect(answers).toEqual(["at-ns1", "at-ns2", "at-ns3"].map((server) => ({ server, leader })));
  });

  test("are looked for afresh when all are asked, and remembered for a minute otherwise", async () => {
    const { asked, lookup, time } = zoneOf({ "at-ns1": ["ns1"] });
    await lookup.ask(`shoot.${zone}`);
    asked.length = 0;
    await lookup.ask(`shoot.${zone}`);
    expect(asked).toEqual([]);
    await lookup.askAll(`shoot.${zone}`);
    expect(asked).toEqual([`resolver shoot.${zone}`, `resolver ${zone}`, `at-ns1 ${zone}`]);
    time.now = 60_001;
    await lookup.ask(`shoot.${zone}`);
    expect(asked).toHaveLength(5);
  });

  test("do not agree while one of them does not say which others there are", async () => {
    const silent = new Error("silent");
    const { lookup } = zoneOf({ "at-ns1": ["ns1", "ns2"], "at-ns2": silent });
    expect(await lookup.askAll(zone)).toEqual([
      { server: "at-ns1", leader },
      { server: "at-ns2", error: silent },
    ]);
  });

  test("cannot be asked while one of them is listed without an address", async () => {
    const { lookup } = zoneOf({ "at-ns1": ["ns1", "nowhere"] });
    await expect(lookup.askAll(zone)).rejects.toThrow(
      `cannot find the DNS server nowhere of ${zone}: it has no address`,
    );
  });
});
