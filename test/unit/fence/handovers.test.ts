import { beforeEach, describe, expect, it } from "vitest";
import { HANDOVER_ANNOTATION, HANDOVER_RENEWED_ANNOTATION } from "../../../src/api/annotations.ts";
import { createHandovers, type Handovers } from "../../../src/fence/handovers.ts";

let clock: number;
let handovers: Handovers;
beforeEach(() => {
  clock = 1_000_000;
  handovers = createHandovers(() => clock);
});

const minutes = (count: number) => void (clock += count * 60_000);
const namespace = (epoch?: string, renewed?: string, uid = "a", name = "shoot--dev--a") => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: {
    ...{ name, uid },
    annotations: {
      ...(epoch !== undefined && { [HANDOVER_ANNOTATION]: epoch }),
      ...(renewed !== undefined && { [HANDOVER_RENEWED_ANNOTATION]: renewed }),
    },
  },
});
const seen = (...of: Parameters<typeof namespace>) => handovers.announcedIn(namespace(...of));

describe("an announced handover", () => {
  it("counts for less than ten minutes from when it was first seen, also without a time", () => {
    expect(seen("2")).toBe(2);
    clock += 10 * 60_000 - 1;
    expect(seen("2")).toBe(2);
    clock += 1;
    expect(seen("2")).toBeUndefined();
  });

  it("counts again from each change: of its time, its epoch, or the namespace", () => {
    expect(seen("2", "x")).toBe(2);
    for (const change of [
      ["2", "y"],
      ["3", "y"],
      ["3", "y", "b"],
    ] as const) {
      minutes(10);
      expect(seen(...change)).toBe(Number(change[0]));
      minutes(9);
      expect(seen(...change)).toBe(Number(change[0]));
    }
  });

  it("is forgotten once it is taken back, or its namespace is gone", () => {
    for (const forget of [() => void seen(), () => handovers.keep(new Set(["another"]))]) {
      expect(seen("2", "x")).toBe(2);
      minutes(10);
      expect(seen("2", "x")).toBeUndefined();
      forget();
      expect(seen("2", "x")).toBe(2);
      handovers.keep(new Set(["shoot--dev--a"]));
      minutes(10);
      expect(seen("2", "x")).toBeUndefined();
      void seen();
    }
  });

  it("counts for its own namespace only", () => {
    expect(seen("2", "x")).toBe(2);
    minutes(10);
    expect(seen("2", "x", "b", "shoot--dev--b")).toBe(2);
    expect(seen("2", "x")).toBeUndefined();
  });
});
