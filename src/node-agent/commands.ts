import { execFile } from "node:child_process";

/** Runs a program with these arguments and gives its output; throws a CommandError when it fails or takes too long. */
export type Run = (args: readonly string[], signal?: AbortSignal) => Promise<string>;

/** A program that has failed, with what it said last. */
export class CommandError extends Error {
  /** undefined where it did not run, or did not end by itself. */
  readonly exitCode: number | undefined;
  constructor(message: string, exitCode: number | undefined) {
    super(message);
    this.name = "CommandError";
    this.exitCode = exitCode;
  }
}

/** systemd's `systemctl`, or another program that is to be used as one. It waits for the end of each job, three minutes at most. */
export function createSystemctl(program = "systemctl"): Run {
  return createRun(program, ["--no-pager", "--quiet"], { milliseconds: 180_000 });
}

/** containerd's `ctr`, in its default namespace as upstream's agent unless told otherwise; ten minutes at most, which is the download of an image. */
export function createCtr({ program = "ctr", address, namespace }: CtrOptions = {}): Run {
  const place = address === undefined ? [] : ["--address", address];
  return createRun(program, [...place, ...(namespace === undefined ? [] : ["--namespace", namespace])], {
    milliseconds: 600_000,
  });
}

/** Which containerd, and which of its namespaces: that of kubelets is k8s.io. */
export interface CtrOptions {
  readonly program?: string;
  readonly address?: string;
  readonly namespace?: string;
}

/**
 * etcd's `etcdutl` or `etcdctl`, which end by themselves; of what it says when it fails, the sentence counts, and no trace of its
 * code. An hour at most: etcd's data are gigabytes.
 */
export function createEtcdTool(
  program: "etcdutl" | "etcdctl" | (string & {}),
  { environment = {} }: ToolOptions = {},
): Run {
  return createRun(program, [], { milliseconds: 3_600_000, env: andOurs(environment), words: sentenceOf });
}

/** `rclone` that reads its settings from these variables, which no process list shows; an hour at most. */
export function createRclone(program = "rclone", { environment = {} }: ToolOptions = {}): Run {
  return createRun(program, [], { milliseconds: 3_600_000, env: andOurs(environment) });
}

/** Variables that a program gets besides those of this process. */
export interface ToolOptions {
  readonly environment?: Readonly<Record<string, string>>;
}

const andOurs = (environment: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  // eslint-disable-next-line no-restricted-properties -- a child has what this process has, and more
  ...process.env,
  ...environment,
});

/** How a program is run. */
export interface RunLimits {
  /** How long it may take, in ms, before SIGKILL. */
  readonly milliseconds: number;
  /** Its environment, which is this process's unless told otherwise. */
  readonly env?: NodeJS.ProcessEnv;
  /** What counts of that which it has written before it failed: its last lines, unless told otherwise. */
  readonly words?: (said: string) => string;
}

/** Runs this program, each time with these arguments in front. */
export function createRun(
  program: string,
  always: readonly string[],
  { milliseconds, env, words = lastLines }: RunLimits,
): Run {
  const limits = { timeout: milliseconds, killSignal: "SIGKILL" as const, maxBuffer: 64 * 1024 * 1024 };
  return async (args, signal) =>
    new Promise((resolve, reject) => {
      const options = { ...limits, signal, ...(env === undefined ? {} : { env }) };
      execFile(program, [...always, ...args], options, (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        reject(signal?.aborted === true ? abortOf(signal) : failure(program, error, words(stderr), milliseconds));
      });
    });
}

function abortOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

function failure(
  program: string,
  error: Error & { code?: string | number | null | undefined; killed?: boolean | undefined },
  said: string,
  milliseconds: number,
): CommandError {
  if (error.code === "ENOENT") return new CommandError(`${program} is not installed`, undefined);
  if (error.killed === true)
    return new CommandError(`${program} did not end within ${milliseconds / 1000} s`, undefined);
  const exitCode = typeof error.code === "number" ? error.code : undefined;
  return new CommandError(said || `${program} ended with ${exitCode ?? error.message}`, exitCode);
}

/** A program written in Go says first why it ends, and then where it was. */
function sentenceOf(text: string): string {
  const line = text.split("\n").find((one) => /^(Error|panic|fatal error|unexpected fault address)\b/.test(one));
  return line?.replace(/^(Error|panic): /, "").slice(0, 1000) ?? lastLines(text);
}

const lastLines = (text: string): string => text.trim().split("\n").slice(-3).join(" ").slice(-1000);
