import { mkdir, readdir, readFile } from "node:fs/promises";
import { homedir, networkInterfaces } from "node:os";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { defaultName, deriveEnvironment, type Environment } from "./environment.ts";
import type { VariablesOf } from "../../variables.ts";
import { replaceFile } from "../replace-file.ts";

/** Which environment is meant: by name, and where it keeps its state when that is not the usual place. */
export interface EnvironmentChoice {
  readonly name?: string;
  readonly stateDir?: string;
}

/** What a new environment is to be like; one that is there already stays what it is. */
export interface EnvironmentRequest extends EnvironmentChoice, Pick<Environment, "left" | "providerLocal" | "bare"> {}

/** The environment of this name, derived and written down when it is new. Everything about it stays the same until `down`. */
export async function ensureEnvironment(choice: EnvironmentRequest = {}): Promise<Environment> {
  const existing = await findEnvironment(choice);
  if (existing !== undefined) return existing;
  const { name = defaultName } = choice;
  const stateDir = stateDirectory(choice);
  const { left, providerLocal, bare } = choice;
  const environment = {
    ...deriveEnvironment(name, stateDir, await takenNetworks(stateDir)),
    ...(left === undefined ? {} : { left }),
    ...(providerLocal === undefined ? {} : { providerLocal }),
    ...(bare && { bare }),
  };
  await mkdir(stateDir, { recursive: true, mode: 0o711 });
  const text = `${JSON.stringify(environment, undefined, 2)}\n`;
  await replaceFile(join(stateDir, "environment.json"), text, 0o644);
  return environment;
}

/** The environment of this name, or undefined when it is not up. */
export async function findEnvironment(choice: EnvironmentChoice = {}): Promise<Environment | undefined> {
  const { name = defaultName } = choice;
  const stateDir = stateDirectory(choice);
  const environment = await read(stateDir);
  if (environment !== undefined && environment.name !== name) {
    throw new Error(`cannot use ${stateDir} for environment ${name}: it is that of environment ${environment.name}`);
  }
  return environment;
}

/** Where an environment keeps its state: as told, else `PERENNIAL_STATE_DIR`, else the usual place for root or for a user. */
export function stateDirectory({ name = defaultName, stateDir }: EnvironmentChoice): string {
  const { PERENNIAL_STATE_DIR }: VariablesOf<"local environment"> = process.env;
  const told = stateDir ?? PERENNIAL_STATE_DIR;
  if (told !== undefined) return told;
  if (process.getuid?.() === 0) return join("/var/lib/perennial", name);
  return join(process.env["XDG_STATE_HOME"] ?? join(homedir(), ".local/state"), "perennial", name);
}

async function read(stateDir: string): Promise<Environment | undefined> {
  const text = await readFile(join(stateDir, "environment.json"), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as Environment);
}

/** The networks that this host, or another environment on it, uses already. */
async function takenNetworks(stateDir: string): Promise<string[]> {
  const addresses = Object.values(networkInterfaces()).flatMap((all = []) => all);
  const own = addresses.flatMap(({ family, cidr }) => (family === "IPv4" && cidr !== null ? [cidr] : []));
  const { stdout } = await execa("ip", ["-4", "-o", "route"], { reject: false }).catch(() => ({ stdout: "" }));
  const routes = [...String(stdout).matchAll(/^(\d+\.\d+\.\d+\.\d+(?:\/\d+)?) /gm)].map((match) => String(match[1]));
  const neighbours = await readdir(dirname(stateDir)).catch(() => []);
  const others = await Promise.all(
    neighbours.map(async (name) => await read(join(dirname(stateDir), name)).catch(() => undefined)),
  );
  return [...own, ...routes, ...others.flatMap((other) => (other === undefined ? [] : [other.network]))];
}
