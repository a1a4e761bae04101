import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLeaderLookup, createZoneServers, formatLeader, parseLeader } from "../../../src/dns/index.ts";

describe("a leadership record", () => {
  test("says the same after it was written and read, in whatever order its values come", () => {
    const names = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,30}[a-z0-9])?$/);
    fc.assert(
      fc.property(names, fc.integer({ min: 1, max: 1e12 }), fc.boolean(), (seed, epoch, turned) => {
        const values = formatLeader({ seed, epoch });
        expect(parseLeader(turned ? values.reverse() : values)).toEqual({ seed, epoch });
      }),
    );
  });

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
  ])("%j names nobody", (values) => {
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

  test("that there is no record is an answer, too", async () => {
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
