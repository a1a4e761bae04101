import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createServer } from "node:tls";
import { afterEach, beforeEach, expect, test } from "vitest";
import { issueAuthority } from "../../../src/activities/secrets/pki.ts";
import { makeCertificates } from "../../support/certificates.ts";
import { dataPlaceOf, markData } from "../../../src/etcd-data/place.ts";
import { createMemberRestoreActions } from "../../../src/gardenadm/restore/member-actions.ts";
import { noteBegun, readBegun } from "../../../src/gardenadm/machine/begun-restore.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "survivor-"));
  for (const role of ["main", "events"])
    await write(`/var/lib/static-pods/etcd-${role}/etcd-${role}-config/etcd.yaml`, SETTINGS);
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const SETTINGS = `name: c
initial-advertise-peer-urls: https://10.0.0.3:2380
initial-cluster: a=https://10.0.0.1:2380,b=https://10.0.0.2:2380,c=https://10.0.0.3:2380
`;

async function write(path: string, text: string, mode = 0o600): Promise<void> {
  const file = join(root, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text, { mode });
}

const member = (id: number, name: string) => ({
  ...{ ID: id, name, peerURLs: [`https://10.0.0.${id}:2380`], clientURLs: [`https://10.0.0.${id}:2379`] },
});
const [a, b, c] = [member(1, "a"), member(2, "b"), member(3, "c")];

interface Answers {
  /** By the last number of an address, the members that are known there. */
  readonly lists: Readonly<Record<number, readonly object[]>>;
  /** The number of the leader that those know who answer; 0 while there is none. */
  readonly leader: number;
}

/** What etcdctl is asked of is noted; whoever does not answer is waited for until all that are asked at first have been. */
async function answer({ lists, leader }: Answers): Promise<void> {
  const cases = Object.entries(lists).map(([id, members]) => {
    const header = { member_id: Number(id) };
    const status = [{ Status: { header, version: "3.6.10", ...(leader !== 0 && { leader }), raftTerm: 2 } }];
    const place = `*endpoints=https://10.0.0.${id}:*`;
    return `${place}"member list"*) echo '${JSON.stringify({ members })}'; exit 0 ;;
${place}"endpoint status"*) echo '${JSON.stringify(status)}'; exit 0 ;;`;
  });
  await write(
    "/opt/bin/etcdctl",
    `#!/bin/sh
cd ${root}; echo "$*" >"asked-$$"
case "$*" in
${cases.join("\n")}
esac
for _ in $(seq 100); do [ "$(ls asked-* | wc -l)" -lt 6 ] || break; sleep 0.1; done
echo "Error: context deadline exceeded" >&2
exit 1
`,
    0o755,
  );
}

function actions(quorumIsLost: boolean) {
  const machine = { root, hostName: "c", addresses: ["10.0.0.3"] };
  const configuration = { shoot: { spec: { kubernetes: { version: "1.34.1" } } } };
  return createMemberRestoreActions({
    machine,
    configuration,
    quorumIsLost,
    server: () => expect.fail("not asked"),
  } as never);
}

const scope = { signal: new AbortController().signal, tell: () => {} };

const quorum = async (quorumIsLost: boolean) => await actions(quorumIsLost).quorum(scope);

test.each([
  ["does not run", [a, b, c], "2 of 3"],
  ["was taken out", [a, b], "2 of 2"],
])(
  "a survivor whose etcd %s is no cluster of its own while the others are at work, whatever people say",
  async (_, members, working) => {
    await answer({ lists: { 1: members, 2: members }, leader: 1 });
    for (const isLost of [true, false])
      await expect(quorum(isLost)).rejects.toThrow(`etcd-main: quorum is not lost: ${working} members are at work`);
    expect(await readBegun(root)).toBeUndefined();
  },
);

test("another node's member without a quorum may have one again, unless people say that it is lost", async () => {
  await answer({ lists: { 2: [a, b, c] }, leader: 0 });
  await expect(quorum(false)).rejects.toThrow("etcd-main: quorum may come back");
  await quorum(true);
  expect(await readBegun(root)).toEqual({ from: "member", restored: [] });
});

test("where no member answers, all of which are asked at once, people have to say that the others are lost", async () => {
  await answer({ lists: {}, leader: 0 });
  await expect(quorum(false)).rejects.toThrow("etcd-main of this machine does not answer");
  await quorum(true);
});

test("members that are there and cannot be asked are not taken for dead, whatever people say", async () => {
  await answer({ lists: {}, leader: 0 });
  for (const role of ["main", "events"])
    await write(
      `/var/lib/static-pods/etcd-${role}/etcd-${role}-config/etcd.yaml`,
      SETTINGS.replaceAll("10.0.0.", "127.77.0."),
    );
  const { certificate } = await issueAuthority("etcd", new Date("2010-01-01"));
  await write("/var/lib/static-pods/kube-apiserver/kube-apiserver-etcd-client/tls.crt", certificate);
  const files = await makeCertificates();
  await write("/var/lib/static-pods/kube-apiserver/ca-etcd/ca.crt", files.ca);
  const listen = async (address: string) => {
    const tls = { ca: files.ca, cert: files.serverCert, key: files.serverKey };
    const server = createServer({ ...tls, requestCert: true, rejectUnauthorized: true });
    await new Promise<void>((resolve) => server.listen(2379, address, resolve));
    return server;
  };
  const [a, b] = [await listen("127.77.0.1"), await listen("127.77.0.2")];
  await expect(quorum(true)).rejects.toThrow(
    /^etcd-main: quorum may not be lost: 2 of 3 members are there, of which a and b could not be asked: the certificate by which this machine asks, \S+tls\.crt, has expired at 20/,
  );
  b.close();
  await expect(quorum(false)).rejects.toThrow("etcd-main of this machine does not answer");
  await quorum(true);
  a.close();
});

test("events that were whole when a kill had their old data gone come back, and do not begin empty", async () => {
  for (const name of ["etcd", "etcdctl", "etcdutl"])
    await write(`/var/lib/gardenadm/restore/bin/${name}`, "#!/bin/sh\nexit 1\n", 0o755);
  const place = dataPlaceOf("events", root);
  await markData(place);
  await write(`${place.dataDir.slice(root.length)}.of-survivor/member/snap/db`, "whole");
  await noteBegun(root, { from: "member", restored: ["main"] });
  await actions(true).etcdData(scope);
  expect(await readFile(join(place.dataDir, "member/snap/db"), "utf8")).toBe("whole");
  expect((await readBegun(root))?.restored).toEqual(["main", "events"]);
});
