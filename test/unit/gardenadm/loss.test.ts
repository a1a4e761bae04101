import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dataPlaceOf, markData } from "../../../src/etcd-data/place.ts";
import { replaceData } from "../../../src/etcd-data/replace.ts";
import { keepBackupAccess } from "../../../src/gardenadm/machine/backup-access.ts";
import { forgetLoss, keepLoss, readLoss } from "../../../src/gardenadm/mending/loss.ts";
import { mend } from "../../../src/gardenadm/mending/mend.ts";
import { createLogger } from "../../../src/log.ts";

const log = createLogger({ name: "test", level: "silent" });
const signal = new AbortController().signal;
const SECRET = { accessKeyID: "a", secretAccessKey: "b", bucketName: "c", endpoint: "https://d", region: "e" };
let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "loss-"));
  await keepBackupAccess(root, { provider: "s3", uid: "1", secret: SECRET });
  await write("/opt/bin/rclone", RCLONE, 0o755);
  await write("/opt/bin/etcdutl", ETCDUTL, 0o755);
  for (const role of ["main", "events"] as const) {
    await write(`/var/lib/static-pods/etcd-${role}/etcd-${role}-config/etcd.yaml`, SETTINGS);
    await write(`/etc/kubernetes/manifests/etcd-${role}.yaml`, "kind: Pod\n");
    await markData(dataPlaceOf(role, root));
  }
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const SETTINGS = `name: a
initial-advertise-peer-urls: https://10.0.0.1:2380
initial-cluster: a=https://10.0.0.1:2380
`;

/** A store with one snapshot and its bundle. */
const RCLONE = `#!/bin/sh
case "$1" in
lsf) for suffix in db db.bundle; do printf 'kube-system--1/etcd-backup-29000010-abcde.%s\\t1\\t\\n' $suffix; done ;;
copyto) echo fetched >"$3" ;;
esac
`;

/** Makes what it restores. */
const ETCDUTL = `#!/bin/sh
for word; do case "$word" in --data-dir=*) mkdir -p "\${word#--data-dir=}/member" ;; esac; done
`;

async function write(path: string, text: string, mode = 0o600): Promise<void> {
  const file = join(root, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text, { mode });
}

test.each([
  ["main", "snapshot etcd-backup-29000010-abcde.db of 2025-02-19T21:30:00.000Z"],
  ["events", "nothing"],
] as const)(
  "what etcd-%s has lost is known from the moment on in which its data have been exchanged",
  async (role, from) => {
    const { dataDir } = dataPlaceOf(role, root);
    await write(join(dataDir.slice(root.length), "member/snap/db"), "its log is gone");
    await mend(role, { root, log, signal }); // and killed before anything more
    const loss = (await readLoss(root, role)) ?? expect.fail("nothing is known to be lost");
    expect(loss).toMatchObject({ role, from, why: expect.stringContaining("its write-ahead log is gone") as string });
    expect(await readdir(loss.aside ?? "")).toEqual(["member"]);
    await forgetLoss(root, role);
    expect(await readLoss(root, role)).toBeUndefined();
  },
);

test.each([["old data"], ["no data"]])(
  "nothing is lost where a kill came before the exchange, with %s",
  async (found) => {
    const place = dataPlaceOf("main", root);
    if (found === "old data") await write(join(place.dataDir.slice(root.length), "member/snap/db"), "old");
    const loss = { role: "main", why: "damaged", from: "snapshot one" } as const;
    const build = async (folder: string) => void (await mkdir(folder));
    const killed = replaceData(place, build, {
      foretell: async (exchange) => {
        await keepLoss(root, loss, exchange);
        throw new Error("killed");
      },
    });
    await expect(killed).rejects.toThrow("killed");
    expect(await readLoss(root, "main")).toBeUndefined();
    await replaceData(place, build, { foretell: async (exchange) => await keepLoss(root, loss, exchange) });
    expect(await readLoss(root, "main")).toMatchObject(loss);
  },
);

test("a node that does not know where backups are says what brings the cluster back, and begins its events anew all the same", async () => {
  await rm(join(root, "/var/lib/gardenadm/backup/access.json"));
  await expect(mend("main", { root, log, signal })).rejects.toThrow(
    /there is no data in .*, and this machine does not know where backups are: .* 'gardenadm restore -d config --from latest'/,
  );
  expect(await readdir(join(root, "/etc/kubernetes/manifests"))).toEqual(["etcd-events.yaml", "etcd-main.yaml"]);
  expect(await mend("events", { root, log, signal })).toMatchObject({ role: "events", from: "nothing" });
});
