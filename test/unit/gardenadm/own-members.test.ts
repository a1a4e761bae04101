import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mayStartWith } from "../../../src/etcd-data/let-start.ts";
import { createOwnMembers } from "../../../src/gardenadm/join/own-members.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "own-members-"));
  for (const role of ["main", "events"]) await mkdir(join(dataOf(role), "new.etcd/member/snap"), { recursive: true });
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const dataOf = (role: string) => join(root, `/var/lib/etcd-${role}/data`);

test("data of a member that has begun, and has not told its name yet, stay where they are", async () => {
  await sayMembers([member(1, "b"), member(2, "")]);
  await members().removeStale(scope, ["10.0.0.1", "10.0.0.3"]);
  for (const role of ["main", "events"]) expect(await readdir(dataOf(role))).toEqual(["new.etcd"]);
});

test("a member that has never begun, and has no data, is left for the etcd that is to begin", async () => {
  for (const role of ["main", "events"]) await rm(join(dataOf(role), "new.etcd"), { recursive: true });
  await sayMembers([member(1, "b"), member(2, "")]);
  await members().removeStale(scope, ["10.0.0.1", "10.0.0.3"]);
});

test("data of a member that is out, or was never in, are kept aside, also beside a learner of another node", async () => {
  await sayMembers([member(1, "b"), member(3, "")]);
  await members().removeStale(scope, ["10.0.0.1", "10.0.0.3"]);
  for (const role of ["main", "events"])
    expect(await readdir(dataOf(role))).toEqual([expect.stringMatching(/^new\.etcd\.of-former-member-\d+$/)]);
});

test("a learner that has never begun, at the address of no node, gives its place to the one that joins", async () => {
  await sayMembers([member(1, "b"), member(2, ""), member(3, ""), member(4, "")]);
  await members().removeStale(scope, ["10.0.0.1", "10.0.0.4"]);
  expect(await removed()).toEqual(["3"]);
});

test("an etcd that was let in starts without data when its member has never begun, and only with them when it has", async () => {
  for (const role of ["main", "events"]) await rm(join(dataOf(role), "new.etcd"), { recursive: true });
  await sayMembers([member(1, "b"), member(2, "a")]);
  await members().addLearners(scope);
  expect(await mayStartWith(join(dataOf("main"), "new.etcd"))).toBe(false);
  await sayMembers([member(1, "b"), member(2, "")]);
  await members().addLearners(scope);
  expect(await mayStartWith(join(dataOf("main"), "new.etcd"))).toBe(true);
});

test("a member that has begun before does not start without its log", async () => {
  await sayMembers([member(1, "b"), member(2, "a")]);
  await members().addLearners(scope);
  expect(await mayStartWith(join(dataOf("main"), "new.etcd"))).toBe(false);
  for (const role of ["main", "events"]) {
    await mkdir(join(dataOf(role), "new.etcd/member/wal"));
    await writeFile(join(dataOf(role), "new.etcd/member/wal/0000000000000000-0000000000000000.wal"), "");
  }
  await members().addLearners(scope);
  expect(await mayStartWith(join(dataOf("main"), "new.etcd"))).toBe(true);
});

const scope = { signal: new AbortController().signal, tell: () => {} };

/** The members that were taken out, by their numbers. */
const removed = async () =>
  [...(await readFile(join(root, "asked"), "utf8")).matchAll(/member remove (\w+)/g)].map(([, id]) => id);

const members = () =>
  createOwnMembers({
    root,
    own: { name: "a", addresses: ["10.0.0.2"] },
    others: [{ name: "b", addresses: ["10.0.0.1"] }],
  });

/** As etcdctl writes it; an empty name is left out. The ports are those of both etcds. */
const member = (id: number, name: string) => ({
  ID: id,
  ...(name !== "" && { name }),
  peerURLs: [2380, 2383].map((port) => `https://10.0.0.${id}:${port}`),
  ...(name === "" && { isLearner: true }),
});

/** An etcdctl that answers to everything with these members, of which the third can be taken out. */
async function sayMembers(said: readonly object[]): Promise<void> {
  const program = join(root, "/opt/bin/etcdctl");
  await mkdir(join(root, "/opt/bin"), { recursive: true });
  const answer = `echo "$*" >>${join(root, "asked")}
case "$*" in *"member remove 3"*) sed 's/{"ID":3[^}]*},*//' -i ${join(root, "members")} ;; esac
cat ${join(root, "members")}`;
  await writeFile(join(root, "members"), JSON.stringify({ members: said }));
  await writeFile(program, `#!/bin/sh\n${answer}\n`, { mode: 0o755 });
}
