import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { actionsIn } from "../../../bench/actions.ts";
import { isWrite, since, sumOf } from "../../../bench/counting-client.ts";

const read = async (name: string) => {
  const text = await readFile(new URL(`../../flow/histories/${name}.json`, import.meta.url), "utf8");
  return (JSON.parse(text) as { events: Parameters<typeof actionsIn>[0] }).events;
};

it("the actions in a history are its start, its activities, timers, signals, updates and own search attributes", async () => {
  expect(actionsIn(await read("reconcile-create"))).toBe(1 + 56 + 1 + 1);
  expect(actionsIn(await read("shoot-create-delete"))).toBe(1 + 9 + 1 + 2);
});

it("the search attribute with which Temporal notes a patch is no action", () => {
  const event = (name: string) => ({
    upsertWorkflowSearchAttributesEventAttributes: { searchAttributes: { indexedFields: { [name]: {} } } },
  });
  expect(actionsIn([event("TemporalChangeVersion"), event("Phase")])).toBe(1);
});

it("a dry run is a request, and no write", () => {
  expect(
    ["seed apply Secret", "seed dry-run-apply Secret", "garden patch Shoot", "seed read Node"].filter(isWrite),
  ).toEqual(["seed apply Secret", "garden patch Shoot"]);
});

it("requests are summed over processes, and counted from one moment to another", () => {
  const before = sumOf({ garden: { "garden read Shoot": 1 }, seed: { "garden read Shoot": 2 } });
  expect(before).toEqual({ "garden read Shoot": 3 });
  expect(since(before, { "garden read Shoot": 5, "seed list Secret": 1 })).toEqual({
    "garden read Shoot": 2,
    "seed list Secret": 1,
  });
});
