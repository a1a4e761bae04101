import { expect, test } from "vitest";
import { membersIn, statusIn } from "../../../src/etcd/answers.ts";
import { parseJsonExactly } from "../../../src/parsing.ts";

test("the id of a member is that of etcd's own commands, to the last of its 64 bits", () => {
  const text = `{"members":[{"ID":17316893747710281405,"peerURLs":["http://b:2380"],"isLearner":true},{"ID":7,"name":"a"}]}`;
  expect(membersIn(parseJsonExactly(text, "members"))).toEqual([
    {
      ...{ id: "f051f71d5d7446bd", name: "", peerURLs: ["http://b:2380"], clientURLs: [] },
      ...{ isLearner: true, started: false },
    },
    { id: "7", name: "a", peerURLs: [], clientURLs: [], isLearner: false, started: true },
  ]);
});

test("a member without a leader has none, and says so", () => {
  const text = `[{"Endpoint":"http://a:2379","Status":{"header":{"member_id":916958749067767679},"version":"3.6.10","dbSize":36864,"raftIndex":30,"raftTerm":3,"raftAppliedIndex":29,"errors":["etcdserver: no leader"]}}]`;
  expect(statusIn(parseJsonExactly(text, "status"))).toEqual({
    ...{ id: "cb9b11fbfdeef7f", version: "3.6.10", dbSize: 36_864, term: 3, raftIndex: 30, appliedIndex: 29 },
    errors: ["etcdserver: no leader"],
  });
});

test("an answer that is none is said to be so, and not quoted", () => {
  expect(() => parseJsonExactly("secret", "what etcdctl answers")).toThrow(/^what etcdctl answers is not JSON$/);
});
