import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { NodeRole } from "../../src/api/names.ts";
import { createKubeClient, type KubeClient } from "../../src/kube/index.ts";
import { CONFIGURATION_FOLDER, giveConfiguration } from "../../src/local/bare/configuration.ts";
import { giveGardenadm } from "../../src/local/bare/gardenadm.ts";
import type { ExecOptions, ExecResult } from "../../src/local/bare/exec.ts";
import { createLogger } from "../../src/log.ts";
import { startBareGround, type BareGround } from "./bare-machines.ts";
import { interrupt, meanwhile, type Interruption, type Outcome, type Row } from "./interruption.ts";

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
  /** Begins a command and ends it, or the machine, as soon as the row is running; then the machine is on again. */
  interrupt(command: GardenadmCommand, row: Row, by: Interruption): Promise<Outcome>;
  /** Runs a command that has to succeed although the work is done as soon as the row is running. */
  succeedDespite(work: () => Promise<void>, command: GardenadmCommand, row: Row): Promise<void>;
  /** The command by which machines of this role join the cluster whose control plane is on this one. */
  invite(role: NodeRole): Promise<Invitation>;
  /** An empty disk, with gardenadm and the configuration on it again. */
  wipe(): Promise<void>;
  /** Paths of all files that gardenadm has to do with. */
  files(): Promise<string[]>;
  /** The machine's files, as the host sees them. */
  root(): Promise<string>;
  /** A client of the machine's API server, as its administrator, over the network; it is closed after the work. */
  asAdministrator<T>(work: (client: KubeClient) => Promise<T>): Promise<T>;
  /** SHA-256 of what may be made once only, by name; what is not there yet is left out. */
  identity(): Promise<Readonly<Record<string, string>>>;
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
): Promise<{ readonly ground: BareGround; readonly machines: Readonly<Record<Name, GardenadmMachine>> }> {
  const ground = await startBareGround(set, names);
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
  return { ground, machines: Object.fromEntries(made) as Record<Name, GardenadmMachine> };
}

function describe(ground: BareGround, name: string, provide: () => Promise<void>): GardenadmMachine {
  const { machines, inMachine } = ground;
  const machine = async () =>
    (await machines.list()).find((each) => each.name === name) ?? expect.fail(`${name} is gone`);
  const root = async () => (await machine()).root ?? expect.fail(`${name} is off`);
  const run = async ({ words, ...options }: GardenadmCommand) =>
    await machines.exec(name, ["gardenadm", ...words], options);
  const gardenadm: GardenadmMachine["gardenadm"] = async (...words) => await run({ words });
  const succeeded = (command: GardenadmCommand, result: ExecResult) => {
    expect(result.code, `gardenadm ${command.words.join(" ")} on ${name}: ${result.stderr}`).toBe(0);
    return result;
  };
  return {
    ...{ ground, name, gardenadm, root },
    succeed: async (command) => succeeded(command, await run(command)),
    async succeedDespite(work, command, row) {
      succeeded(command, await meanwhile({ root: await root(), running: async () => await run(command), row }, work));
    },
    async interrupt(command, row, by) {
      return await interrupt(machines, name, { root: await root(), running: async () => await run(command), row, by });
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
    async files() {
      return (await inMachine(name, "sh", "-c", FIND, "find", ...FOLDERS)).split("\n").sort();
    },
    async asAdministrator(work) {
      const [{ address }, kubeconfig] = [await machine(), await readFile(join(await root(), ADMIN), "utf8")];
      const text = kubeconfig.replace("https://localhost", `https://${address}`);
      const client = createKubeClient({ kubeconfig: text }, { userAgent: "test" });
      return await work(client).finally(async () => await client.close());
    },
    async identity() {
      const files = await Promise.all(
        ONCE.map(async (file) => [file, await readFile(join(await root(), file)).catch(() => undefined)] as const),
      );
      const found = files.flatMap(([file, bytes]) => (bytes === undefined ? [] : [[file, sha256(bytes)] as const]));
      return Object.fromEntries(found);
    },
  };
}

const ADMIN = "/etc/kubernetes/admin.conf";

/** What a second one of would lock out machines and users. */
const ONCE = [
  "/var/lib/gardenadm/shoot-uid",
  "/var/lib/static-pods/kube-controller-manager/ca-client/ca.key",
  "/var/lib/static-pods/kube-apiserver/service-account-key/id_rsa",
  "/var/lib/static-pods/etcd-main/ca-etcd/ca.crt",
];

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** A worker has not all of the folders. */
const FIND = 'for folder; do [ ! -e "$folder" ] || find "$folder" -type f; done';

const FOLDERS = ["/etc/kubernetes", "/etc/systemd/system", "/opt/bin", "/var/lib/gardenadm", "/var/lib/static-pods"];
