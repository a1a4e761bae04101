import { expect, test } from "vitest";
import { servingSaid } from "../../../src/cluster-api/endpoint-record/serving.ts";

/** Members by their names' first letter: s serves, d is dead, u was not heard yet. */
test.each([
  ["", "Unknown", "WaitingForMachines"],
  ["s s", "True", "AllServe"],
  ["s u", "True", "SomeServe"],
  ["s d", "True", "SomeServe"],
  ["d d", "False", "NoneServes"],
  ["d u", undefined, undefined],
  ["u", undefined, undefined],
])("of members %s the record says %s, %s", (drawn, status, reason) => {
  const members = drawn
    .split(" ")
    .filter(Boolean)
    .map((state, index) => ({ name: `${state}${index}`, addresses: ["10.0.0.1"] as const, leaves: false }));
  const found = servingSaid(members, ({ name }) => {
    if (name.startsWith("u")) return undefined;
    const serves = name.startsWith("s");
    return { type: "Serving", status: serves ? "True" : "False", reason: "Tried", message: serves ? "" : "no answer" };
  });
  expect(found && { status: found.status, reason: found.reason }).toEqual(
    status === undefined ? undefined : { status, reason },
  );
});
