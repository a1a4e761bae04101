import { randomBytes } from "node:crypto";
import { cp, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DataPlace } from "../../src/etcd-data/place.ts";
import { restoreData } from "../../src/etcd-data/restore-data.ts";
import { createEtcd } from "../../src/etcd-data/serve.ts";
import { restoreFromMember, type EtcdPrograms } from "../../src/etcd-data/survivor.ts";
import { createEtcdTool } from "../../src/node-agent/commands.ts";
import { findBinary } from "../../test/support/binary.ts";
import { freePorts } from "../../test/support/free-ports.ts";

/** What it takes to have an etcd's data again: the data's size in bytes, and times in ms. */
export interface RestoreCost {
  readonly bytes: number;
  /** Of a snapshot that is on the machine: checked, made data of, on the disk, in the place of the old ones. */
  readonly snapshot: number;
  /** The same of the data of a member whose etcd has lost its quorum. */
  readonly member: number;
}

/** How many values of a megabyte are in the etcd. */
const MEGABYTES = 500;

const MEMBER = { name: "a", peerURL: "https://127.0.0.1:2380", token: "etcd-main" };

/** Fills an etcd on this host, and restores it in both ways, by the code that `restore` and node agents use. */
export async function measureRestore(): Promise<RestoreCost> {
  const folder = await mkdtemp(join(tmpdir(), "bench-restore-"));
  const programs: EtcdPrograms = {
    etcd: createEtcd(await findBinary("etcd")),
    etcdctl: createEtcdTool(await findBinary("etcdctl")),
    etcdutl: createEtcdTool(await findBinary("etcdutl")),
  };
  try {
    const [filled, snapshot] = [join(folder, "filled"), join(folder, "snapshot.db")];
    await fill(programs, filled, snapshot);
    const { size: bytes } = await stat(snapshot);
    const place = async (name: string): Promise<DataPlace> => {
      const own = join(folder, name);
      await mkdir(join(own, "data"), { recursive: true });
      await cp(filled, join(own, "data/new.etcd"), { recursive: true });
      return { dataDir: join(own, "data/new.etcd"), mark: join(own, "has-data") };
    };
    const [ofSnapshot, ofMember] = [await place("of-snapshot"), await place("of-member")];
    return {
      bytes,
      snapshot: await timed(async () => await restoreData(programs, { snapshot, place: ofSnapshot, member: MEMBER })),
      member: await timed(async () => await restoreFromMember(programs, { place: ofMember, member: MEMBER })),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** Leaves the data of an etcd that was stopped, and a snapshot of them. */
async function fill({ etcd, etcdctl }: EtcdPrograms, dataDir: string, snapshot: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const [client, peer] = await freePorts(2);
  const endpoint = `http://127.0.0.1:${client}`;
  const urls = [`--listen-client-urls=${endpoint}`, `--advertise-client-urls=${endpoint}`];
  const served = etcd(
    [
      ...urls,
      `--data-dir=${dataDir}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      "--quota-backend-bytes=2147483648",
    ],
    dataDir,
  );
  try {
    await Promise.race([etcdctl(["get", "nothing", "--command-timeout=30s", `--endpoints=${endpoint}`]), served.ended]);
    for (let at = 0; at < MEGABYTES; at += 1) await put(endpoint, `/registry/configmaps/default/${at}`);
    await etcdctl(["snapshot", "save", snapshot, `--endpoints=${endpoint}`]);
  } finally {
    await served.stop();
  }
}

/** A megabyte that does not compress, by etcd's gateway for JSON. */
async function put(endpoint: string, key: string): Promise<void> {
  const body = JSON.stringify({
    key: Buffer.from(key).toString("base64"),
    value: randomBytes(1_000_000).toString("base64"),
  });
  const { ok, status } = await fetch(`${endpoint}/v3/kv/put`, { method: "POST", body });
  if (!ok) throw new Error(`etcd answers ${status} to a value of a megabyte`);
}
