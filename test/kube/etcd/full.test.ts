import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readStatus, type EtcdReading } from "../../../src/activities/etcd/reading.ts";
import { components, defragmentation } from "../../../src/components/index.ts";
import type { CronJob } from "../../../src/kube/index.ts";
import { roomJob, taskOf } from "../../../src/worker/etcd/room.ts";
import { findBinary } from "../../support/binary.ts";
import { exampleContext } from "../../support/control-plane-context.ts";
import { eventually } from "../../support/eventually.ts";
import { freePorts } from "../../support/free-ports.ts";
import { claimDirectory, controlPlanePrefix } from "../../support/leftovers.ts";
import { runPod, type Ended } from "../../support/pod-processes.ts";
import { seconds } from "../../support/patience.ts";

const quota = 16 * 1024 ** 2;
let directory: string;
let url: string;
let etcdctl: string;
let end: () => Promise<unknown>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), controlPlanePrefix));
  await claimDirectory(directory);
  const [client = "", peer = ""] = (await freePorts(2)).map((port) => `http://127.0.0.1:${port}`);
  url = client;
  const etcd = execa(
    await findBinary("etcd"),
    [
      ...["--name=full", `--data-dir=${join(directory, "full")}`, `--quota-backend-bytes=${quota}`],
      ...[`--listen-client-urls=${client}`, `--advertise-client-urls=${client}`, `--listen-peer-urls=${peer}`],
      ...[`--initial-advertise-peer-urls=${peer}`, `--initial-cluster=full=${peer}`, "--unsafe-no-fsync"],
    ],
    { reject: false, cleanup: true },
  );
  end = async () => {
    etcd.kill("SIGTERM");
    await etcd;
  };
  etcdctl = await findBinary("etcdctl");
  await eventually(() => put("small", "a"), 30_000);
}, seconds(60));
afterAll(async () => {
  await end();
  await rm(directory, { recursive: true, force: true });
});

test(
  "an etcd that old revisions have filled takes writes again after one Job, also where that Job is made anew",
  async () => {
    expect(taskOf(await check())).toBe("nothing");
    const value = randomBytes(600_000).toString("base64");
    await expect(
      (async () => {
        for (let index = 0; index < 60; index += 1) await put("large", value);
      })(),
    ).rejects.toThrow("database space exceeded");

    const full = await check();
    expect(full).toMatchObject({ quota, alarms: ["NOSPACE"] });
    expect(taskOf(full)).toBe("relieve");
    // A Job that is killed once it has compacted is followed by one for which there is nothing to compact.
    await execa(etcdctl, [`--endpoints=${url}`, "compact", String(full.revision)]);
    const refused = await run(full, false);
    expect(refused.at(-1)).toMatchObject({ name: "compact", stderr: expect.stringContaining("has been compacted") });

    const relieved = await run(full, true);
    expect(relieved.map(({ name, code }) => [name, code])).toEqual([
      ["defrag", 0],
      ["disarm", 0],
      ["etcd-main", 0],
    ]);
    const after = readStatus(relieved.at(-1)?.stdout);
    expect(after).toMatchObject({ alarms: [] });
    expect(after?.size).toBeLessThan(full.size / 2);
    await put("small", "b");
  },
  seconds(120),
);

test("what is not about room is left to people", () => {
  const reading = { size: 1, inUse: 1, quota: 10, revision: 1, alarms: [] };
  expect(taskOf({ ...reading, alarms: ["CORRUPT"] })).toBe("nothing");
  expect(taskOf({ ...reading, alarms: ["NOSPACE", "CORRUPT"] })).toBe("nothing");
});

test.each([
  [{ size: 200, inUse: 90 }, "defragment"],
  [{ size: 200, inUse: 150 }, "nothing"],
  [{ size: 90, inUse: 1 }, "nothing"],
  [{ size: 7_000, inUse: 6_000 }, "defragment"],
  [{ size: 7_000, inUse: 6_900 }, "nothing"],
])("a database of %o MiB of 8192 asks for this: %s", ({ size, inUse }, task) => {
  const bytes = (mebibytes: number) => mebibytes * 1024 ** 2;
  expect(taskOf({ size: bytes(size), inUse: bytes(inUse), quota: bytes(8192), revision: 1, alarms: [] })).toBe(task);
});

const put = (key: string, input: string) => execa(etcdctl, [`--endpoints=${url}`, "put", key], { input });

/** What the seed's Job prints of etcd-main. */
async function check(): Promise<EtcdReading> {
  const { stdout } = await execa(etcdctl, [`--endpoints=${url}`, "endpoint", "status", "--write-out=json"]);
  return readStatus(stdout) ?? expect.fail(`cannot read ${stdout}`);
}

async function run(reading: EtcdReading, compacted: boolean): Promise<Ended[]> {
  const name = defragmentation("main");
  const schedule = components.etcd.objects(exampleContext()).find(({ metadata }) => metadata.name === name) as CronJob;
  const job = roomJob({ role: "main", schedule, task: "relieve", reading, compacted });
  const local = (text: string) =>
    text.startsWith("--endpoints=")
      ? `--endpoints=${url}`
      : text.replace(/^--(?:cacert|cert|key)=.*$/, "--dial-timeout=2s");
  return await runPod(job, { secrets: {}, local });
}
