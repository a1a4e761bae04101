import { describe, expect, it } from "vitest";
import type { Condition, Seed } from "../../../src/api/index.ts";
import {
  describeHeartbeat,
  isSeedReady,
  silenceOf,
  silentConditions,
  timeToSilence,
} from "../../../src/api/placement/fit.ts";

const now = new Date("2026-11-30T06:00:00Z");
const in2099 = "2099-01-01T00:00:00Z";

/** A Seed whose worker has written that it was ready at that time. */
const heardAt = (lastUpdateTime: string, change: Partial<Condition> = {}): Seed => {
  const times = { lastTransitionTime: lastUpdateTime, lastUpdateTime };
  const condition = {
    type: "GardenletReady",
    status: "True",
    reason: "GardenletReady",
    message: "",
    ...times,
    ...change,
  };
  return {
    ...{ apiVersion: "core.gardener.cloud/v1beta1", kind: "Seed", metadata: { name: "seed-1" } },
    spec: { provider: { type: "local", region: "here" }, networks: { pods: "10.0.0.0/16", services: "10.1.0.0/16" } },
    status: { conditions: [condition] },
  } as Seed;
};

describe("a Seed whose clock is ahead", () => {
  it.each(["2026-11-30T06:05:00Z", "2026-11-30T06:00:30Z"])("by minutes is ready: %s", (time) => {
    expect(isSeedReady(heardAt(time), now)).toBe(true);
  });

  it.each(["2026-11-30T06:05:01Z", in2099])("by more than five of them counts as silent at once: %s", (time) => {
    expect(isSeedReady(heardAt(time), now)).toBe(false);
    expect(timeToSilence(heardAt(time), now)).toBeLessThan(0);
  });

  it("is called silent with the reason", () => {
    expect(silentConditions(heardAt(in2099), "2026-11-30T06:00:00Z")).toMatchObject([
      {
        status: "Unknown",
        message: expect.stringMatching(/5 minutes ahead: it reported at 2099-01-01T00:00:00Z; set that clock/),
        lastUpdateTime: in2099,
        lastTransitionTime: "2026-11-30T06:00:00Z",
      },
    ]);
    expect(describeHeartbeat(heardAt(in2099), now)).toMatch(/5 minutes ahead/);
  });

  it("has been silent since it was called so, and for ever where that is in the future, too", () => {
    const silent = { status: "Unknown", lastTransitionTime: "2026-11-30T05:50:00Z" } as const;
    expect(silenceOf(heardAt(in2099, silent), now)).toBe(600_000);
    expect(silenceOf(heardAt(in2099, { status: "Unknown" }), now)).toBe(Infinity);
    expect(silenceOf(heardAt("2026-11-30T05:40:00Z", silent), now), "whose clock is right").toBe(1_200_000);
  });
});
