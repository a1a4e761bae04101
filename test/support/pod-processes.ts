import { spawn } from "node:child_process";
import { once } from "node:events";
import type { KubeObject } from "../../src/api/index.ts";
import type { BinaryName } from "../../src/local/binary/versions.ts";
import { findBinary } from "./binary.ts";

/** What the kubelet would have found around a pod. */
export interface PodSurroundings {
  /** The pod's name, by default that of its Job with an ending. */
  readonly podName?: string;
  /** The namespace's Secrets and ConfigMaps by name, as text. */
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Replaces paths and addresses of a command line by those of this machine. */
  readonly local: (text: string) => string;
  /** Variables that every process gets. */
  readonly env?: Readonly<Record<string, string>>;
}

/** How one container ended. */
export interface Ended {
  readonly name: string;
  /** Exit code; -1 when it could not be started. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the containers of a Job's pod as processes, one after the other as the kubelet would, up to the first that fails. */
export async function runPod(job: KubeObject, surroundings: PodSurroundings): Promise<Ended[]> {
  const { initContainers, containers } = (job as unknown as { spec: { template: { spec: PodSpec } } }).spec.template
    .spec;
  const ended: Ended[] = [];
  for (const container of [...initContainers, ...containers]) {
    const one = await runContainer(container, { podName: `${job.metadata.name}-abcde`, ...surroundings });
    ended.push(one);
    if (one.code !== 0) break;
  }
  return ended;
}

interface PodSpec {
  readonly initContainers: readonly Container[];
  readonly containers: readonly Container[];
}

interface Container {
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: readonly Variable[];
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: object;
    readonly configMapKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean };
    readonly secretKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean };
  };
}

async function runContainer({ name, command, env = [] }: Container, around: PodSurroundings): Promise<Ended> {
  const variables: Record<string, string> = {};
  for (const variable of env) {
    const value = valueOf(variable, variables, around);
    if (value !== undefined) variables[variable.name] = value;
  }
  const [program = "", ...args] = command.map((word) => around.local(expand(word, variables)));
  return { name, ...(await runProgram(program as BinaryName, args, { ...around.env, ...variables })) };
}

/** Runs a pinned binary to its end, with no other variables than these. */
export async function runProgram(
  program: BinaryName,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Omit<Ended, "name">> {
  const child = spawn(await findBinary(program), args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => void (output.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => void (output.stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code: code ?? -1, ...output };
}

/** A variable sees those before it; a key has to be there unless it is optional. */
function valueOf({ name, value, valueFrom = {} }: Variable, before: Record<string, string>, around: PodSurroundings) {
  if (value !== undefined) return expand(value, before);
  if (valueFrom.fieldRef !== undefined) return around.podName;
  const ref = valueFrom.secretKeyRef ?? valueFrom.configMapKeyRef;
  const found = ref && around.secrets[ref.name]?.[ref.key];
  if (found === undefined && ref?.optional !== true) throw new Error(`${name}: ${ref?.name} has no key ${ref?.key}`);
  return found;
}

const expand = (text: string, variables: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\$\((\w+)\)/g, (reference, name: string) => variables[name] ?? reference);
