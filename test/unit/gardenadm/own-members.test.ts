import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createOwnMembers } from "../../../src/gardenadm/join/own-members.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "own-members-"));
  for (const role of ["main", "events"]) await mkdir(join(dataOf(role), "new.etcd/member"), { recursive: true });
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const dataOf = (role: string) => join(root, `/var/lib/etcd-${role}/data`);

test("data of a member that has begun, and has not told its name yet, stay where they are", async () => {
  await sayMembers([member(1, "b"), member(2, "")]);
  await members().removeStale(scope);
  for (const role of ["main", "events"]) expect(await readdir(dataOf(role))).toEqual(["new.etcd"]);
});

test("a member that has never begun, and has no data, is left for the etcd that is to begin", async () => {
  for (const role of ["main", "events"]) await rm(join(dataOf(role), "new.etcd"), { recursive: true });
  await sayMembers([member(1, "b"), member(2, "")]);
  await members().removeStale(scope);
});

test("data of a member that is out, or was never in, are kept aside, also beside a learner of another node", async () => {
  await sayMembers([member(1, "b"), member(3, "")]);
  await members().removeStale(scope);
  for (const role of ["main", "events"])
    expect(await readdir(dataOf(role))).toEqual([expect.stringMatching(/^new\.etcd\.of-former-member-\d+$/)]);
});

const scope = { signal: new AbortController().signal, tell: () => {} };

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

/** An etcdctl that answers to everything with these members. */
async function sayMembers(said: readonly object[]): Promise<void> {
  const program = join(root, "/opt/bin/etcdctl");
  await mkdir(join(root, "/opt/bin"), { recursive: true });
  await writeFile(program, `#!/bin/sh\necho '${JSON.stringify({ members: said })}'\n`, { mode: 0o755 });
}
