import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEtcdctl, type Etcdctl } from "../../src/etcd/etcdctl.ts";
import { initialCluster } from "../../src/etcd/initial-cluster.ts";
import { createMembership, type Membership, type MembershipOptions } from "../../src/etcd/members.ts";
import type { MemberStatus } from "../../src/etcd/status.ts";
import { findBinary } from "./binary.ts";
import { spawnChild, type Child } from "./child.ts";
import { eventually } from "./eventually.ts";
import { freePorts } from "./free-ports.ts";
import { claimDirectory, controlPlanePrefix, sweepLeftovers } from "./leftovers.ts";

/** A cluster of real etcd members on loopback, of which each can be killed and started, with its data or without. */
export interface EtcdMembers {
  /** A member's URLs; made when they are first asked for. */
  at(name: string): Place;
  /** Starts these as a cluster of their own, and waits until each follows the same leader. */
  begin(...names: string[]): Promise<void>;
  /** Starts one that was added, or that ran before. `advertise`: where it says that clients reach it. */
  start(name: string, advertise?: string): Promise<void>;
  /** SIGKILL, and waits for the end. */
  kill(name: string): Promise<void>;
  /** Deletes the data of one that was killed. */
  wipe(name: string): Promise<void>;
  /** Resolves when the process has ended by itself. */
  ended(name: string): Promise<void>;
  /** Whom these have to be asked about, in the order of their names; all that are known unless told otherwise. */
  etcdctl(...names: string[]): Promise<Etcdctl>;
  membership(options?: Partial<MembershipOptions>): Promise<Membership>;
  /** What was told to whom a membership of this cluster belongs. */
  readonly told: string[];
  put(name: string, key: string, value: string): Promise<void>;
  /** What this member itself has. */
  get(name: string, key: string): Promise<string | undefined>;
  /** The member that leads, once all that answer agree. */
  leader(): Promise<MemberStatus["member"]>;
  stop(): Promise<void>;
}

interface Place {
  readonly name: string;
  readonly peerURL: string;
  readonly clientURL: string;
}

/** Gives a cluster without members. It dies with this process. */
export async function createEtcdMembers(): Promise<EtcdMembers> {
  await sweepLeftovers();
  const directory = await mkdtemp(join(tmpdir(), controlPlanePrefix));
  await claimDirectory(directory);
  const program = await findBinary("etcdctl");
  const free = (await freePorts(12)).map((port) => `http://127.0.0.1:${port}`);
  const places = new Map<string, Place>();
  const children = new Map<string, Child>();
  const told: string[] = [];

  const at = (name: string): Place => {
    const [peerURL = "", clientURL = ""] = places.has(name) ? [] : free.splice(0, 2);
    const place = places.get(name) ?? { name, peerURL, clientURL };
    places.set(name, place);
    return place;
  };
  const run = async (name: string, cluster: readonly string[], advertise = at(name).clientURL) => {
    const { peerURL, clientURL } = at(name);
    const args = [
      `--name=${name}`,
      `--data-dir=${join(directory, name)}`,
      `--listen-client-urls=${clientURL}`,
      `--advertise-client-urls=${advertise}`,
      `--listen-peer-urls=${peerURL}`,
      `--initial-advertise-peer-urls=${peerURL}`,
      ...cluster,
      "--unsafe-no-fsync",
      "--log-level=error",
    ];
    children.set(name, await spawnChild(directory, "etcd", args));
  };
  const etcdctl = async (...names: string[]): Promise<Etcdctl> => {
    const asked = names.length > 0 ? names : [...places.keys()];
    return createEtcdctl({ program, endpoints: asked.map((name) => at(name).clientURL) });
  };
  const membership = async (options: Partial<MembershipOptions> = {}): Promise<Membership> =>
    createMembership({
      etcdctl: await etcdctl(),
      signal: new AbortController().signal,
      tell: (message) => void told.push(message),
      ...options,
    });
  const leader = async () =>
    await eventually(async () => {
      const statuses = (await (await membership()).readStatus()).filter((status) => status.answers);
      const leaders = new Set(statuses.map((status) => status.leader));
      const leading = statuses.find(({ member, leader }) => leaders.size === 1 && member.id === leader);
      return leading?.member ?? false;
    }, 60_000);

  return {
    ...{ at, etcdctl, membership, told, leader },
    async begin(...names) {
      const initial = names.map((name) => `${name}=${at(name).peerURL}`).join(",");
      await Promise.all(names.map((name) => run(name, [`--initial-cluster=${initial}`])));
      await eventually(async () => {
        const statuses = await (await membership()).readStatus();
        return statuses.length === names.length && statuses.every((one) => one.answers && one.leader !== undefined);
      }, 60_000);
    },
    async start(name, advertise) {
      const others = await etcdctl(...[...places.keys()].filter((other) => other !== name));
      const known = await (await membership({ etcdctl: others })).readMembers();
      const { initialCluster: cluster, initialClusterState: state } = initialCluster(known, at(name));
      await run(name, [`--initial-cluster=${cluster}`, `--initial-cluster-state=${state}`], advertise);
    },
    kill: async (name) => await children.get(name)?.kill(),
    wipe: async (name) => await rm(join(directory, name), { recursive: true }),
    ended: async (name) => await children.get(name)?.exited,
    async put(name, key, value) {
      await post(at(name).clientURL, "put", { key: encode(key), value: encode(value) });
    },
    async get(name, key) {
      const { kvs = [] } = await post(at(name).clientURL, "range", { key: encode(key), serializable: true });
      return kvs[0] && Buffer.from(kvs[0].value, "base64").toString();
    },
    async stop() {
      await Promise.all([...children.values()].map((child) => child.kill()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const encode = (text: string): string => Buffer.from(text).toString("base64");

/** etcd's own gateway from JSON to its API. */
async function post(
  url: string,
  method: "put" | "range",
  body: object,
): Promise<{ readonly kvs?: readonly { readonly value: string }[] }> {
  const response = await fetch(`${url}/v3/kv/${method}`, { method: "POST", body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`etcd refuses ${method}: ${await response.text()}`);
  return (await response.json()) as { kvs?: { value: string }[] };
}
