import { describe, expect, it } from "vitest";
import type { StateEntry } from "../../../src/activities/state/entry.ts";
import { layOut, StateTooLarge } from "../../../src/activities/state/layout.ts";

const entry = (name: string, size: number, section: StateEntry["section"] = "extensions"): StateEntry => ({
  section,
  body: { kind: "Worker", type: "secret", name, state: { data: "x".repeat(size) } },
});

describe("entries", () => {
  it("stay together in one object while they fit", () => {
    const entries = [entry("a", 300_000), entry("b", 300_000)];
    expect(layOut(entries)).toEqual([entries]);
    expect(layOut([])).toEqual([[]]);
  });

  it("go on in another one when they do not", () => {
    const entries = ["a", "b", "c"].map((name) => entry(name, 400_000));
    expect(layOut(entries).map((part) => part.length)).toEqual([2, 1]);
  });

  it("stay where they are when another one grows", () => {
    const entries = ["a", "b", "c"].map((name) => entry(name, 400_000));
    const before = layOut(entries);
    const [a, b, c] = entries as [StateEntry, StateEntry, StateEntry];
    expect(layOut([entry("a", 490_000), b, c], before)).toEqual([[entry("a", 490_000), b], [c]]);
    expect(layOut([a, entry("b", 800_000), c], before)).toEqual([[a], [c], [entry("b", 800_000)]]);
  });

  it("of Gardener itself come first", () => {
    const key = entry("ca", 10, "gardener");
    const before = layOut(["a", "b", "c"].map((name) => entry(name, 440_000)));
    expect(layOut([...before.flat(), key], before)[0]).toContain(key);
  });
});

describe("too large a state", () => {
  it("names the entry that is too large for any object", () => {
    expect(() => layOut([entry("small", 10), entry("giant", 1_000_000)])).toThrow(
      /Worker giant \(1001 kB\) alone exceeds 900 kB; make status.state there, or what it refers to, smaller/,
    );
  });

  it("names what takes the most when there is too much of everything", () => {
    const entries = Array.from({ length: 9 }, (_, index) => entry(`pool-${index}`, 800_000 + index * 1000));
    expect(() => layOut(entries)).toThrow(StateTooLarge);
    expect(() => layOut(entries)).toThrow(
      /do not fit into 8 objects of 900 kB; most is in Worker pool-8 \(809 kB\), Worker pool-7/,
    );
  });
});
