import { describe, expect, it } from "vitest";
import type { Build, Deployment } from "../../../src/client/builds.ts";
import { isToBeCurrent } from "../../../src/worker/rollout.ts";

const older: Build = { id: "older", createdAt: 1, wasCurrent: true };
const newer: Build = { id: "newer", createdAt: 2, wasCurrent: true };

const deployment = (change: Partial<Deployment>): Deployment => ({
  ...{ current: undefined, madeCurrentBy: "operator", builds: [older, newer], conflictToken: new Uint8Array() },
  ...change,
});
const none = () => false;

describe("a build makes itself current", () => {
  it("where none is", () => expect(isToBeCurrent("older", deployment({}), none)).toBe(true));

  it("when it has never been, over any other", () => {
    const seen = deployment({ current: "older", builds: [older, { ...newer, wasCurrent: false }] });
    expect(isToBeCurrent("newer", seen, none)).toBe(true);
  });

  it("in place of a build without workers, and gives way when a newer one is back", () => {
    expect(isToBeCurrent("older", deployment({ current: "newer" }), (build) => build === "newer")).toBe(true);
    const stoodIn = { madeCurrentBy: "perennial worker, standing in" };
    expect(isToBeCurrent("newer", deployment({ current: "older", ...stoodIn }), none)).toBe(true);
    expect(isToBeCurrent("older", deployment({ current: "newer", ...stoodIn }), none)).toBe(false);
  });
});

describe("a build leaves another one current", () => {
  it("that is newer, or that an operator has gone back to", () => {
    expect(isToBeCurrent("older", deployment({ current: "newer" }), none)).toBe(false);
    expect(isToBeCurrent("newer", deployment({ current: "older" }), none)).toBe(false);
  });

  it("for as long as Temporal has not heard of its own workers", () => {
    expect(isToBeCurrent("newest", deployment({ current: "newer" }), none)).toBe(false);
  });
});
