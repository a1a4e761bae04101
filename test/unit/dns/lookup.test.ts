import { describe, expect, test } from "vitest";
import { createLeaderLookup, createZoneServers, type LeaderLookup } from "../../../src/dns/index.ts";
import { transportsTo, type WrittenAnswer } from "../../support/dns-messages.ts";
import { answerFrom, type ZoneCopy } from "../../support/zone-model.ts";

const record = "shoot.leadership.test";
const seedA = ["Seed=a", "Epoch=3"];
const leader = { seed: "a", epoch: 3 };

/** What a server does: it has this copy of the zone, or answers so, or is silent. */
type Server = Omit<ZoneCopy, "zone" | "hosts"> | WrittenAnswer | "silent";

/** A look-up that knows these servers, by their addresses; what they do may change later. */
function lookupOf(servers: Record<string, Server>): LeaderLookup {
  const transports = transportsTo(async (address, question) => {
    const server = servers[address] ?? "silent";
    if (server === "silent") return undefined;
    if ("authoritative" in server || "code" in server) return server;
    return answerFrom([{ zone: "leadership.test", hosts: ["ns"], ...server }], question);
  });
  return createLeaderLookup(createZoneServers({ servers: Object.keys(servers) }, { transports }));
}

describe("a look-up", () => {
  test("takes an answer from whichever server gives one", async () => {
    expect(await lookupOf({ one: "silent", two: { texts: seedA } }).ask(record)).toEqual(leader);
  });

  test("fails with every server's reason when none answers", async () => {
    await expect(lookupOf({ one: "silent", two: { code: 5 } }).ask(record)).rejects.toThrow(
      `cannot ask who leads ${record}: cannot ask one for TXT ${record}: it does not answer; ` +
        `cannot ask two for TXT ${record}: it answers REFUSED`,
    );
  });

  test("takes a leader that one server names rather than that another names none", async () => {
    const unclear = { texts: ["Seed=a"] };
    expect(await lookupOf({ empty: {}, unclear, quiet: "silent", one: { texts: seedA } }).ask(record)).toEqual(leader);
  });

  test("takes it for an answer that there is no record", async () => {
    expect(await lookupOf({ one: {} }).ask(record)).toBeUndefined();
    expect(await lookupOf({ one: { code: 3 }, two: "silent" }).ask(record)).toBeUndefined();
  });

  test("says what to set when an IPv6 address of a server cannot be reached", async () => {
    const [answer] = await lookupOf({ "[2001:db8::1]": "silent" }).askAll(record);
    expect(answer?.error?.message).toMatch(/it does not answer; .*PERENNIAL_ZONE_SERVERS/);
  });

  test("asks all and says what each answers", async () => {
    const answers = await lookupOf({ one: { texts: seedA }, two: {}, three: "silent" }).askAll(record);
    expect(answers).toMatchObject([
      { server: "one", leader },
      { server: "two" },
      { server: "three", error: { message: `cannot ask three for TXT ${record}: it does not answer` } },
    ]);
    expect(answers[1]).toEqual({ server: "two" });
  });
});

describe("a look-up believes no answer", () => {
  const answers = seedA.map((value) => ({ name: record, type: "TXT", ttl: 0, value }) as const);

  test("that does not come from the server's own data", async () => {
    const lookup = lookupOf({ cache: { authoritative: false, answers } });
    await expect(lookup.ask(record)).rejects.toThrow("it does not answer from its own data (no AA)");
    expect((await lookup.askAll(record))[0]?.error?.message).toContain("no AA");
  });

  test("that a cache may keep", async () => {
    const lookup = lookupOf({ one: { texts: seedA, ttl: 1 } });
    await expect(lookup.ask(record)).rejects.toThrow(`one lets caches keep TXT ${record} for 1 s`);
  });

  test("of another name", async () => {
    const others = answers.map((answer) => ({ ...answer, name: `other.${record}` }));
    expect(await lookupOf({ one: { authoritative: true, answers: others } }).ask(record)).toBeUndefined();
  });

  test("of an earlier epoch than it has heard, and takes another server's", async () => {
    const servers: Record<string, Server> = { one: { texts: ["Seed=b", "Epoch=10"] }, two: "silent" };
    const lookup = lookupOf(servers);
    await lookup.ask(record);
    servers["one"] = { texts: ["Seed=a", "Epoch=9"] };
    await expect(lookup.ask(record)).rejects.toThrow(
      `one has gone back: it names epoch 9 of ${record} after 10 was seen`,
    );
    servers["two"] = { texts: ["Seed=b", "Epoch=10"] };
    expect(await lookup.ask(record)).toEqual({ seed: "b", epoch: 10 });
    expect(await lookup.ask(`other.${record}`)).toEqual({ seed: "a", epoch: 9 });
  });

  test("of an earlier epoch, but begins anew where the record names another Shoot's uid", async () => {
    const servers: Record<string, Server> = { one: { texts: ["Seed=b", "Epoch=10", "Shoot=1"] } };
    const lookup = lookupOf(servers);
    await lookup.ask(record);
    servers["one"] = { texts: ["Seed=b", "Epoch=1", "Shoot=2"] };
    expect(await lookup.ask(record)).toEqual({ seed: "b", epoch: 1, shoot: "2" });
  });
});
