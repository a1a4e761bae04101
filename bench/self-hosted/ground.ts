import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { createKubeClient, Node, parseKubeconfig, type KubeClient } from "../../src/kube/index.ts";
import { CONFIGURATION_FOLDER, giveConfiguration } from "../../src/local/bare/configuration.ts";
import { giveGardenadm } from "../../src/local/bare/gardenadm.ts";
import { createBareMachines, type BareMachines } from "../../src/local/bare/machines.ts";
import { cacheDirectory } from "../../src/local/binary/binaries.ts";
import { buildImages, helloImage } from "../../src/local/image/images.ts";
import { createLogger } from "../../src/log.ts";

/** The set of machines that are measured; a machine of it is made when it is asked for. */
export interface MachineGround {
  readonly machines: BareMachines;
  /** Makes a machine with gardenadm, a configuration and all images. */
  provide(name: string): Promise<void>;
  /** Runs a command that has to succeed, and answers what it wrote. */
  run(name: string, command: readonly string[], stdin?: string): Promise<string>;
  /** Resolves, with how long that took in ms, when the machine's API server says that it is ready. */
  apiReady(name: string): Promise<number>;
  /** The administrator's client of the API server on this machine. */
  client(name: string): Promise<KubeClient>;
  /** The administrator's kubeconfig, as it is on this machine. */
  kubeconfig(name: string): Promise<string>;
  /** Resolves, with how long that took in ms, when the node is Ready in the eyes of the API server of `by`. */
  nodeReady(name: string, by?: string): Promise<number>;
}

/** Machines of a set of the bench's own; nothing of an earlier run is left in it. */
export async function startMachineGround(set: string): Promise<MachineGround> {
  const log = createLogger({ name: set, level: "silent" });
  const machines = createBareMachines(set, log);
  await machines.removeAll();
  const machine = async (name: string) => {
    const found = (await machines.list()).find((each) => each.name === name);
    if (found?.address === undefined || found.root === undefined) throw new Error(`machine ${name} is off`);
    return { address: found.address, root: found.root };
  };
  const run: MachineGround["run"] = async (name, command, stdin) => {
    const { code, stdout, stderr } = await machines.exec(name, command, stdin === undefined ? {} : { stdin });
    if (code !== 0) throw new Error(`cannot run ${command.join(" ").slice(0, 60)} on ${name}: ${stderr.slice(-2_000)}`);
    return stdout;
  };
  const kubeconfig = async (name: string) => await readFile(join((await machine(name)).root, ADMIN), "utf8");
  const ground: MachineGround = {
    ...{ machines, run, kubeconfig },
    async provide(name) {
      await machines.create(name);
      await giveGardenadm(machines, name, { log });
      await giveConfiguration(machines, name, { log });
      const hello = (await buildImages(cacheDirectory(), log)).filter((image) => image.name === helloImage);
      await machines.loadImages(name, hello);
    },
    async apiReady(name) {
      const { address, root } = await machine(name);
      return await until(async () => {
        const { cluster, user } = parseKubeconfig(await readFile(join(root, ADMIN), "utf8"));
        return await answers(`https://${address}/readyz`, { ...cluster, ...user });
      });
    },
    async client(name) {
      const text = (await kubeconfig(name)).replace("https://localhost", `https://${(await machine(name)).address}`);
      return createKubeClient({ kubeconfig: text }, { userAgent: "bench" });
    },
    async nodeReady(name, by = name) {
      const client = await ground.client(by);
      const isReady = async () =>
        (await client.read(Node, { name }))?.status?.conditions?.some(
          ({ type, status }) => type === "Ready" && status === "True",
        ) ?? false;
      try {
        return await until(async () => await isReady().catch(() => false));
      } finally {
        await client.close();
      }
    },
  };
  return ground;
}

/** Where the configuration is on each machine. */
export const CONFIGURATION = CONFIGURATION_FOLDER;

/** Asks until it is so, ten times a second; answers how long that took, in ms. Throws after five minutes. */
export async function until(isSo: () => Promise<boolean>): Promise<number> {
  for (const begun = performance.now(); performance.now() - begun < 300_000; await sleep(100))
    if (await isSo()) return performance.now() - begun;
  throw new Error("gave up after five minutes");
}

/** The bytes of a gzip of this file. */
export async function packedSize(file: string): Promise<number> {
  const { createGzip } = await import("node:zlib");
  let bytes = 0;
  for await (const chunk of createReadStream(file).pipe(createGzip())) bytes += (chunk as Buffer).length;
  return bytes;
}

const ADMIN = "/etc/kubernetes/admin.conf";

async function answers(url: string, fields: Readonly<Record<string, unknown>>): Promise<boolean> {
  const pem = (field: string) => {
    const value = fields[field];
    return typeof value === "string" ? Buffer.from(value, "base64") : undefined;
  };
  const credentials = {
    ca: pem("certificate-authority-data"),
    cert: pem("client-certificate-data"),
    key: pem("client-key-data"),
  };
  return await new Promise((resolve) => {
    const call = request(url, { ...credentials, agent: false, timeout: 1_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    call.on("error", () => resolve(false)).on("timeout", () => call.destroy());
    call.end();
  });
}
