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
  /** Begins `gardenadm init` and ends it by SIGKILL as soon as its journal says this of a step. */
  killInit(step: string, state: string): Promise<void>;
  /** The machine's files, as the host sees them. */
  root(): Promise<string>;
  /** A client of the machine's API server, as its administrator, over the network. */
  client(): Promise<KubeClient>;
  /** SHA-256 of what may be made once only, by name; what is not there yet is left out. */
  identity(): Promise<Readonly<Record<string, string>>>;
}

/** Where the configuration is on the machine. */
export const CONFIGURATION = "/root/config";

/** Makes the machine; `set` names what it is in, and what an interrupted run has left of it goes first. */
export async function startGardenadmMachine(set: string, name = "a"): Promise<GardenadmMachine> {
  const ground = await startBareGround(set, [name]);
  const { machines, inMachine } = ground;
  await giveGardenadm(machines, name, { log: createLogger({ name: set, level: "warn" }) });
  await inMachine(name, "mkdir", "-p", CONFIGURATION);
  await writeConfiguration(ground, name, exampleConfiguration());
  const machine = async () =>
    (await machines.list()).find((each) => each.name === name) ?? expect.fail(`${name} is gone`);
  const root = async () => (await machine()).root ?? expect.fail(`${name} is off`);
  const gardenadm: GardenadmMachine["gardenadm"] = async (...args) => await machines.exec(name, ["gardenadm", ...args]);
  return {
    ...{ ground, name, gardenadm, root },
    async killInit(step, state) {
      const journal = join(await root(), JOURNAL);
      const running = gardenadm("init", "-d", CONFIGURATION);
      await untilSaid(journal, step, state, running);
      await machines.exec(name, ["pkill", "--signal", "KILL", "--full", "gardenadm/main"]);
      expect((await running).code, "the end of gardenadm").not.toBe(0);
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

async function untilSaid(journal: string, step: string, state: string, running: Promise<unknown>): Promise<void> {
  let over = false;
  void running.finally(() => (over = true));
  const before = (await readFile(journal, "utf8").catch(() => "")).length;
  const said = `"step":"${step}","state":"${state}"`;
  while (!(await readFile(journal, "utf8").catch(() => "")).slice(before).includes(said)) {
    if (over) expect.fail(`gardenadm ended before ${step} was ${state}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
