import { expect, test } from "vitest";
import { quorumOf, riskOfRemoval } from "../../../src/etcd/quorum.ts";
import type { MemberStatus } from "../../../src/etcd/status.ts";
import { answering, member } from "./played-etcd.ts";

const silent = (id: string): MemberStatus => ({ member: member({ id }), answers: false, reason: "away" });
const at = (...ids: string[]) => ids.map((id) => answering(member({ id })));

test("more than half of the voters are a quorum", () => {
  expect([1, 2, 3, 4, 5, 7].map(quorumOf)).toEqual([1, 2, 2, 3, 3, 4]);
});

test("any member may go while the others keep a quorum", () => {
  expect(riskOfRemoval(at("a", "b", "c"), "b")).toBeUndefined();
  expect(riskOfRemoval(at("a", "b"), "b")).toBeUndefined();
  expect(riskOfRemoval([...at("a", "b"), silent("c")], "c")).toBeUndefined();
  expect(riskOfRemoval([...at("a", "b", "c", "d"), silent("e")], "b")).toBeUndefined();
});

test("a member stays while the others would be too few, and who has to start is named", () => {
  expect(riskOfRemoval([...at("a", "b"), silent("c")], "b")).toEqual({
    reason: "of the 2 others with a vote, 1 would be at work, and 2 have to; start member c (http://c:2380) first",
    retryable: true,
  });
});

test("a member that answers without a leader does not count", () => {
  const lost = { ...answering(member({ id: "b" })), leader: undefined } as unknown as MemberStatus;
  expect(riskOfRemoval([...at("a", "c"), lost], "a")).toMatchObject({ retryable: true });
});

test("the only voter stays for good, and a learner may always go", () => {
  const learner = answering(member({ id: "b", isLearner: true }));
  expect(riskOfRemoval([...at("a"), learner], "a")).toEqual({
    reason: "it is the only one with a vote",
    retryable: false,
  });
  expect(riskOfRemoval([...at("a"), learner], "b")).toBeUndefined();
  const silent = { member: member({ id: "c" }), answers: false, reason: "it does not answer" } as const;
  expect(riskOfRemoval([silent, learner], "b")).toBeUndefined();
});
