import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { letStart } from "../../../src/etcd-data/let-start.ts";
import { dataPlaceOf, markData } from "../../../src/etcd-data/place.ts";
import { guardData } from "../../../src/gardenadm/mending/data-guard.ts";
import { createMemberRestoreActions } from "../../../src/gardenadm/restore/member-actions.ts";
import { readLoss } from "../../../src/gardenadm/mending/loss.ts";
import { goOnLearning, mend } from "../../../src/gardenadm/mending/mend.ts";
import { mayStart, readRelearning, type Relearning } from "../../../src/gardenadm/mending/relearn.ts";
import { createLogger } from "../../../src/log.ts";
import { eventually } from "../../support/eventually.ts";

const log = createLogger({ name: "test", level: "silent" });
let root: string;
let dataDir: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "relearn-"));
  ({ dataDir } = dataPlaceOf("main", root));
  await write("/var/lib/static-pods/etcd-main/etcd-main-config/etcd.yaml", SETTINGS);
  await write("/etc/kubernetes/manifests/etcd-main.yaml", "kind: Pod\n");
  await write("/opt/bin/etcdctl", etcdctl(join(root, "members.json")), 0o755);
  await markData(dataPlaceOf("main", root));
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

/** Nothing of it is there: the member has lost its data. */
const SETTINGS = `name: a
initial-advertise-peer-urls: https://10.0.0.1:2380
initial-cluster: a=https://10.0.0.1:2380,b=https://10.0.0.2:2380,c=https://10.0.0.3:2380
initial-cluster-state: existing
`;

/** Knows the members of this file; where there is none, they have no quorum. */
const etcdctl = (members: string) => `#!/bin/sh
case "$*" in *"member list"*) cat ${members} 2>/dev/null && exit 0 ;; esac
case "$*" in *"endpoint status"*) cat ${members}.status 2>/dev/null && exit 0 ;; esac
echo "Error: context deadline exceeded" >&2
exit 1
`;

async function write(path: string, text: string, mode = 0o600): Promise<void> {
  const file = join(root, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text, { mode });
}

const manifests = async () => await readdir(join(root, "/etc/kubernetes/manifests"));

/** Ended as an agent is that is told to stop, once something is so. */
async function stoppedOnce(
  isSo: () => Promise<unknown>,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const stop = new AbortController();
  const ended = expect(work(stop.signal)).rejects.toThrow();
  await eventually(isSo);
  stop.abort();
  await ended;
}

test("a member without its data stays down as long as it has the vote that it had", async () => {
  const said = vi.spyOn(log, "warn");
  const asked = async () =>
    await Promise.resolve(expect(said).toHaveBeenCalledWith(expect.anything(), "etcd stays down"));
  await stoppedOnce(asked, async (signal) => await mend("main", { root, log, signal }));
  expect(await manifests()).toEqual([]);

  // An agent that begins anew gives nothing back either.
  const identity = { root, node: "a", adminKubeconfig: "", places: { lock: join(root, "lock") } } as never;
  await guardData({ identity, log, signal: AbortSignal.abort() });
  expect(await manifests()).toEqual([]);
  expect(await mayStart(root, "main")).toBe(false);

  // The kubelet has had it start in spite of that: what it has begun as the member that it was goes.
  await write(join(dataDir.slice(root.length), "member/snap/db"), "empty");
  const learner = { ID: 4, peerURLs: ["https://10.0.0.1:2380"], isLearner: true };
  await writeFile(join(root, "members.json"), JSON.stringify({ members: [learner] }));
  const learning = (await readRelearning(root, "main")) as Relearning;
  const back = async () => expect(await manifests()).toEqual(["etcd-main.yaml"]);
  const alone = async <T>(work: () => Promise<T>) => await work();
  await stoppedOnce(back, async (signal) => await goOnLearning("main", learning, { root, log, signal }, alone));
  expect(await readdir(join(dataDir, "member"))).toEqual(["etcd.yaml"]); // by which it begins without data
  expect(await mayStart(root, "main")).toBe(true);
});

test("a machine that has been given an empty folder of its etcd is looked at before the etcd has had its minute to start", async () => {
  const said = vi.spyOn(log, "warn");
  const identity = { root, node: "a", adminKubeconfig: "", places: { lock: join(root, "lock") } } as never;
  const stop = new AbortController();
  const guarding = guardData({ identity, log, signal: stop.signal });
  await eventually(async () => expect(await manifests()).toEqual([]));
  stop.abort();
  await guarding;
  expect(said).toHaveBeenCalledWith(expect.objectContaining({ etcd: "main" }), "etcd data lost");
});

test("that a member has learnt anew is said, also where its agent is killed before it has noted that", async () => {
  const learning: Relearning = { why: "damaged", hasLeft: true };
  await write("/var/lib/gardenadm/backup/learns-main.json", JSON.stringify(learning));
  const voter = { ID: 4, name: "a", peerURLs: ["https://10.0.0.1:2380"], clientURLs: ["https://10.0.0.1:2379"] };
  await writeFile(join(root, "members.json"), JSON.stringify({ members: [voter] }));
  const status = { header: { member_id: 4 }, version: "3.6.10", leader: 4, raftTerm: 2 };
  await writeFile(join(root, "members.json.status"), JSON.stringify([{ Status: status }]));
  await letStart(dataDir);
  const goOn = async () =>
    await goOnLearning(
      "main",
      learning,
      { root, log, signal: new AbortController().signal },
      async (work) => await work(),
    );

  const inTheWay = join(root, "/var/lib/gardenadm/backup/loss-main.json");
  await mkdir(inTheWay); // as good as a kill: it is not noted
  await expect(goOn()).rejects.toThrow();
  expect(await readRelearning(root, "main")).toEqual(learning);
  await rm(inTheWay, { recursive: true });
  await goOn();
  expect(await readLoss(root, "main")).toEqual({
    ...{ role: "main", why: "damaged", from: "the other members", learnt: true },
  });
  expect(await readRelearning(root, "main")).toBeUndefined();
});

test("a member that has lost its data once more while it learnt leaves once more", async () => {
  const learning: Relearning = { why: "damaged", hasLeft: true };
  await write("/var/lib/gardenadm/backup/learns-main.json", JSON.stringify(learning));
  const goOn = async (signal: AbortSignal) =>
    await goOnLearning("main", learning, { root, log, signal }, async (work) => await work());
  const isStopped = async () => expect(await manifests()).toEqual([]);
  await stoppedOnce(isStopped, goOn); // the others have no quorum, and are waited for
  expect(await readRelearning(root, "main")).toEqual(learning);
});

test("what the agent has put aside to mend it comes back with data that were restored from this member", async () => {
  await write("/var/lib/gardenadm/backup/learns-main.json", JSON.stringify({ why: "damaged" }));
  const aside = join(root, "/var/lib/gardenadm/backup/manifests-main");
  await mkdir(aside, { recursive: true });
  await rename(join(root, "/etc/kubernetes/manifests/etcd-main.yaml"), join(aside, "etcd-main.yaml"));
  const systemctl = async () => await Promise.resolve("");
  const machine = { root, hostName: "a", addresses: ["10.0.0.1"], systemctl };
  const deps = { machine, configuration: {}, quorumIsLost: true, server: () => expect.fail("not asked") };
  const { etcd } = createMemberRestoreActions(deps as never);
  const back = async () => expect(await manifests()).toEqual(["etcd-main.yaml"]);
  await stoppedOnce(back, async (signal) => await etcd({ signal, tell: () => {} }));
  expect(await mayStart(root, "main")).toBe(true);
});
