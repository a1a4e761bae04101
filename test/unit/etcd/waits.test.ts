import { expect, test } from "vitest";
import { listed, member, playedMembership, refusing, told } from "./played-etcd.ts";

const [a, b] = [member({ id: "a" }), member({ id: "b", isLearner: true })];

test("a learner is waited for until it is a few entries behind the leader, and its lag is told", async () => {
  const lags = [900, 900, 300, 300, 100, 100];
  const { membership, told: messages } = playedMembership((command, { endpoints }) => {
    if (command.startsWith("member list")) return listed(a, b);
    return endpoints?.[0] === "http://a:2379" ? told("a") : told("b", { lag: lags.shift() ?? 5_000 });
  });
  await membership.untilSynced("b");
  expect(messages).toEqual([
    "member b (http://b:2380) is 900 entries behind the leader",
    "member b (http://b:2380) is 300 entries behind the leader",
  ]);
  expect(lags).toEqual([]);
});

test("another member at a learner's address is no answer of the learner's", async () => {
  let asked = 0;
  const { membership, told: messages } = playedMembership((command) => {
    if (command.startsWith("member list")) return listed(a, b);
    return told(asked++ === 0 ? "c" : "a");
  });
  await expect(membership.readStatus()).resolves.toMatchObject([
    { answers: false, reason: "at http://a:2379, another member answers" },
    { answers: false },
  ]);
  expect(messages).toEqual([]);
});

test("a promotion is asked for until etcd finds the learner in sync", async () => {
  const answers = ["etcdserver: can only promote a learner member which is in sync with leader", "unhealthy cluster"];
  const { membership, told: messages } = playedMembership((command) => {
    if (command.startsWith("member list")) return listed(a, b);
    if (command.startsWith("endpoint status")) return told("a");
    expect(command).toBe("member promote b");
    const reason = answers.shift();
    return reason === undefined ? {} : refusing(reason);
  });
  await membership.promote("b");
  expect(messages[0]).toBe("member b (http://b:2380) is not in sync with the leader yet");
  expect(messages[1]).toBe("etcd is not ready for it: unhealthy cluster");
});

test("an addition whose answer is lost is found by the next look, and not made twice", async () => {
  let added = 0;
  const { membership } = playedMembership((command) => {
    if (command.startsWith("member list")) return added > 0 ? listed(a, b) : listed(a);
    if (command.startsWith("endpoint status")) return told("a");
    added += 1;
    return refusing("request timed out");
  });
  expect(await membership.addLearner({ name: "b", peerURL: "http://b:2380" })).toMatchObject({ id: "b" });
  expect(added).toBe(1);
});

test("each heir is asked in its turn while a transfer of the leader takes too long", async () => {
  const voters = [a, member({ id: "b" }), member({ id: "c" })];
  const asked: string[] = [];
  const { membership } = playedMembership((command, { endpoints }) => {
    if (command.startsWith("member list")) return listed(...voters);
    if (command === "endpoint status") return told(/\/\/(.):/.exec(endpoints?.[0] ?? "")?.[1] ?? "");
    expect(endpoints).toEqual(["http://a:2379"]); // only the leader can
    asked.push(command);
    return asked.length < 3 ? refusing("etcdserver: request timed out, leader transfer took too long") : {};
  });
  expect(await membership.moveLeaderAway("a")).toBe("b");
  expect(asked).toEqual(["move-leader b", "move-leader c", "move-leader b"]);
});

test("a voter that is far behind does not come to lead", async () => {
  const voters = [a, member({ id: "b" }), member({ id: "c" })];
  const { membership } = playedMembership((command, { endpoints }) => {
    if (command.startsWith("member list")) return listed(...voters);
    if (command === "endpoint status") {
      const id = /\/\/(.):/.exec(endpoints?.[0] ?? "")?.[1] ?? "";
      return told(id, { lag: id === "b" ? 4_000 : 3 });
    }
    expect(command).toBe("move-leader c");
    return {};
  });
  expect(await membership.moveLeaderAway("a")).toBe("c");
});

test("what does not pass by itself ends a call at once, and is not worth a retry", async () => {
  const { membership } = playedMembership((command) =>
    command.startsWith("member list") ? listed(a) : refusing("permission denied"),
  );
  await expect(membership.addLearner({ name: "b", peerURL: "http://b:2380" })).rejects.toMatchObject({
    message: "cannot add member b (http://b:2380): etcdctl says: permission denied",
    retryable: false,
  });
});
