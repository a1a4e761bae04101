import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { stringify } from "yaml";
import { createKubeClient, type KubeClient } from "../../src/kube/index.ts";
import { giveGardenadm } from "../../src/local/bare/gardenadm.ts";
import { createLogger } from "../../src/log.ts";
import { startBareGround, type BareGround } from "./bare-machines.ts";
import { exampleConfiguration } from "./configuration.ts";

/** A bare machine with gardenadm and a configuration on it. */
export interface GardenadmMachine {
  readonly ground: BareGround;
  readonly name: string;
  /** Runs `gardenadm` with these arguments to its end. */
  gardenadm(...args: readonly string[]): ReturnType<BareGround["machines"]["exec"]>;
  /** Begins `gardenadm init` and ends it, or the machine, as soon as its journal says that a step is running; the machine is on again. */
  interruptInit(step: string, by: Interruption): Promise<void>;
  /** An empty disk, with gardenadm and the configuration on it again. */
  wipe(): Promise<void>;
  /** Paths of all files that gardenadm has to do with. */
  files(): Promise<string[]>;
  /** The machine's files, as the host sees them. */
  root(): Promise<string>;
  /** A client of the machine's API server, as its administrator, over the network. */
  client(): Promise<KubeClient>;
  /** SHA-256 of what may be made once only, by name; what is not there yet is left out. */
  identity(): Promise<Readonly<Record<string, string>>>;
}

/** What ends gardenadm: a signal that it cannot catch, or the machine's power. */
export type Interruption = "SIGKILL" | "power cut";

/** Where the configuration is on the machine. */
export const CONFIGURATION = "/root/config";

/** Makes the machine; `set` names what it is in, and what an interrupted run has left of it goes first. */
export async function startGardenadmMachine(set: string, name = "a"): Promise<GardenadmMachine> {
  const ground = await startBareGround(set, [name]);
  const { machines, inMachine } = ground;
  const provide = async () => {
    await giveGardenadm(machines, name, { log: createLogger({ name: set, level: "warn" }) });
    await inMachine(name, "mkdir", "-p", CONFIGURATION);
    await writeConfiguration(ground, name, exampleConfiguration());
  };
  await provide();
  const machine = async () =>
    (await machines.list()).find((each) => each.name === name) ?? expect.fail(`${name} is gone`);
  const root = async () => (await machine()).root ?? expect.fail(`${name} is off`);
  const gardenadm: GardenadmMachine["gardenadm"] = async (...args) => await machines.exec(name, ["gardenadm", ...args]);
  return {
    ...{ ground, name, gardenadm, root },
    async interruptInit(step, by) {
      const journal = join(await root(), JOURNAL);
      const running = gardenadm("init", "-d", CONFIGURATION);
      await untilRunning(journal, step, running);
      if (by === "power cut") await machines.cutPower(name);
      else await machines.exec(name, ["pkill", "--signal", "KILL", "--full", "gardenadm/main"]);
      expect((await running).code, "the end of gardenadm").not.toBe(0);
      if (by === "power cut") await machines.on(name);
    },
    async wipe() {
      await machines.wipe(name);
      await provide();
    },
    async files() {
      return (await inMachine(name, "find", ...FOLDERS, "-type", "f")).split("\n").sort();
    },
    async client() {
      const [{ address }, kubeconfig] = [await machine(), await readFile(join(await root(), ADMIN), "utf8")];
      const text = kubeconfig.replace("https://localhost", `https://${address}`);
      return createKubeClient({ kubeconfig: text }, { userAgent: "test" });
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

/** Writes one file for each object. */
export async function writeConfiguration(
  { machines }: BareGround,
  name: string,
  objects: readonly Record<string, unknown>[],
): Promise<void> {
  const text = objects.map((object) => stringify(object)).join("---\n");
  const { code, stderr } = await machines.exec(name, ["tee", `${CONFIGURATION}/all.yaml`], { stdin: text });
  expect(code, stderr).toBe(0);
}

const JOURNAL = "/var/lib/gardenadm/journal";
const ADMIN = "/etc/kubernetes/admin.conf";

/** What a second one of would lock out machines and users. */
const ONCE = [
  "/var/lib/gardenadm/shoot-uid",
  "/var/lib/static-pods/kube-controller-manager/ca-client/ca.key",
  "/var/lib/static-pods/kube-apiserver/service-account-key/id_rsa",
  "/var/lib/static-pods/etcd-main/ca-etcd/ca.crt",
];

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

const FOLDERS = ["/etc/kubernetes", "/etc/systemd/system", "/opt/bin", "/var/lib/gardenadm", "/var/lib/static-pods"];

async function untilRunning(journal: string, step: string, running: Promise<unknown>): Promise<void> {
  let over = false;
  void running.finally(() => (over = true));
  const before = (await readFile(journal, "utf8").catch(() => "")).length;
  const said = `"step":"${step}","state":"running"`;
  while (!(await readFile(journal, "utf8").catch(() => "")).slice(before).includes(said)) {
    if (over) expect.fail(`gardenadm ended before ${step} was running`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
