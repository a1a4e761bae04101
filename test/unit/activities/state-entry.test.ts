import { expect, it } from "vitest";
import {
  createEntries,
  dataKeysOf,
  idOf,
  type StateEntry,
  type StateItem,
} from "../../../src/activities/state/entry.ts";
import { makeDataKey, type DataKey } from "../../../src/activities/state/data-key.ts";
import { createSeal } from "../../../src/activities/state/seal.ts";

const [one, two] = [makeDataKey(1), makeDataKey(2)];
const entriesWith = (current: DataKey, ...others: DataKey[]) =>
  createEntries(createSeal(new Map(others.map((key) => [key.id, key])), current), "uid");
const entries = entriesWith(one);
const ca: StateItem = { section: "gardener", fields: { name: "ca", type: "secret" }, content: { data: { a: "MQ==" } } };
const worker: StateItem = { section: "extensions", fields: { kind: "Worker", name: "s" }, content: { machines: [1] } };
const opened = (kept: readonly StateEntry[]) => kept.map((entry) => entries.open(entry));

it("a merge of state entries keeps what comes beside what was there", () => {
  const kept = entries.merge(entries.merge([], [ca]), [worker]);
  expect(opened(kept)).toEqual([ca, worker]);
  expect(kept.map(idOf)).toEqual(["gardener/secret/ca", "extensions/Worker/s/"]);
});

it("a merge of state entries writes nothing anew that says the same", () => {
  const kept = entries.merge([], [ca, worker]);
  expect(entries.merge(kept, [worker, ca])).toBe(kept);
  expect(entries.merge(kept, [])).toBe(kept);
  const changed = entries.merge(kept, [{ ...worker, content: { machines: [1, 2] } }]);
  expect(changed[0]).toBe(kept[0]);
  expect(changed[1]).not.toBe(kept[1]);
});

it("a merge of state entries keeps a content that has gone missing", () => {
  const resources = [{ name: "key", resourceRef: { kind: "Secret", name: "key" } }];
  const kept = entries.merge([], [worker]);
  const changed = entries.merge(kept, [{ section: "extensions", fields: { ...worker.fields, resources } }]);
  expect(opened(changed)).toEqual([{ ...worker, fields: { ...worker.fields, resources } }]);
});

it("a merge of state entries seals everything under a new key once there is one", () => {
  const kept = entries.merge([], [ca, worker]);
  const rotated = entriesWith(two, one).merge(kept, []);
  expect([...dataKeysOf(kept)]).toEqual([one.id]);
  expect([...dataKeysOf(rotated)]).toEqual([two.id]);
  expect(rotated.map((entry) => entriesWith(two).open(entry))).toEqual([ca, worker]);
});

it("a merge of state entries leaves what it cannot open until it is brought again", () => {
  const kept = entries.merge([], [ca, worker]);
  const stranger = entriesWith(two);
  expect(stranger.merge(kept, [])).toBe(kept);
  expect(stranger.merge(kept, [{ section: "extensions", fields: worker.fields }])).toBe(kept);
  const again = stranger.merge(kept, [worker]);
  expect(again[0]).toBe(kept[0]);
  expect(stranger.tryOpen(again[1] as StateEntry)).toEqual(worker);
});
