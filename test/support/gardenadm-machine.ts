import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { NodeRole } from "../../src/api/names.ts";
import { createKubeClient, type KubeClient } from "../../src/kube/index.ts";
import { CONFIGURATION_FOLDER, giveConfiguration } from "../../src/local/bare/configuration.ts";
import { giveGardenadm } from "../../src/local/bare/gardenadm.ts";
import type { CreateOptions } from "../../src/local/bare/machines.ts";
import type { ExecOptions, ExecResult } from "../../src/local/bare/exec.ts";
import { createLogger } from "../../src/log.ts";
import { etcdIdentity } from "./etcd-identity.ts";
import { startBareGround, type BareGround } from "./bare-machines.ts";
import { interrupt, meanwhile, tellKills, type Interruption, type Outcome, type Row } from "./interruption.ts";

/** A command of gardenadm: its words, and its standard input. */
export interface GardenadmCommand extends ExecOptions {
  readonly words: readonly string[];
}

/** A bare machine with gardenadm on it, and the example configuration. */
export interface GardenadmMachine {
  readonly ground: BareGround;
  readonly name: string;
  /** Runs `gardenadm` with these arguments to its end. */
  gardenadm(...args: readonly string[]): Promise<ExecResult>;
  /** Runs a command that has to succeed. */
  succeed(command: GardenadmCommand): Promise<ExecResult>;
  /** Begins a command and ends it, or the machine, within the row; then the machine is on again. */
  interrupt(command: GardenadmCommand, row: Row, by: Interruption): Promise<Outcome>;
  /** Runs a command that has to succeed although the work is done as soon as the row is running. */
  succeedDespite(work: () => Promise<void>, command: GardenadmCommand, row: Row): Promise<void>;
  /** The command by which machines of this role join the cluster whose control plane is on this one. */
  invite(role: NodeRole): Promise<Invitation>;
  /** An empty disk, with gardenadm and the configuration on it again. */
  wipe(): Promise<void>;
  /** The machine's files, as the host sees them. */
  root(): Promise<string>;
  /** A client of the machine's API server, as its administrator, over the network; it is closed after the work. */
  asAdministrator<T>(work: (client: KubeClient) => Promise<T>): Promise<T>;
  /** SHA-256 of each of {@link MADE_ONCE}, by name; what is not there yet is left out. */
  identity(): Promise<Readonly<Record<string, string>>>;
  /** Which etcds the machine has data of, by name: ids of cluster and member, and when these data were begun. */
  etcds(): Promise<Readonly<Record<string, string>>>;
}

/** A command that makes a machine join, with the token that is its standard input. */
export interface Invitation extends GardenadmCommand {
  readonly stdin: string;
}

/** `gardenadm init` with the example configuration. */
export const INIT: GardenadmCommand = { words: ["init", "-d", CONFIGURATION_FOLDER] };

/** Makes these machines; `set` names what they are in, and what an interrupted run has left of it goes first. */
export async function startGardenadmMachines<const Name extends string>(
  set: string,
  names: readonly Name[],
  options: CreateOptions = {},
): Promise<{ readonly ground: BareGround; readonly machines: Readonly<Record<Name, GardenadmMachine>> }> {
  const ground = await startBareGround(set, names, options);
  const log = createLogger({ name: set, level: "warn" });
  const made = await Promise.all(
    names.map(async (name): Promise<[string, GardenadmMachine]> => {
      const provide = async () => {
        await giveGardenadm(ground.machines, name, { log });
        await giveConfiguration(ground.machines, name, { log });
      };
      await provide();
      return [name, describe(ground, name, provide)];
    }),
  );
  const stop = async () => {
    tellKills();
    await ground.stop();
  };
  return { ground: { ...ground, stop }, machines: Object.fromEntries(made) as Record<Name, GardenadmMachine> };
}

function describe(ground: BareGround, name: string, provide: () => Promise<void>): GardenadmMachine {
  const { machines } = ground;
  const machine = async () =>
    (await machines.list()).find((each) => each.name === name) ?? expect.fail(`${name} is gone`);
  const root = async () => (await machine()).root ?? expect.fail(`${name} is off`);
  const run = async ({ words, ...options }: GardenadmCommand, variables: Readonly<Record<string, string>> = {}) =>
    await machines.exec(name, ["env", ...Object.entries(variables).map(assignment), "gardenadm", ...words], options);
  const gardenadm: GardenadmMachine["gardenadm"] = async (...words) => await run({ words });
  const succeeded = (command: GardenadmCommand, result: ExecResult) => {
    expect(result.code, `gardenadm ${command.words.join(" ")} on ${name}: ${result.stderr}`).toBe(0);
    return result;
  };
  return {
    ...{ ground, name, gardenadm, root },
    succeed: async (command) => succeeded(command, await run(command)),
    async succeedDespite(work, command, row) {
      const running = async () => await run(command);
      succeeded(command, await meanwhile({ root: await root(), running, row }, work));
    },
    async interrupt(command, row, by) {
      const running = async (variables: Readonly<Record<string, string>>) => await run(command, variables);
      return await interrupt(machines, name, { root: await root(), running, row, by });
    },
    async invite(role) {
      const flags = role === "control-plane" ? ["--control-plane"] : [];
      const { code, stdout, stderr } = await gardenadm("token", "create", "--print-join-command", ...flags);
      expect(code, stderr).toBe(0);
      const [, token, words] = /^echo (\S+) \| gardenadm (.+)$/.exec(stdout) ?? expect.fail(stdout);
      return { stdin: token ?? "", words: (words ?? "").split(" ") };
    },
    async wipe() {
      await machines.wipe(name);
      await provide();
    },
    async asAdministrator(work) {
      const [{ address }, kubeconfig] = [await machine(), await readFile(join(await root(), ADMIN), "utf8")];
      const text = kubeconfig.replace("https://localhost", `https://${address}`);
      const client = createKubeClient({ kubeconfig: text }, { userAgent: "test" });
      try {
        return await work(client);
      } finally {
        await client.close();
      }
    },
    etcds: async () => await etcdIdentity(await root()),
    async identity() {
      const files = await Promise.all(
        MADE_ONCE.map(async (file) => [file, await readFile(join(await root(), file)).catch(() => undefined)] as const),
      );
      const found = files.flatMap(([file, bytes]) => (bytes === undefined ? [] : [[file, sha256(bytes)] as const]));
      return Object.fromEntries(found);
    },
  };
}

const assignment = ([name, value]: readonly [string, string]): string => `${name}=${value}`;

const ADMIN = "/etc/kubernetes/admin.conf";

const FILES = "/var/lib/static-pods";

/** What a second one of would lock out machines and users, or make data unreadable: the uid, authorities and keys, on a node of the control plane. */
export const MADE_ONCE: readonly string[] = [
  "/var/lib/gardenadm/shoot-uid",
  ...["etcd-main/ca-etcd", "etcd-main/ca-etcd-peer"].map((folder) => `${FILES}/${folder}/ca.crt`),
  ...["ca-client", "ca-kubelet", "ca-front-proxy"].map((name) => `${FILES}/kube-apiserver/${name}/ca.crt`),
  `${FILES}/kube-apiserver/service-account-key/id_rsa`,
  `${FILES}/kube-apiserver/kube-apiserver-etcd-encryption-configuration/encryption-configuration.yaml`,
  `${FILES}/kube-controller-manager/ca/ca.crt`,
  ...["ca-client", "ca-kubelet"].map((name) => `${FILES}/kube-controller-manager/${name}/ca.key`),
];

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
