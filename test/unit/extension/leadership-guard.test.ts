import { beforeEach, describe, expect, test } from "vitest";
import type { Leader } from "../../../src/dns/index.ts";
import { createLeadershipGuard, OperationRefused, type Permit } from "../../../src/extension/index.ts";
import { createLogger } from "../../../src/log.ts";
import { createVirtualTime, driftingClock, type VirtualTime } from "../../support/virtual-time.ts";
import { monotonicClock } from "../../../src/extension/lease.ts";
import { createNow } from "../../../src/kube/index.ts";
import { seconds } from "../../support/patience.ts";
import { extensionObject } from "./extension-object.ts";

const log = createLogger({ name: "test", level: "silent" });
const silence = new Error("no server answers");
let time: VirtualTime;
let says: Leader | undefined | Error;
let answerTakes: number;
let asked: number[];

beforeEach(() => {
  time = createVirtualTime();
  says = { seed: "seed-1", epoch: 1 };
  answerTakes = 0;
  asked = [];
});

describe("a leadership guard", () => {
  test("allows what names no record, without asking", async () => {
    await guard().enter(operation(null));
    expect(asked).toEqual([]);
  });

  test.each([
    ["another seed leads", { seed: "seed-2", epoch: 2 }, "record names seed-2 in epoch 2, not seed-1 in epoch 1"],
    [
      "this seed leads again, under a later number",
      { seed: "seed-1", epoch: 3 },
      "names seed-1 in epoch 3, not seed-1 in epoch 1",
    ],
    ["there is no record", undefined, "record names no leader"],
    ["nobody answers", silence, "no server answers"],
  ])("refuses when %s", async (_when, answer, why) => {
    says = answer;
    const refused = guard().enter(operation());
    await expect(refused).rejects.toBeInstanceOf(OperationRefused);
    await expect(refused).rejects.toThrow(why);
  });

  test("refuses when the record is that of another Shoot of the same name, and asks nothing of one that says of none", async () => {
    const leadership = { ...leadershipOf(60), shoot: "later" };
    says = { seed: "seed-1", epoch: 1, shoot: "earlier" };
    await expect(guard().enter(operation(leadership))).rejects.toThrow(
      "record is that of another Shoot of the same name, with uid earlier",
    );
    says = { seed: "seed-1", epoch: 1, shoot: "later" };
    (await guard().enter(operation(leadership))).release();
    says = { seed: "seed-1", epoch: 1 };
    (await guard().enter(operation(leadership))).release();
  });

  test("takes the seed alone for the leader when the object has no number", async () => {
    says = { seed: "seed-1", epoch: 9 };
    const { epoch: _, ...leadership } = leadershipOf(60);
    await guard().enter(operation(leadership));
  });

  test("refuses when the answer comes after the lease that began with the question", async () => {
    answerTakes = 61_000;
    const entered = guard().enter(operation());
    entered.catch(() => undefined);
    await time.run(70_000);
    await expect(entered).rejects.toThrow("nothing confirmed record for 60 s");
  });

  test("asks every third of the lease and goes on for as long as it is confirmed", async () => {
    const permit = await entered();
    await time.run(599_000);
    expect(permit.signal.aborted).toBe(false);
    permit.check();
    expect(asked.slice(0, 4)).toEqual([0, 20_000, 40_000, 60_000]);
    permit.release();
    await time.run(700_000);
    expect(asked.at(-1)).toBe(580_000);
  });

  test("ends the operation at once when it sees another leader", async () => {
    const permit = await entered();
    says = { seed: "seed-2", epoch: 2 };
    await time.run(19_999);
    expect(permit.signal.aborted).toBe(false);
    await time.run(20_000);
    expect(permit.signal.reason).toBeInstanceOf(OperationRefused);
  });

  test.each([silence, undefined])("ends it one lease after it asked what was confirmed last: %s", async (answer) => {
    answerTakes = 1_000;
    const permit = await entered();
    await time.run(22_000);
    says = answer;
    await time.run(80_999);
    expect(permit.signal.aborted).toBe(false);
    await time.run(81_000);
    expect(permit.signal.aborted).toBe(true);
    expect(() => permit.check()).toThrow(
      "cannot act for Infrastructure shoot--dev--i/i: nothing confirmed record for 60 s",
    );
  });

  test("goes on when answers fail for a while", async () => {
    const permit = await entered();
    says = silence;
    await time.run(50_000);
    says = { seed: "seed-1", epoch: 1 };
    await time.run(110_000);
    permit.check();
  });

  test("is not prolonged by an answer to a question that was asked in time and answered too late", async () => {
    const permit = await entered();
    answerTakes = 70_000;
    await time.run(200_000);
    expect(permit.signal.aborted).toBe(true);
  });

  test("knows by the clock that the lease is over, before any timer has said so", async () => {
    let paused = 0;
    const clock = { ...driftingClock(time, 1), now: () => time.now() + paused };
    const permit = await guard(clock).enter(operation());
    paused = 60_000;
    expect(permit.signal.aborted).toBe(false);
    expect(() => permit.check()).toThrow("nothing confirmed");
    expect(permit.signal.aborted).toBe(true);
  });

  test("is not prolonged by an answer that comes after its end, before any timer has said so", async () => {
    let paused = 0;
    answerTakes = 1_000;
    const entering = guard({ ...driftingClock(time, 1), now: () => time.now() + paused }).enter(operation());
    await time.run(42_500); // the third question is under way, and the second one's lease ends at 81 s
    const permit = await entering;
    paused = 40_000;
    await time.run(43_000);
    expect(permit.signal.aborted).toBe(true);
    expect(() => permit.check()).toThrow("nothing confirmed");
  });

  test("counts the time that its machine was suspended", async () => {
    let suspended = 0;
    const now = createNow(
      () => time.now(),
      () => time.now() + suspended,
    );
    const permit = await guard({ ...driftingClock(time, 1), now }).enter(operation());
    suspended = 59_999;
    permit.check();
    suspended = 60_000;
    expect(() => permit.check()).toThrow("nothing confirmed");
  });

  test("goes by a clock of this machine that has run for as long as this process", () => {
    const [before, begin] = [monotonicClock.now(), performance.now()];
    while (performance.now() - begin < 50);
    expect(monotonicClock.now() - before).toBeGreaterThanOrEqual(49);
    const [most, least] = [monotonicClock.now() - before, performance.now() - begin];
    expect(most).toBeLessThan(least + seconds(0.5));
  });

  test("does not abort what was given back", async () => {
    const permit = await entered();
    permit.release();
    says = { seed: "seed-2", epoch: 2 };
    await time.run(300_000);
    expect(permit.signal.aborted).toBe(false);
  });
});

async function entered(): Promise<Permit> {
  const entering = guard().enter(operation());
  await time.run(answerTakes);
  return await entering;
}

function guard(clock = driftingClock(time, 1)) {
  const ask = async () => {
    asked.push(time.now());
    const answer = says;
    if (answerTakes > 0) await time.sleep(answerTakes);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return createLeadershipGuard({ ask, log, clock });
}

function leadershipOf(leaseSeconds: number) {
  return { record: "record", value: "seed-1", leaseSeconds, epoch: 1 };
}

function operation(leadership: object | null = leadershipOf(60)) {
  const object = extensionObject({});
  const spec = { ...object.spec, ...(leadership === null ? {} : { leadership }) };
  return { object: { ...object, spec } as typeof object, cluster: undefined, type: "Reconcile" as const };
}
