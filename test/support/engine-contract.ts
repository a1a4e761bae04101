import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { EngineTable } from "./engine-tables.ts";
import { createEngineWorld, type EngineWorld, type ToldFailure, type WorldEvent } from "./engine-world.ts";
import type { Engine, EngineRun } from "./engine.ts";
import { eventually } from "./eventually.ts";
import { seconds } from "./patience.ts";

const passing: ToldFailure = { message: "the cloud has no machines left", codes: ["ERR_INFRA_RESOURCES_DEPLETED"] };
const permanent: ToldFailure = { message: "the region is unknown", codes: ["ERR_CONFIGURATION_PROBLEM"] };

/** In ms: more than any test takes. */
const LONG = 600_000;

/** How a trial begins. */
interface Setting {
  /** Steps that begin, and end when they are let go. */
  readonly holds?: readonly string[];
  readonly fails?: Readonly<Record<string, ToldFailure>>;
  readonly retryDuration?: number;
}

/** What an engine does with a table, whichever it is; each test has a world and a run of its own. */
export function describeEngineContract(engine: () => Engine): void {
  const trial = async (
    table: EngineTable,
    { holds = [], fails = {}, retryDuration = LONG }: Setting,
    work: (run: EngineRun, world: EngineWorld) => Promise<void>,
  ) => {
    const world = await createEngineWorld();
    for (const step of holds) await world.hold(step, true);
    for (const [step, failure] of Object.entries(fails)) await world.fail(step, failure);
    const run = await engine().begin(table, world, retryDuration);
    try {
      await work(run, world);
    } finally {
      await run.close();
      await world.remove();
    }
  };

  test.concurrent(
    "rows begin when those before them are done, one beside the other, and a skipped one holds up none",
    async () => {
      await trial("waves", { holds: ["first", "left", "right"] }, async (run, world) => {
        await eventually(async () => expect(await begun(world)).toEqual(["first"]));
        await world.hold("first", false);
        await eventually(async () => expect((await begun(world)).sort()).toEqual(["first", "left", "right"]));
        await world.hold("left", false);
        await eventually(async () => expect(await made(world)).toEqual(["first", "left"]));
        await delay(500);
        expect(await begun(world)).not.toContain("last");
        await world.hold("right", false);
        expect(await run.outcome()).toBe("succeeded");
        expect(await made(world)).toEqual(["first", "left", "right", "last"]);
        expect(await begun(world)).not.toContain("skipped");
      });
    },
  );

  test.concurrent("those who watch see where each step is", async () => {
    await trial("waves", { holds: ["left"] }, async (run, world) => {
      await eventually(async () =>
        expect(await run.shown()).toEqual({
          first: { state: "done" },
          left: { state: "running" },
          right: { state: "done" },
          skipped: { state: "skipped" },
        }),
      );
      await world.hold("left", false);
      expect(await run.outcome()).toBe("succeeded");
      expect(await run.shown()).toMatchObject({ left: { state: "done" }, last: { state: "done" } });
    });
  });

  test.concurrent(
    "a passing failure is tried again after five seconds, then after ten, with its codes in sight, until it has passed",
    async () => {
      await trial("waves", { fails: { left: passing } }, async (run, world) => {
        await eventually(async () => {
          const { left } = await run.shown();
          expect(left).toEqual({ state: "retrying", attempt: 2, ...passing });
        }, 60_000);
        expect((await run.shown())["right"]).toEqual({ state: "done" });
        await eventually(async () => expect(pausesOf(await world.events(), "left")).toHaveLength(2), 60_000);
        await world.fail("left", undefined);
        expect(await run.outcome()).toBe("succeeded");
        const [one = 0, two = 0] = pausesOf(await world.events(), "left");
        expect(one).toBeGreaterThan(4_900);
        expect(two).toBeGreaterThan(9_900);
        expect((await run.shown())["left"]).toEqual({ state: "done" });
      });
    },
  );

  test.concurrent("a passing failure parks when the next try would begin after the time for tries", async () => {
    const retryDuration = 22_000;
    await trial("waves", { fails: { left: passing }, retryDuration }, async (run, world) => {
      expect(await run.outcome()).toBe("parked");
      const tries = (await world.events()).filter(({ what, step }) => what === "begun" && step === "left");
      const attempts = tries.filter(({ at }, index) => at - (tries[index - 1]?.at ?? 0) > LONGEST_HICCUP);
      expect(attempts.length).toBeGreaterThan(1);
      expect((attempts.at(-1)?.at ?? 0) - (attempts[0]?.at ?? 0)).toBeLessThan(retryDuration);
      expect(await run.shown()).toMatchObject({ left: { state: "parked", ...passing } });
    });
  });

  test.concurrent(
    "what no try can mend parks at once with its codes; the rest goes on, and what was done is not made again",
    async () => {
      await trial("waves", { fails: { left: permanent } }, async (run, world) => {
        expect(await run.outcome()).toBe("parked");
        expect(await begun(world)).toEqual(expect.not.arrayContaining(["last"]));
        expect((await made(world)).sort()).toEqual(["first", "right"]);
        expect((await begun(world)).filter((step) => step === "left")).toHaveLength(1);
        expect(await run.shown()).toMatchObject({
          left: { state: "parked", ...permanent },
          right: { state: "done" },
        });
        await world.fail("left", undefined);
        await run.goOn();
        expect(await run.outcome()).toBe("succeeded");
        expect(await made(world)).toEqual(["first", "right", "left", "last"]);
        expect((await run.shown())["left"]).toEqual({ state: "done" });
      });
    },
  );

  test.concurrent("a step that parks again says why it does now", async () => {
    await trial("waves", { fails: { left: permanent } }, async (run, world) => {
      expect(await run.outcome()).toBe("parked");
      const other: ToldFailure = { message: "the quota is used up", codes: ["ERR_INFRA_QUOTA_EXCEEDED"] };
      await world.fail("left", other);
      await run.goOn();
      await eventually(async () => expect(await run.shown()).toMatchObject({ left: { state: "parked", ...other } }));
    });
  });

  test.concurrent(
    "a step whose process is killed in the middle is done by the next one, and those before it are not made again",
    async () => {
      await trial("waves", { holds: ["left"] }, async (run, world) => {
        await eventually(async () => expect((await made(world)).sort()).toEqual(["first", "right"]));
        await eventually(async () => expect(await begun(world)).toContain("left"));
        await run.kill();
        await world.hold("left", false);
        expect(await run.outcome()).toBe("succeeded");
        expect((await made(world)).sort()).toEqual(["first", "last", "left", "right"]);
        expect((await begun(world)).filter((step) => step === "left").length).toBeGreaterThan(1);
      });
    },
  );

  test.concurrent("a wait ends when what it waits for comes true, and not before", async () => {
    await trial("wait", {}, async (run, world) => {
      await eventually(async () => expect(await made(world)).toEqual(["waiting"]));
      await delay(1_000);
      expect(await begun(world)).toEqual(["waiting"]);
      expect((await run.shown())["waiting"]).toEqual({ state: "running" });
      await run.tell("waiting");
      expect(await run.outcome()).toBe("succeeded");
      expect(await made(world)).toEqual(["waiting", "next"]);
    });
  });

  test.concurrent("a wait outlives the process that waits", async () => {
    await trial("wait", {}, async (run, world) => {
      await eventually(async () => expect(await made(world)).toEqual(["waiting"]));
      await delay(500);
      await run.kill();
      await run.tell("waiting");
      expect(await run.outcome()).toBe("succeeded");
      expect(await made(world)).toEqual(["waiting", "next"]);
    });
  });

  test.concurrent("an interrupted run finishes the write that has begun, and begins no other", async () => {
    await trial("waves", { holds: ["left"] }, async (run, world) => {
      await eventually(async () => expect((await made(world)).sort()).toEqual(["first", "right"]));
      await eventually(async () => expect(await begun(world)).toContain("left"));
      await run.interrupt();
      await delay(1_000);
      expect((await made(world)).sort()).toEqual(["first", "right"]);
      await world.hold("left", false);
      expect(await run.outcome()).toBe("stopped");
      expect((await made(world)).sort()).toEqual(["first", "left", "right"]);
      expect(await begun(world)).not.toContain("last");
      expect(await run.shown()).toMatchObject({ left: { state: "done" }, last: { state: "stopped" } });
    });
  });

  test.concurrent("an interrupted run that had nothing left to begin has succeeded", async () => {
    await trial("waves", { holds: ["last"] }, async (run, world) => {
      await eventually(async () => expect(await begun(world)).toContain("last"));
      await run.interrupt();
      await delay(500);
      await world.hold("last", false);
      expect(await run.outcome()).toBe("succeeded");
    });
  });

  test.concurrent("an interrupted run gives a wait up at once", async () => {
    await trial("wait", {}, async (run, world) => {
      await eventually(async () => expect(await made(world)).toEqual(["waiting"]));
      await delay(500);
      await run.interrupt();
      expect(await run.outcome()).toBe("stopped"); // long before the re-check
      expect(await begun(world)).toEqual(["waiting"]);
    });
  });

  test.concurrent("an interrupted run gives a pause before a retry up at once", async () => {
    await trial("waves", { fails: { left: passing } }, async (run, world) => {
      const isSecond = { left: { state: "retrying", attempt: 2 } };
      await eventually(async () => expect(await run.shown()).toMatchObject(isSecond), 60_000);
      const since = Date.now();
      await run.interrupt();
      expect(await run.outcome()).toBe("stopped");
      expect(Date.now() - since).toBeLessThan(seconds(8)); // the pause takes ten
      expect(await made(world)).not.toContain("left");
    });
  });
}

const steps = async (world: EngineWorld, what: WorldEvent["what"]): Promise<string[]> =>
  (await world.events()).filter((event) => event.what === what).map(({ step }) => step);
const begun = async (world: EngineWorld): Promise<string[]> => await steps(world, "begun");
const made = async (world: EngineWorld): Promise<string[]> => await steps(world, "made");

/** In ms, those between two tries of a step that are an engine's own; quicker ones ride out a hiccup. */
function pausesOf(events: readonly WorldEvent[], step: string): number[] {
  const tries = events.filter((event) => event.what === "begun" && event.step === step).map(({ at }) => at);
  return tries.flatMap((at, index) => at - (tries[index - 1] ?? at)).filter((pause) => pause > LONGEST_HICCUP);
}

/** In ms. */
const LONGEST_HICCUP = 4_900;
