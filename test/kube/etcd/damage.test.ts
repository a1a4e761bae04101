import { randomBytes } from "node:crypto";
import { cp, mkdtemp, open, readdir, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isOfFailedStart, judgeLog } from "../../../src/activities/etcd/log-verdict.ts";
import { findBinary } from "../../support/binary.ts";
import { freePorts } from "../../support/free-ports.ts";
import { claimDirectory, controlPlanePrefix } from "../../support/leftovers.ts";
import { eventually } from "../../support/eventually.ts";
import { seconds } from "../../support/patience.ts";

let directory: string;
let urls: readonly string[];

/** Data of an etcd that has ended well. */
let whole: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), controlPlanePrefix));
  await claimDirectory(directory);
  urls = (await freePorts(2)).map((port) => `http://127.0.0.1:${port}`);
  whole = join(directory, "whole");
  const etcd = execa(await findBinary("etcd"), flags(whole), { reject: false, cleanup: true });
  const etcdctl = await findBinary("etcdctl");
  await eventually(() => execa(etcdctl, [`--endpoints=${urls[0]}`, "put", "a", "b"]), 30_000);
  const value = randomBytes(20_000).toString("base64");
  for (let index = 0; index < 30; index += 1)
    await execa(etcdctl, [`--endpoints=${urls[0]}`, "put", `/registry/${index}`], { input: value });
  etcd.kill("SIGTERM");
  await etcd;
}, seconds(120));
afterAll(() => rm(directory, { recursive: true, force: true }));

const database = (data: string) => join(data, "member/snap/db");
const log = async (data: string) => {
  const [name = ""] = (await readdir(join(data, "member/wal"))).filter((one) => one.endsWith(".wal"));
  return join(data, "member/wal", name);
};

test.each<[what: string, state: string | undefined, why: RegExp, harm: (data: string) => Promise<unknown>]>([
  ["pages of the database", "damaged", /Page expected to be/, (data) => noise(database(data), 2 * 4096, 100 * 4096)],
  [
    "both meta pages",
    "damaged",
    /both meta pages are invalid|invalid database/,
    (data) => noise(database(data), 0, 2 * 4096),
  ],
  ["entries of the log", "damaged", /crc mismatch/, async (data) => noise(await log(data), 5_000, 3_000)],
  ["the beginning of the log", "damaged", /none as id/, async (data) => zero(await log(data), 500)],
  [
    "the log, which is gone",
    "gone",
    /cannot fetch cluster info/,
    (data) => rm(join(data, "member/wal"), { recursive: true }),
  ],
  ["everything, which is gone", "gone", /cannot fetch cluster info/, (data) => rm(data, { recursive: true })],
  // A disk that fails to read a page looks the same: people decide.
  [
    "the database, which is cut short",
    "unreadable",
    /unexpected fault address/,
    (data) => truncate(database(data), 60_000),
  ],
])(
  "an etcd ends without %s, and its log tells: %s",
  async (what, state, why, harm) => {
    const data = join(directory, what.replaceAll(/\W+/g, "-"));
    await cp(whole, data, { recursive: true });
    await harm(data);
    // As a kubelet starts one that has had an API server, and keeps the end of its log.
    const env = { ETCD_INITIAL_CLUSTER_STATE: "existing" };
    const { all, exitCode } = await execa(await findBinary("etcd"), flags(data), {
      all: true,
      reject: false,
      timeout: 30_000,
      env,
    });
    expect(exitCode).toBeGreaterThan(0);
    const log = all.split("\n").slice(-400).join("\n");
    expect(isOfFailedStart(log)).toBe(true);
    const verdict = judgeLog(log);
    expect(verdict).toEqual({ state, why: expect.stringMatching(why) });
    expect(verdict?.why.length).toBeLessThanOrEqual(200);
  },
  seconds(60),
);

/** What etcd has under a key, once it answers. */
async function answered(key: string, ...flags: readonly string[]): Promise<string> {
  const etcdctl = await findBinary("etcdctl");
  const ask = () => execa(etcdctl, [`--endpoints=${urls[0]}`, "get", key, ...flags]);
  return (await eventually(ask, 30_000)).stdout;
}

test(
  "whole data start, also where an etcd must not begin anew",
  async () => {
    const data = join(directory, "unharmed");
    await cp(whole, data, { recursive: true });
    const env = { ETCD_INITIAL_CLUSTER_STATE: "existing" };
    const etcd = execa(await findBinary("etcd"), flags(data), { reject: false, cleanup: true, env });
    expect(await answered("a", "--print-value-only")).toBe("b");
    etcd.kill("SIGTERM");
    await etcd;
  },
  seconds(60),
);

test(
  "what users call their objects is no damage, in the log of an etcd that was killed while it was slow",
  async () => {
    const data = join(directory, "slow");
    await cp(whole, data, { recursive: true });
    const program = await findBinary("etcd");
    const etcd = execa(program, [...flags(data), "--warning-apply-duration=1ns"], {
      ...{ all: true, reject: false, cleanup: true },
    });
    for (const name of ["wal: crc mismatch", "cannot fetch cluster info from peer urls", "no space left on device"])
      await answered(`/registry/roles/default/${name}`);
    etcd.kill("SIGKILL");
    const { all = "" } = await etcd;
    expect(all).toMatch(/took too long.*wal: crc mismatch/);
    expect(isOfFailedStart(all)).toBe(false);
    expect(judgeLog(all)).toBeUndefined();
  },
  seconds(60),
);

test(
  "what users call their objects is no damage, where a kubelet returns the end of a long line as if it were a line of its own",
  async () => {
    const data = join(directory, "long");
    await cp(whole, data, { recursive: true });
    const etcd = execa(await findBinary("etcd"), [...flags(data), "--warning-apply-duration=1ns"], {
      ...{ all: true, reject: false, cleanup: true },
    });
    await answered(`/registry/roles/default/${"cannot fetch cluster info from peer urls ".repeat(2_500)}`);
    etcd.kill("SIGKILL");
    const { all = "" } = await etcd;
    expect(all).toMatch(/took too long.*cannot fetch cluster info/);
    const chunks = runtimeChunks(all);
    const last = chunks.findLastIndex((chunk) => chunk.includes("cannot fetch cluster info"));
    const returned = chunks.slice(last).join("");
    expect(returned).toMatch(/^[^{]*cannot fetch cluster info/);
    expect(judgeLog(returned)).toBeUndefined();
  },
  seconds(60),
);

/** A container's log as its runtime keeps it: long lines in pieces of 16 KiB, each of which counts as a line for `tailLines`. */
const runtimeChunks = (log: string): string[] =>
  log.split(/(?<=\n)/).flatMap((line) => line.match(/[^]{1,16384}/g) ?? []);

test.each([
  [
    "a full disk",
    "full",
    `{"level":"panic","msg":"failed to commit tx","error":"write db: no space left on device"}\ngo.etcd.io/bbolt.(*DB).grow`,
  ],
  [
    "a disk that fails",
    "unreadable",
    `{"level":"fatal","msg":"discovery failed","error":"read db: input/output error"}`,
  ],
  [
    "a port that is taken",
    undefined,
    `{"level":"fatal","msg":"discovery failed","error":"listen tcp 127.0.0.1:2380: bind: address already in use"}`,
  ],
  ["an entry that was cut short", undefined, `{"level":"fatal","msg":"failed","error":"wal: crc mismatch`],
  [
    "a panic of another part",
    undefined,
    "panic: runtime error: invalid memory address\ngo.etcd.io/etcd/server/v3/embed.StartEtcd",
  ],
])("%s is no damage", (_, state, text) => {
  expect(judgeLog(text)?.state).toBe(state);
});

function flags(data: string): string[] {
  const [client = "", peer = ""] = urls;
  return [
    ...["--name=etcd-main-0", `--data-dir=${data}`, "--initial-cluster-token=etcd-main", "--unsafe-no-fsync"],
    ...[`--listen-client-urls=${client}`, `--advertise-client-urls=${client}`],
    ...[`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`, `--initial-cluster=etcd-main-0=${peer}`],
  ];
}

const noise = (path: string, offset: number, length: number) => overwrite(path, offset, randomBytes(length));
const zero = (path: string, length: number) => overwrite(path, 0, Buffer.alloc(length));

async function overwrite(path: string, offset: number, bytes: Buffer): Promise<void> {
  const file = await open(path, "r+");
  await file.write(bytes, 0, bytes.length, offset);
  await file.close();
}
