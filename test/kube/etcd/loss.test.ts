import { afterEach, beforeEach, expect, test } from "vitest";
import type { Membership } from "../../../src/etcd/members.ts";
import { createEtcdMembers, type EtcdMembers } from "../../support/etcd-members.ts";
import { eventually } from "../../support/eventually.ts";
import { seconds } from "../../support/patience.ts";

const timeout = 180_000;

let etcd: EtcdMembers;
let membership: Membership;

beforeEach(async () => {
  etcd = await createEtcdMembers();
  await etcd.begin("a", "b", "c");
  membership = await etcd.membership({ timeouts: { silence: 1_000 } });
}, seconds(120));
afterEach(() => etcd.stop());

test("a member whose disk is lost is found, goes, and comes back with a new id and all data", { timeout }, async () => {
  await etcd.put("a", "written", "before the disk was lost");
  expect(await membership.findStale({ name: "c" })).toBeUndefined();
  const lost = await idOf("c");
  await etcd.kill("c");
  await etcd.wipe("c");
  const stale = await membership.findStale({ name: "c" });
  expect(stale).toMatchObject({ id: lost, name: "c" });
  expect(await membership.findStale({ name: "nobody" })).toBeUndefined();

  await membership.removeMember(lost);
  await membership.removeMember(lost);
  const { id } = await membership.addLearner(etcd.at("c"));
  expect(id).not.toBe(lost);
  await etcd.start("c");
  await membership.untilSynced(id);
  await membership.promote(id);
  expect((await membership.readMembers()).map(({ name, isLearner }) => [name, isLearner]).toSorted()).toEqual([
    ["a", false],
    ["b", false],
    ["c", false],
  ]);
  expect(await etcd.get("c", "written")).toBe("before the disk was lost");
});

test("a member that only restarts is not stale", { timeout }, async () => {
  await etcd.kill("c");
  const patient = await etcd.membership({ timeouts: { silence: 60_000 } });
  const stale = patient.findStale({ name: "c" });
  await expect.poll(() => etcd.told, { timeout: 60_000 }).toContainEqual(expect.stringContaining("does not answer"));
  await etcd.start("c");
  expect(await stale).toBeUndefined();
});

test("no member goes whom the quorum needs, and the dead one goes first", { timeout }, async () => {
  const [b, c] = [await idOf("b"), await idOf("c")];
  await etcd.kill("c");
  const refused = membership.removeMember(b);
  await expect(refused).rejects.toMatchObject({ retryable: true });
  await expect(refused).rejects.toThrow(/cannot remove member b .* 2 have to; start .*member c/);
  expect(await membership.readMembers()).toHaveLength(3);

  await membership.removeMember(c);
  await membership.removeMember(b);
  await etcd.ended("b");
  const last = membership.removeMember(await idOf("a"));
  await expect(last).rejects.toMatchObject({ retryable: false });
  await expect(last).rejects.toThrow("it is the only one with a vote");
  await expect(membership.moveLeaderAway(await idOf("a"))).rejects.toThrow("no other member has a vote");
  expect(await membership.readMembers()).toMatchObject([{ name: "a" }]);
});

test("a newcomer is told which dead member keeps etcd from taking it", { timeout }, async () => {
  await etcd.kill("c");
  const impatient = await etcd.membership({ timeouts: { change: 1_000 } });
  const refused = impatient.addLearner(etcd.at("d"));
  await expect(refused).rejects.toMatchObject({ retryable: true });
  await expect(refused).rejects.toThrow(`no answer from member c (${etcd.at("c").peerURL}): start or remove`);
});

test("a name and an address belong to one member each", async () => {
  const elsewhere = { name: "c", peerURL: etcd.at("d").peerURL };
  await expect(membership.addLearner(elsewhere)).rejects.toThrow("has its name");
  const other = { name: "d", peerURL: etcd.at("c").peerURL };
  await expect(membership.addLearner(other)).rejects.toThrow("is at this address");
});

test("without a quorum nothing changes, the survivor is shown, and who has to run is said", { timeout }, async () => {
  const c = await idOf("c");
  await etcd.kill("b");
  await etcd.kill("c");
  await expect(membership.readMembers()).rejects.toMatchObject({ name: "MembershipError", retryable: true });
  const statuses = await eventually(async () => {
    const seen = await membership.readStatus();
    return seen.every((status) => !status.answers || status.leader === undefined) && seen;
  }, 60_000);
  expect(statuses.filter(({ answers }) => answers)).toMatchObject([
    { member: { name: "a" }, version: expect.stringMatching(/^3\./), errors: [expect.stringContaining("no leader")] },
  ]);
  expect(statuses.filter(({ answers }) => !answers)).toMatchObject([
    { reason: expect.stringContaining("connection refused") },
    { reason: expect.stringContaining("connection refused") },
  ]);
  const impatient = await etcd.membership({ timeouts: { change: 1_000 } });
  await expect(impatient.removeMember(c, { quorumIsLost: true })).rejects.toThrow("2 of 3 have to run");
});

test(
  "a member that cannot be seen from here goes only when the caller answers for the quorum",
  { timeout },
  async () => {
    const [b, c] = [await idOf("b"), await idOf("c")];
    await etcd.kill("c");
    await etcd.start("c", "http://127.0.0.1:1");
    await eventually(
      async () => (await membership.readMembers()).some(({ clientURLs }) => clientURLs.includes("http://127.0.0.1:1")),
      60_000,
    );
    await expect(membership.removeMember(b)).rejects.toThrow("start member c");
    await membership.removeMember(b, { quorumIsLost: true });
    expect((await membership.readMembers()).map(({ id }) => id).toSorted()).toEqual([await idOf("a"), c].toSorted());
  },
);

test(
  "another member leads once the leader is asked to let go, and a second call asks for no other",
  { timeout },
  async () => {
    const { id } = await etcd.leader();
    const next = await membership.moveLeaderAway(id);
    expect(next).not.toBe(id);
    expect((await etcd.leader()).id).toBe(next);
    expect(await membership.moveLeaderAway(id)).toBe(next);
  },
);

test("a leader that is killed leads no more", { timeout }, async () => {
  const { id, name } = await etcd.leader();
  await etcd.kill(name);
  const next = await membership.moveLeaderAway(id);
  expect(next).not.toBe(id);
  await membership.removeMember(id);
  expect(await membership.readMembers()).toHaveLength(2);
});

async function idOf(name: string): Promise<string> {
  return (await membership.readMembers()).find((member) => member.name === name)?.id ?? "";
}
