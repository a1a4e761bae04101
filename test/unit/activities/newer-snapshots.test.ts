import { expect, it } from "vitest";
import { newerSnapshots } from "../../../src/activities/backup/newer-snapshots.ts";

const now = Date.parse("2026-01-01T12:00:00Z");
/** What the schedule of this time of the day has written. */
const at = (time: string, end = "bcdfg") => `etcd-backup-${Date.parse(`2026-01-01T${time}:00Z`) / 60_000}-${end}.db`;
const recorded = { name: at("10:00"), takenAt: "2026-01-01T10:04:59Z" };
const namesOf = (names: readonly string[], of = recorded) => newerSnapshots(names, of, now).map(({ name }) => name);

it("the snapshots that the schedule took after the recorded one are newer, the newest first", () => {
  expect(newerSnapshots([at("10:10"), at("09:50"), at("10:20"), at("10:00")], recorded, now)).toEqual([
    { name: at("10:20"), takenAt: "2026-01-01T10:20:00Z" },
    { name: at("10:10"), takenAt: "2026-01-01T10:10:00Z" },
  ]);
});

it("a recorded one that began late is not newer than the next of the schedule", () => {
  expect(namesOf([at("10:01")])).toEqual([at("10:01")]);
});

it("one that was recorded by another name than the schedule's is as old as its record says", () => {
  const last = { name: "final-snapshot-2-bcdfg.db", takenAt: "2026-01-01T10:04:59Z" };
  expect(namesOf([at("10:04"), at("10:05")], last)).toEqual([at("10:05")]);
});

it("pods of one Job are told apart, and a name that is listed twice counts once", () => {
  expect(namesOf([at("10:10", "zzzzz"), at("10:10"), at("10:10")])).toEqual([at("10:10"), at("10:10", "zzzzz")]);
});

it.each([
  ["by another Job", "final-snapshot-3-bcdfg.db"],
  ["by a Job that an operator has made of the schedule", "etcd-backup-now-bcdfg.db"],
  ["that is not whole yet", `${at("10:10")}.part`],
  ["in a folder", `other/${at("10:10")}`],
  ["with an ending that no pod has", at("10:10", "BCDFG")],
  ["from a time that has not come", "etcd-backup-99999999-bcdfg.db"],
  ["of something else", "NOTICE: nothing"],
])("a file %s is never taken for a newer snapshot", (_, name) => {
  expect(namesOf([name])).toEqual([]);
});

it("the clock of the seed that has written it may be ahead of ours by less than an hour", () => {
  expect(namesOf([at("12:59"), at("13:01")])).toEqual([at("12:59")]);
});
