import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createEtcdctl } from "../../../src/etcd/etcdctl.ts";
import type { Membership } from "../../../src/etcd/members.ts";
import { createEtcdMembers, type EtcdMembers } from "../../support/etcd-members.ts";
import { seconds } from "../../support/patience.ts";

let etcd: EtcdMembers;
let membership: Membership;

beforeAll(async () => {
  etcd = await createEtcdMembers();
  await etcd.begin("a");
  membership = await etcd.membership();
  await etcd.put("a", "written", "before b and c came");
});
afterAll(() => etcd.stop());

test("a newcomer is a learner that has not started, and is found again by a second call", async () => {
  const added = await membership.addLearner(etcd.at("b"));
  expect(added).toMatchObject({ name: "", peerURLs: [etcd.at("b").peerURL], isLearner: true, started: false });
  expect(await membership.addLearner(etcd.at("b"))).toEqual(added);
  expect(await membership.readMembers()).toHaveLength(2);
});

test("a second learner is refused for now, by the name of the first", async () => {
  const refused = membership.addLearner(etcd.at("c"));
  await expect(refused).rejects.toMatchObject({ name: "MembershipError", retryable: true });
  await expect(refused).rejects.toThrow(`(${etcd.at("b").peerURL}) has no vote yet`);
});

test("a wait for a learner that never starts ends when the caller gives up", async () => {
  const giveUp = new AbortController();
  const tell = () => giveUp.abort(new Error("given up"));
  const impatient = await etcd.membership({ signal: giveUp.signal, tell });
  const { id } = await membership.addLearner(etcd.at("b"));
  await expect(impatient.untilSynced(id)).rejects.toThrow("given up");
});

test(
  "a learner that is killed while it learns goes on with its data, and gets its vote once",
  { timeout: seconds(120) },
  async () => {
    const { id } = await membership.addLearner(etcd.at("b"));
    await etcd.start("b");
    await membership.untilSynced(id);
    await etcd.kill("b");
    const synced = membership.untilSynced(id);
    await expect.poll(() => etcd.told, { timeout: 60_000 }).toContainEqual(expect.stringContaining("does not answer"));
    await etcd.start("b");
    await synced;
    expect(await etcd.get("b", "written")).toBe("before b and c came");
    await membership.promote(id);
    await membership.promote(id);
    expect(await membership.readMembers()).toContainEqual(expect.objectContaining({ id, name: "b", isLearner: false }));
  },
);

test("a member that has just got its vote leads as soon as etcd lets it", { timeout: seconds(120) }, async () => {
  const { id: a } = await etcd.leader();
  const next = await membership.moveLeaderAway(a);
  expect(await etcd.leader()).toMatchObject({ id: next, name: "b" });
});

test("a member that has a vote is given as it is to who adds it again", async () => {
  expect(await membership.addLearner(etcd.at("b"))).toMatchObject({ name: "b", isLearner: false, started: true });
});

test("the next newcomer waits until etcd takes another change, and says so", { timeout: seconds(120) }, async () => {
  const { id } = await membership.addLearner(etcd.at("c"));
  expect(etcd.told).toContainEqual(expect.stringContaining("etcd is not ready for it: unhealthy cluster"));
  await etcd.start("c");
  const promoted = membership.promote(id);
  await membership.untilSynced(id);
  await promoted;
  const members = await membership.readMembers();
  expect(members.filter(({ isLearner }) => !isLearner)).toHaveLength(3);
  expect(await etcd.get("c", "written")).toBe("before b and c came");
});

test("what an operator has set for etcdctl does not stand in its way", async () => {
  vi.stubEnv("ETCDCTL_ENDPOINTS", "http://127.0.0.1:1");
  try {
    expect(await membership.readMembers()).toHaveLength(3);
  } finally {
    vi.unstubAllEnvs();
  }
});

test("a program that is not there is named, and no call waits for it", async () => {
  const etcdctl = createEtcdctl({ program: "/nowhere/etcdctl", endpoints: [etcd.at("a").clientURL] });
  const without = await etcd.membership({ etcdctl });
  await expect(without.addLearner(etcd.at("d"))).rejects.toMatchObject({
    retryable: false,
    message: expect.stringContaining("/nowhere/etcdctl is not installed"),
  });
});

test("a wait for a member that the cluster does not have fails for good", async () => {
  await expect(membership.untilSynced("abc")).rejects.toMatchObject({ retryable: false });
  await expect(membership.promote("abc")).rejects.toThrow("cannot promote member abc: the cluster has no such member");
});
