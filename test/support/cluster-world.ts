import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { readShootStatus } from "../../src/gardenadm/cluster/shoot-status.ts";
import { eventually } from "./eventually.ts";
import type { GardenadmMachine } from "./gardenadm-machine.ts";

/** A member of an etcd, as its own tools tell it. */
export interface EtcdMember {
  readonly name: string;
  readonly isLearner: boolean;
}

/** Both etcds of a control plane, with the ports at which clients ask them. */
const PORTS = { main: 2379, events: 2382 } as const;

/** Who belongs to each of the etcds, as the member on this machine knows it. */
export async function etcdMembers(machine: GardenadmMachine): Promise<Readonly<Record<string, readonly EtcdMember[]>>> {
  const found = await Promise.all(
    Object.entries(PORTS).map(async ([role, port]) => {
      const { members } = JSON.parse(await etcdctl(machine, port, "member", "list")) as {
        readonly members: readonly { readonly name?: string; readonly isLearner?: boolean }[];
      };
      const named = members.map(({ name = "", isLearner = false }) => ({ name, isLearner }));
      return [role, named.toSorted((one, other) => (one.name < other.name ? -1 : 1))] as const;
    }),
  );
  return Object.fromEntries(found);
}

/** The ids of both etcds and of their members, as text: they are too long for numbers. A cluster that began anew has others. */
export async function etcdIdentity(machine: GardenadmMachine): Promise<readonly string[]> {
  const answers = await Promise.all(
    Object.values(PORTS).map(async (port) => await etcdctl(machine, port, "member", "list")),
  );
  return answers.flatMap((text) => [...text.matchAll(/"(?:cluster_id|ID)":\d+/g)].map(([found]) => found));
}

/** Versions of all objects but those by which programs say that they are there, times of all files, and since when units run. */
export async function worldOf(machine: GardenadmMachine) {
  const { ground, name } = machine;
  const files = await ground.inMachine(name, "find", ...FOLDERS, "-type", "f", "-printf", "%p %T@\n");
  const since = ["--property", "ActiveEnterTimestampMonotonic"];
  return {
    objects: await versionsOf(machine),
    files: files.split("\n").sort(),
    units: await ground.inMachine(name, "systemctl", "show", "kubelet", "containerd", "gardener-node-agent", ...since),
  };
}

/** The conditions of the cluster's Shoot: what an agent has said last, which looks once a minute, by their types. */
export async function conditionsOf(machine: GardenadmMachine): Promise<Readonly<Record<string, string>>> {
  const status = await machine.asAdministrator(async (client) => await readShootStatus(client));
  return Object.fromEntries((status?.conditions ?? []).map(({ type, status }) => [type, status]));
}

/** All that there are, of a cluster that is well. */
export const WELL = {
  ...{ APIServerAvailable: "True", ControlPlaneHealthy: "True" },
  ...{ EveryNodeReady: "True", SystemComponentsHealthy: "True" },
};

/**
 * The same as soon as the cluster's conditions hold, and nothing in it has changed for ten seconds: what controllers and agents had left
 * to do is done by then.
 */
export async function restingWorld(machine: GardenadmMachine): ReturnType<typeof worldOf> {
  await eventually(async () => expect(await conditionsOf(machine)).toEqual(WELL), 240_000);
  for (let before = await worldOf(machine), tries = 0; ; tries += 1) {
    await delay(10_000);
    const now = await worldOf(machine);
    if (JSON.stringify(now) === JSON.stringify(before)) return now;
    if (tries === 12) expect(now, "a world at rest").toEqual(before);
    before = now;
  }
}

const FOLDERS = ["/etc/kubernetes", "/etc/systemd/system", "/var/lib/static-pods", "/opt/bin"];

/** By key in etcd, which no reader of the API is needed for. Kubelets write their Node's status by themselves. */
async function versionsOf(machine: GardenadmMachine): Promise<readonly string[]> {
  return (await objectKeys(machine))
    .map(({ key, revision }) => `${key} ${revision}`)
    .filter((line) => !/^\/registry\/(leases|masterleases|minions|events)\//.test(line));
}

/** The keys of all objects in etcd-main, with the revisions at which they were last written. */
export async function objectKeys(
  machine: GardenadmMachine,
): Promise<readonly { readonly key: string; readonly revision: number }[]> {
  const { kvs = [] } = JSON.parse(await etcdctl(machine, PORTS.main, "get", "/", "--prefix", "--keys-only")) as {
    readonly kvs?: readonly { readonly key: string; readonly mod_revision: number }[];
  };
  return kvs.map(({ key, mod_revision }) => ({ key: Buffer.from(key, "base64").toString(), revision: mod_revision }));
}

async function etcdctl({ ground, name }: GardenadmMachine, port: number, ...words: readonly string[]): Promise<string> {
  const folder = "/var/lib/static-pods/kube-apiserver";
  return await ground.inMachine(
    name,
    "/opt/bin/etcdctl",
    `--endpoints=https://127.0.0.1:${port}`,
    `--cacert=${folder}/ca-etcd/ca.crt`,
    `--cert=${folder}/kube-apiserver-etcd-client/tls.crt`,
    `--key=${folder}/kube-apiserver-etcd-client/tls.key`,
    "--write-out=json",
    ...words,
  );
}

/** What the cluster's name server answers on this machine to a name's addresses. */
export async function resolve({ ground, name }: GardenadmMachine, host: string): Promise<string> {
  return await ground.inMachine(name, NODE, "-e", RESOLVE, host);
}

/** What a URL answers on this machine. */
export async function fetchOn({ ground, name }: GardenadmMachine, url: string): Promise<string> {
  return await ground.inMachine(name, NODE, "-e", FETCH, url);
}

const NODE = "/opt/gardenadm/node_modules/.bin/node";

/** The address of Service kube-dns is the tenth of the Services' network. */
const RESOLVE = `
const resolver = new (require("node:dns").promises.Resolver)({ timeout: 2000, tries: 1 });
resolver.setServers(["10.185.0.10"]);
resolver.resolve4(process.argv[1]).then((all) => console.log(all.join(" ")));
`;

const FETCH = `
fetch(process.argv[1], { signal: AbortSignal.timeout(3000) }).then(async (answer) => console.log(await answer.text()));
`;

/** The text of a file of the machine; undefined where there is none. */
export async function fileOf(machine: GardenadmMachine, path: string): Promise<string | undefined> {
  return await readFile(join(await machine.root(), path), "utf8").catch(() => undefined);
}
