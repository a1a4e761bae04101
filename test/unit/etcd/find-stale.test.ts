import { describe, expect, test } from "vitest";
import { listed, member, playedMembership, refusing, told } from "./played-etcd.ts";

const [a, b] = [member({ id: "a" }), member({ id: "b" })];

/** Looks for a dead member `b`, whose answer to a question about its status is this; nobody is waited for. */
const findStale = async (status: () => unknown, silence = 0) =>
  await playedMembership((command) => (command.startsWith("member list") ? listed(a, b) : status()), {
    silence,
  }).membership.findStale({ name: "b" });

describe("a member is not dead", () => {
  test("while it answers", async () => {
    expect(await findStale(() => told("b"))).toBeUndefined();
  });

  test("while it answers and knows no leader, as in a cluster without a quorum", async () => {
    expect(await findStale(() => told("b", { leader: "" }))).toBeUndefined();
  });

  test("while it answers and is far behind", async () => {
    expect(await findStale(() => told("b", { lag: 4_000 }))).toBeUndefined();
  });

  test("when it answers again after it was silent", async () => {
    let asked = 0;
    const status = () => ((asked += 1) === 1 ? refusing("it does not answer") : told("b"));
    expect(await findStale(status, 600_000)).toBeUndefined();
    expect(asked).toBe(2);
  });
});

test("a member is dead that is silent, or in whose place another one answers", async () => {
  expect(await findStale(() => refusing("it does not answer"))).toEqual(b);
  expect(await findStale(() => told("a"))).toEqual(b);
});
